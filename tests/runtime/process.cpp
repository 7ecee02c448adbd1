#include <nrt/nrt_version.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "backend/runtime/runtime.h"
#include "tests/runtime/nrt_fixture.h"

using namespace trn::test;

namespace {

NRT_STATUS init() { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }

// Runs `body` in a forked child until `leave` is called; the child then ends without this process's exit handlers.
class Child {
 public:
  explicit Child(const std::function<int()>& body) {
    REQUIRE(pipe(ready_) == 0);
    REQUIRE(pipe(leave_) == 0);
    pid_ = fork();
    if (pid_ != 0) return;
    const int result = body();
    char c = static_cast<char>(result);
    if (write(ready_[1], &c, 1) != 1 || read(leave_[0], &c, 1) != 1) _exit(99);
    _exit(result);
  }
  int result() {
    char c = 99;
    REQUIRE(read(ready_[0], &c, 1) == 1);
    return c;
  }
  void leave() {
    REQUIRE(write(leave_[1], "x", 1) == 1);
    int status = 0;
    REQUIRE(waitpid(pid_, &status, 0) == pid_);
  }
  pid_t pid() const { return pid_; }

 private:
  int ready_[2], leave_[2];
  pid_t pid_;
};

uint32_t visible() {
  uint32_t n = 0;
  CHECK(nrt_get_visible_vnc_count(&n) == NRT_SUCCESS);
  return n;
}
uint32_t total() {
  uint32_t n = 0;
  CHECK(nrt_get_total_vnc_count(&n) == NRT_SUCCESS);
  return n;
}

}  // namespace

TEST_CASE("the machine that the environment asks for") {
  {
    const Environment e{};
    CHECK(total() == 4);
    CHECK(visible() == 4);
    nrt_instance_info_t info{};
    CHECK(nrt_get_instance_info(&info, sizeof info) == NRT_SUCCESS);
    CHECK(info.family == NRT_INSTANCE_TRN2);
    CHECK(info.size == NRT_INSTANCE_SIZE_3XL);
    CHECK(std::strcmp(info.arch_name, "trn2") == 0);
  }
  {
    const Environment e{{"TRNSIM_INSTANCE", "trn2u.48xlarge"}, {"NEURON_RT_VISIBLE_CORES", "0,4-6,63"}};
    CHECK(total() == 64);
    CHECK(visible() == 5);
  }
  {
    const Environment e{{"NEURON_LOGICAL_NC_CONFIG", "1"}, {"NEURON_RT_NUM_CORES", "3"}};
    CHECK(total() == 8);
    CHECK(visible() == 3);
  }
}

TEST_CASE("a wrong environment is named") {
  uint32_t n = 0;
  for (const auto& [name, value] : std::vector<Environment::Variable>{{"TRNSIM_INSTANCE", "p5.48xlarge"},
                                                                      {"NEURON_LOGICAL_NC_CONFIG", "3"},
                                                                      {"NEURON_RT_VISIBLE_CORES", "4"},
                                                                      {"NEURON_RT_VISIBLE_CORES", "1-"},
                                                                      {"NEURON_RT_VISIBLE_CORES", "2-1"},
                                                                      {"NEURON_RT_VISIBLE_CORES", "0,0"},
                                                                      {"NEURON_RT_VISIBLE_CORES", "0,"},
                                                                      {"NEURON_RT_VISIBLE_CORES", "a"},
                                                                      {"NEURON_RT_NUM_CORES", "5"},
                                                                      {"NEURON_PLATFORM_TARGET_OVERRIDE", "trn9"}}) {
    const Environment e{{name, value}};
    CHECK(nrt_get_visible_vnc_count(&n) == NRT_INVALID);
    CHECK(last_error().find(name) != std::string::npos);
    CHECK(init() == NRT_INVALID);
  }
  const Environment e{{"TRNSIM_INJECT", "no_such_card:1"}};
  CHECK(init() == NRT_INVALID);
}

TEST_CASE("calls outside init and close say so") {
  const Environment e{};
  nrt_tensor_t* t = nullptr;
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, nullptr, &t) != NRT_SUCCESS);
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_INVALID, "", "") == NRT_INVALID);
  nrt_tensor_t* old = nullptr;
  {
    const Runtime r;
    CHECK(init() == NRT_SUCCESS);  // a second time
    old = tensor(64);
  }
  char buffer[8];
  CHECK(nrt_tensor_read(old, buffer, 0, 8) == NRT_CLOSED);
  nrt_tensor_free(&old);
  nrt_close();  // a second time
  const Runtime again;
  CHECK(nrt_tensor_read(old, buffer, 0, 8) == NRT_INVALID_HANDLE);
  CHECK(tensor(64) != nullptr);
}

TEST_CASE("version and status names") {
  nrt_version_t v{};
  CHECK(nrt_get_version(&v, sizeof v) == NRT_SUCCESS);
  CHECK(v.rt_major == 2);
  CHECK(std::strstr(v.rt_detail, "trnsim"));
  CHECK(nrt_get_version(nullptr, sizeof v) == NRT_INVALID);
  CHECK(std::strcmp(nrt_get_status_as_str(NRT_EXEC_OOB), "NRT_EXEC_OOB") == 0);
  CHECK(std::strcmp(nrt_get_status_as_str(static_cast<NRT_STATUS>(77)), "UNKNOWN_STATUS") == 0);
}

TEST_CASE("a core belongs to one process") {
  const Environment e{{"NEURON_RT_VISIBLE_CORES", "1"}};
  Child other([] { return init() == NRT_SUCCESS ? 1 : 0; });
  REQUIRE(other.result() == 1);
  CHECK(init() == NRT_RESOURCE);
  CHECK(last_error().find("not available - Requested:nc1-nc1 Available:0") != std::string::npos);
  CHECK(last_error().find("process " + std::to_string(other.pid())) != std::string::npos);
  CHECK(trn::runtime::owner_of_core(2) == other.pid());
  CHECK(trn::runtime::owner_of_core(0) == 0);
  {
    const Environment any{{"NEURON_RT_VISIBLE_CORES", "2-3"}};
    CHECK(init() == NRT_SUCCESS);  // other cores are free
    CHECK(trn::runtime::owner_of_core(4) == getpid());
    nrt_close();
  }
  setenv("NEURON_RT_VISIBLE_CORES", "1", 1);
  other.leave();
  CHECK(init() == NRT_SUCCESS);  // free when its process is gone, however it ended
  nrt_close();
}

TEST_CASE("NEURON_RT_NUM_CORES takes whichever are free") {
  const Environment e{{"NEURON_RT_NUM_CORES", "2"}};
  Child other([] { return init() == NRT_SUCCESS ? 1 : 0; });
  REQUIRE(other.result() == 1);
  CHECK(init() == NRT_SUCCESS);
  CHECK(visible() == 2);
  nrt_close();
  setenv("NEURON_RT_NUM_CORES", "3", 1);
  CHECK(init() == NRT_RESOURCE);
  CHECK(last_error().find("Requested:3 Available:2") != std::string::npos);
  other.leave();
}

TEST_CASE("a child forked after init is told so, and its parent keeps its cores") {
  const Runtime r;
  nrt_tensor_t* t = tensor(64);
  Child child([&] {
    char buffer[8];
    nrt_tensor_t* fresh = nullptr;
    const bool right = nrt_tensor_read(t, buffer, 0, 8) == NRT_UNINITIALIZED &&
                       last_error().find("spawn") != std::string::npos &&
                       nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 8, nullptr, &fresh) == NRT_UNINITIALIZED &&
                       init() == NRT_UNINITIALIZED;
    nrt_close();
    return right ? 1 : 0;
  });
  CHECK(child.result() == 1);
  child.leave();
  char buffer[8];
  CHECK(nrt_tensor_read(t, buffer, 0, 8) == NRT_SUCCESS);
}
