#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/runtime/nrt_fixture.h"

using namespace trn;
using namespace trn::test;

namespace {

bool completed(nrta_seq_t seq) {
  bool done = false;
  CHECK(nrta_is_completed(seq, &done) == NRT_SUCCESS);
  return done;
}

bool readable(int fd, int timeout_ms) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, timeout_ms) == 1;
}

}  // namespace

TEST_CASE("requests run in the order of the calls") {
  const Runtime r;
  nrt_model_t* m = load(increment_program());
  nrt_tensor_t* x = tensor(kTileBytes);
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({});
  std::vector<float> start(128 * 16, 2.f), middle(128 * 16), end(128 * 16);
  nrta_seq_t seq[5] = {};
  CHECK(nrta_tensor_write(x, start.data(), 0, kTileBytes, 0, nullptr, &seq[0]) == NRT_SUCCESS);
  CHECK(nrta_execute_schedule(m, in, out, 0, nullptr, &seq[1]) == NRT_SUCCESS);
  CHECK(nrta_tensor_read(middle.data(), x, 0, kTileBytes, 1, nullptr, &seq[2]) == NRT_SUCCESS);
  CHECK(nrta_execute_schedule(m, in, out, 0, nullptr, &seq[3]) == NRT_SUCCESS);
  CHECK(nrta_tensor_read(end.data(), x, 0, kTileBytes, 0, nullptr, &seq[4]) == NRT_SUCCESS);
  // Sets may go as soon as the call is back.
  nrt_destroy_tensor_set(&in);
  nrt_destroy_tensor_set(&out);
  CHECK(nrt_sim_wait(seq[4]) == NRT_SUCCESS);
  CHECK(middle[17] == 3.f);
  CHECK(end[17] == 4.f);
  for (int i = 1; i < 5; ++i) CHECK(NRTA_SEQ_GET_SEQ_NUM(seq[i]) > NRTA_SEQ_GET_SEQ_NUM(seq[i - 1]));
  CHECK(NRTA_SEQ_GET_XU_ID(seq[1]) == NRTA_SEQ_GET_XU_ID(seq[3]));
  CHECK(NRTA_SEQ_GET_XU_ID(seq[2]) != NRTA_SEQ_GET_XU_ID(seq[4]));
  CHECK(completed(seq[0]));
  nrta_seq_t last = 0;
  CHECK(nrta_get_sequence(0, NRTA_XU_COMPUTE, 0, &last) == NRT_SUCCESS);
  CHECK(last == seq[3]);
  CHECK(nrta_get_sequence(0, NRTA_XU_COLLECTIVES, 2, &last) == NRT_SUCCESS);
  CHECK(NRTA_SEQ_GET_SEQ_NUM(last) == 0);
}

TEST_CASE("sequence numbers and queues that do not exist") {
  const Runtime r;
  nrt_tensor_t* x = tensor(16);
  char buffer[16] = {};
  nrta_seq_t seq = 0;
  bool done = false;
  CHECK(nrta_tensor_write(x, buffer, 0, 16, 2, nullptr, &seq) == NRT_INVALID);
  CHECK(nrta_tensor_write(x, buffer, 8, 16, 0, nullptr, &seq) == NRT_INVALID);
  CHECK(nrta_tensor_write(x, buffer, 0, 16, 0, nullptr, nullptr) == NRT_SUCCESS);
  CHECK(nrta_tensor_write(x, buffer, 0, 16, 0, nullptr, &seq) == NRT_SUCCESS);
  CHECK(nrta_is_completed(0, &done) == NRT_INVALID);
  CHECK(nrta_is_completed(seq + 1, &done) == NRT_INVALID);
  CHECK(nrta_is_completed(~nrta_seq_t{0}, &done) == NRT_INVALID);
  CHECK(nrta_is_completed(seq, nullptr) == NRT_INVALID);
  CHECK(nrta_get_sequence(9, NRTA_XU_COMPUTE, 0, &seq) == NRT_INVALID);
  CHECK(nrta_get_sequence(0, NRTA_XU_COMPUTE, 1, &seq) == NRT_INVALID);
  nrt_model_t* m = load(increment_program());
  nrt_tensor_set_t* s = set_of({});
  CHECK(nrta_execute_schedule(m, s, s, 0, nullptr, nullptr) == NRT_INVALID);
}

TEST_CASE("an error in the queue is reported at the next synchronisation, once, and later work runs") {
  const Runtime r;
  const WrongGather g;
  const Sum s;
  nrt_sim_set_source(nrt_sim_intern("aten::index.Tensor train.py:12"));
  CHECK(nrta_execute_schedule(g.model, g.in, g.out, 0, nullptr, nullptr) == NRT_SUCCESS);
  nrt_sim_set_source(0);
  CHECK(nrta_execute_schedule(s.model, s.in, s.out, 0, nullptr, nullptr) == NRT_SUCCESS);
  CHECK(nrt_sim_synchronize(0) == NRT_EXEC_OOB);
  CHECK(last_error().find("Program gather from aten::index.Tensor train.py:12") != std::string::npos);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(s.is_right());
}

TEST_CASE("an error tracker gets its requests' errors") {
  const Runtime r;
  const WrongGather g;
  const Sum s;
  nrta_error_tracker_t* t = nullptr;
  CHECK(nrta_error_tracker_create(9, &t) == NRT_INVALID);
  REQUIRE(nrta_error_tracker_create(0, &t) == NRT_SUCCESS);
  nrta_seq_t bad = 0, good = 0;
  CHECK(nrta_execute_schedule(g.model, g.in, g.out, 0, t, &bad) == NRT_SUCCESS);
  CHECK(nrta_execute_schedule(s.model, s.in, s.out, 0, t, &good) == NRT_SUCCESS);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);  // not reported twice
  const nrta_error_t* list = nullptr;
  size_t count = 0;
  REQUIRE(nrta_error_tracker_get_list(t, &list, &count) == NRT_SUCCESS);
  REQUIRE(count == 1);
  CHECK(list[0].seq_id == bad);
  CHECK(list[0].error_code == NRT_EXEC_OOB);
  nrta_error_tracker_destroy(t);
  CHECK(nrta_error_tracker_get_list(t, &list, &count) == NRT_INVALID_HANDLE);
  CHECK(nrta_execute_schedule(s.model, s.in, s.out, 0, t, nullptr) == NRT_INVALID_HANDLE);
}

TEST_CASE("completion handles become readable") {
  const Runtime r;
  nrt_model_t* m = load(long_program(300));
  nrt_tensor_t* x = tensor(kTileBytes);
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({});
  nrta_seq_t seq = 0;
  CHECK(nrta_execute_schedule(m, in, out, 0, nullptr, &seq) == NRT_SUCCESS);
  int fd = -1, abandoned = -1;
  REQUIRE(nrta_get_completion_handle(seq, &fd) == NRT_SUCCESS);
  REQUIRE(nrta_get_completion_handle(seq, &abandoned) == NRT_SUCCESS);
  close(abandoned);
  CHECK(readable(fd, 60'000));
  CHECK(completed(seq));
  close(fd);
  REQUIRE(nrta_get_completion_handle(seq, &fd) == NRT_SUCCESS);
  CHECK(readable(fd, 0));
  close(fd);
  CHECK(nrta_get_completion_handle(seq + 1, &fd) == NRT_INVALID);
}

TEST_CASE("an interrupt stops the running Program and what is queued behind it") {
  const Runtime r;
  nrt_model_t* m = load(long_program(3000));
  const Sum s;
  nrt_tensor_t* x = tensor(kTileBytes);
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({});
  nrt_sim_set_mode(NRT_SIM_MODE_FUNCTION);
  nrta_error_tracker_t* t = nullptr;
  REQUIRE(nrta_error_tracker_create(0, &t) == NRT_SUCCESS);
  nrta_seq_t seq = 0;
  for (int i = 0; i < 100; ++i) CHECK(nrta_execute_schedule(m, in, out, 0, t, &seq) == NRT_SUCCESS);
  CHECK(nrt_sim_wait_for(seq, 1000) == NRT_TIMEOUT);
  bool idle = true;
  CHECK(nrt_sim_is_idle(0, &idle) == NRT_SUCCESS);
  CHECK_FALSE(idle);
  CHECK(nrt_sim_interrupt(0) == NRT_SUCCESS);
  CHECK(nrt_sim_wait(seq) == NRT_SUCCESS);
  const nrta_error_t* list = nullptr;
  size_t count = 0;
  REQUIRE(nrta_error_tracker_get_list(t, &list, &count) == NRT_SUCCESS);
  CHECK(count > 50);
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
}

TEST_CASE("unloading and freeing wait for queued work") {
  const Runtime r;
  const Sum s;
  nrt_model_t* m = load(long_program(200));
  nrt_tensor_t* x = tensor(kTileBytes);
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({});
  nrt_sim_set_mode(NRT_SIM_MODE_FUNCTION);
  nrta_seq_t seq = 0;
  for (int i = 0; i < 3; ++i) CHECK(nrta_execute_schedule(m, in, out, 0, nullptr, &seq) == NRT_SUCCESS);
  nrt_tensor_free(&x);
  CHECK(completed(seq));
  CHECK(nrt_unload(m) == NRT_SUCCESS);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);
}

TEST_CASE("many threads share cores") {
  const Runtime r;
  constexpr int kThreads = 4, kRounds = 200;
  nrt_model_t* models[2] = {load(increment_program(), 0), load(increment_program(), 1)};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, vnc = t % 2] {
      nrt_tensor_t* x = nullptr;
      const std::vector<float> zero(128 * 16, 0.f);
      std::vector<float> result(128 * 16);
      bool ok = nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, vnc, kTileBytes, nullptr, &x) == NRT_SUCCESS &&
                nrt_tensor_write(x, zero.data(), 0, kTileBytes) == NRT_SUCCESS;
      for (int i = 0; i < kRounds && ok; ++i) {
        nrt_tensor_t* slice = nullptr;
        nrt_tensor_set_t *in = nullptr, *out = nullptr;
        ok = nrt_tensor_allocate_slice(x, 0, kTileBytes, nullptr, &slice) == NRT_SUCCESS &&
             nrt_allocate_tensor_set(&in) == NRT_SUCCESS && nrt_allocate_tensor_set(&out) == NRT_SUCCESS &&
             nrt_add_tensor_to_tensor_set(in, "x", slice) == NRT_SUCCESS &&
             nrta_execute_schedule(models[vnc], in, out, 0, nullptr, nullptr) == NRT_SUCCESS;
        nrt_destroy_tensor_set(&in);
        nrt_destroy_tensor_set(&out);
        nrt_tensor_free(&slice);
      }
      ok = ok && nrt_tensor_read(x, result.data(), 0, kTileBytes) == NRT_SUCCESS && result[100] == kRounds;
      failures += ok ? 0 : 1;
    });
  for (std::thread& t : threads) t.join();
  CHECK(failures == 0);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(nrt_sim_synchronize(1) == NRT_SUCCESS);
}

TEST_CASE("outputs count their completions") {
  const Runtime r;
  const Sum s;
  CHECK(nrt_tensor_check_output_completion(s.c, 0, 1) == NRT_TIMEOUT);
  for (int i = 0; i < 3; ++i) CHECK(nrta_execute_schedule(s.model, s.in, s.out, 0, nullptr, nullptr) == NRT_SUCCESS);
  CHECK(nrt_tensor_check_output_completion(s.c, -1, 3) == NRT_SUCCESS);
  CHECK(nrt_tensor_check_output_completion(s.c, 1000, 4) == NRT_TIMEOUT);
  CHECK(nrt_tensor_reset_output_completion(s.c) == NRT_SUCCESS);
  CHECK(nrt_tensor_check_output_completion(s.c, 0, 1) == NRT_TIMEOUT);
  CHECK(nrt_tensor_check_output_completion(nullptr, 0, 1) == NRT_INVALID);
}

TEST_CASE("non-blocking nrt_execute calls back") {
  const Runtime r{{"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "4"}};
  const Sum s;
  const WrongGather g;
  struct Seen {
    std::atomic<int> good{0}, bad{0};
  } seen;
  const auto callback = [](void* params, uint32_t, uint32_t vnc, uint64_t, NRT_STATUS status) {
    auto& c = *static_cast<Seen*>(params);
    if (vnc == 0) ++(status == NRT_SUCCESS ? c.good : c.bad);
  };
  CHECK(nrt_register_async_exec_callback(callback, &seen) == NRT_SUCCESS);
  for (int i = 0; i < 10; ++i) CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(nrt_execute(g.model, g.in, g.out) == NRT_SUCCESS);
  CHECK(nrt_async_drain_queued_execs(0) == NRT_SUCCESS);
  CHECK(seen.good == 10);
  CHECK(seen.bad == 1);
  CHECK(nrt_register_async_exec_callback(nullptr, nullptr) == NRT_SUCCESS);
}

TEST_CASE("collectives say that they are not there") {
  const Runtime r;
  CHECK(nrt_barrier(0, 0, 1) == NRT_SUCCESS);
  CHECK(nrt_barrier(0, 0, 2) == NRT_FAILURE);
  CHECK(last_error().find("not in this version") != std::string::npos);
  CHECK(nrt_barrier(0, 1, 1) == NRT_INVALID);
  CHECK(nrt_build_global_comm(0, 0, 1) == NRT_SUCCESS);
  CHECK(nrt_cc_global_comm_init(0, 0, 8) == NRT_FAILURE);
  int mine = 5, gathered = 0;
  CHECK(nrt_all_gather(0, 0, 1, sizeof mine, &mine, &gathered) == NRT_SUCCESS);
  CHECK(gathered == 5);
  nrt_cc_context_t* context = nullptr;
  CHECK(nrta_cc_prepare(nullptr, nullptr, nullptr, NRT_DTYPE_FLOAT32, NRT_OP_ADD, NRT_CC_ALLREDUCE, &context) ==
        NRT_FAILURE);
  CHECK(nrta_cc_schedule(&context, 0, nullptr, nullptr) == NRT_FAILURE);
  nrt_model_t* m = nullptr;
  const auto bytes = to_container(add_program());
  CHECK(nrt_load_collectives(bytes.data(), bytes.size(), 0, -1, 0, 1, &m) == NRT_SUCCESS);
  CHECK(nrt_load_collectives(bytes.data(), bytes.size(), 0, -1, 0, 2, &m) == NRT_FAILURE);
}
