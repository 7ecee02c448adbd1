#include "backend/runtime/runtime.h"
#include "isa/spec_json.h"
#include "tests/runtime/nrt_fixture.h"

using namespace trn;
using namespace trn::test;

namespace {

// The launch law (docs: a launch begins when core and host are both there, after the launch overhead, and lasts the
// Program's makespan).
double launched(double core_ns, double host_ns, double program_ns) {
  return std::max(core_ns, host_ns) + machine_spec().host_launch_ns + program_ns;
}
double copied(double core_ns, double host_ns, double bytes) {
  return std::max(core_ns, host_ns) + machine_spec().host_copy_fixed_ns + bytes / machine_spec().host_copy_bytes_per_ns;
}

double event_time(nrt_sim_event_t* e) {
  double ns = -1;
  REQUIRE(nrt_sim_event_time(e, &ns) == NRT_SUCCESS);
  return ns;
}

void schedule(const Sum& s) {
  REQUIRE(nrta_execute_schedule(s.model, s.in, s.out, 0, nullptr, nullptr) == NRT_SUCCESS);
}

}  // namespace

TEST_CASE("launches queue on the core's clock") {
  const Runtime r;
  const Sum s;
  const double program = duration(s.model), host = nrt_sim_host_time();
  CHECK(program > 0);
  CHECK(host > 0);  // the writes of Sum
  schedule(s);
  schedule(s);
  CHECK(nrt_sim_host_time() == host);  // nothing waits yet
  REQUIRE(nrt_sim_synchronize(0) == NRT_SUCCESS);
  const double first = launched(0, host, program), second = launched(first, host, program);
  CHECK(core_time() == Approx(second).epsilon(1e-12));
  CHECK(nrt_sim_host_time() == Approx(second).epsilon(1e-12));
  CHECK(core_time(1) == 0);

  CHECK(nrt_sim_host_advance(12345) == NRT_SUCCESS);  // the core idles meanwhile
  schedule(s);
  REQUIRE(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(core_time() == Approx(launched(second, second + 12345, program)).epsilon(1e-12));
  CHECK(nrt_sim_host_advance(-1) == NRT_INVALID);
}

TEST_CASE("copies take time on the core when queued and on the host when blocking") {
  const Runtime r;
  std::vector<char> data(1 << 20);
  nrt_tensor_t* t = tensor(data.size());
  REQUIRE(nrt_tensor_write(t, data.data(), 0, data.size()) == NRT_SUCCESS);
  const double host = copied(0, 0, 1 << 20);
  CHECK(nrt_sim_host_time() == Approx(host));
  CHECK(core_time() == 0);
  REQUIRE(nrta_tensor_read(data.data(), t, 0, data.size(), 0, nullptr, nullptr) == NRT_SUCCESS);
  REQUIRE(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(core_time() == Approx(copied(0, host, 1 << 20)));
}

TEST_CASE("events tell the time of what stands before them") {
  const Runtime r;
  const Sum s;
  nrt_sim_event_t *start = nullptr, *end = nullptr, *never = nullptr;
  for (auto** e : {&start, &end, &never}) REQUIRE(nrt_sim_event_create(e) == NRT_SUCCESS);
  const double host = nrt_sim_host_time(), program = duration(s.model);
  CHECK(nrt_sim_event_record(start, 0) == NRT_SUCCESS);
  schedule(s);
  CHECK(nrt_sim_event_record(end, 0) == NRT_SUCCESS);
  CHECK(nrt_sim_event_synchronize(end) == NRT_SUCCESS);
  CHECK(event_time(start) == Approx(host));
  CHECK(event_time(end) == Approx(launched(0, host, program)));
  CHECK(nrt_sim_host_time() == event_time(end));
  bool done = false;
  CHECK(nrt_sim_event_query(end, &done) == NRT_SUCCESS);
  CHECK(done);
  done = false;
  CHECK(nrt_sim_event_query(never, &done) == NRT_SUCCESS);
  CHECK(done);
  double ns = 0;
  CHECK(nrt_sim_event_time(never, &ns) == NRT_INVALID);
  CHECK(nrt_sim_event_synchronize(never) == NRT_SUCCESS);
  CHECK(nrt_sim_event_record(start, 0) == NRT_SUCCESS);  // again, later
  CHECK(nrt_sim_event_synchronize(start) == NRT_SUCCESS);
  CHECK(event_time(start) >= event_time(end));
  CHECK(nrt_sim_event_record(start, 8) == NRT_INVALID);
  nrt_sim_event_t* gone = never;
  nrt_sim_event_destroy(&never);
  CHECK(nrt_sim_event_record(gone, 0) == NRT_INVALID_HANDLE);
  CHECK(nrt_sim_event_query(nullptr, &done) == NRT_INVALID);
}

TEST_CASE("a core waits for another core's event in its queue and on its clock") {
  const Runtime r;
  const Sum first(0), second(1);
  nrt_sim_event_t* e = nullptr;
  REQUIRE(nrt_sim_event_create(&e) == NRT_SUCCESS);
  const double host = nrt_sim_host_time(), program = duration(first.model);
  for (int i = 0; i < 5; ++i) schedule(first);
  CHECK(nrt_sim_event_record(e, 0) == NRT_SUCCESS);
  CHECK(nrt_sim_event_wait(e, 1) == NRT_SUCCESS);
  CHECK(nrt_sim_event_wait(e, 0) == NRT_SUCCESS);
  CHECK(nrt_sim_event_record(e, 1) == NRT_SUCCESS);  // does not move the wait
  schedule(second);
  REQUIRE(nrt_sim_synchronize(1) == NRT_SUCCESS);
  double expected = 0;
  for (int i = 0; i < 5; ++i) expected = launched(expected, host, program);
  CHECK(core_time(1) == Approx(launched(expected, host, program)));
}

TEST_CASE("modes: time without data, data without time") {
  const Runtime r;
  const Sum s;
  const std::vector<float> before = floats(s.c);
  CHECK(nrt_sim_set_mode(NRT_SIM_MODE_TIME) == NRT_SUCCESS);
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(core_time() > 0);
  CHECK(floats(s.c) == before);
  nrt_tensor_t* size_only = nullptr;  // memory is not needed
  REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, 0, kTileBytes, nullptr, &size_only) == NRT_SUCCESS);
  nrt_tensor_set_t* out = set_of({{"c", size_only}});
  CHECK(nrt_execute(s.model, s.in, out) == NRT_SUCCESS);

  CHECK(nrt_sim_set_mode(NRT_SIM_MODE_FUNCTION) == NRT_SUCCESS);
  const double then = core_time(), host = nrt_sim_host_time();
  CHECK(nrt_execute(s.model, s.in, out) == NRT_INVALID);
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
  CHECK(core_time() == std::max(then, host));
  CHECK(nrt_sim_host_time() == host);
  CHECK(nrt_sim_set_mode(static_cast<nrt_sim_mode_t>(3)) == NRT_INVALID);
}

TEST_CASE("a static Program is timed once") {
  const Runtime r;
  const Sum s;
  nrt_sim_counters_t before{}, after{};
  CHECK(nrt_sim_get_counters(&before, sizeof before) == NRT_SUCCESS);
  for (int i = 0; i < 4; ++i) schedule(s);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(floats(s.c).size() == Sum::kElements);
  CHECK(nrt_sim_get_counters(&after, sizeof after) == NRT_SUCCESS);
  CHECK(after.launches - before.launches == 4);
  CHECK(after.timings - before.timings == 1);
  CHECK(after.timings_cached - before.timings_cached == 3);
  CHECK(after.bytes_to_host - before.bytes_to_host == Sum::kElements * 4);
  CHECK(after.device_ns - before.device_ns == Approx(4 * duration(s.model)));
}

TEST_CASE("repetitions share one launch") {
  const Runtime r;
  const Sum s;
  const double host = nrt_sim_host_time();
  CHECK(nrt_execute_repeat(s.model, s.in, s.out, 10) == NRT_SUCCESS);
  CHECK(core_time() == Approx(launched(0, host, 10 * duration(s.model))));
}

TEST_CASE("waiting for a request moves the host to its end, not to what follows") {
  const Runtime r;
  const Sum s;
  const double host = nrt_sim_host_time(), program = duration(s.model);
  nrta_seq_t first = 0;
  REQUIRE(nrta_execute_schedule(s.model, s.in, s.out, 0, nullptr, &first) == NRT_SUCCESS);
  for (int i = 0; i < 10; ++i) schedule(s);
  while (core_time() < launched(launched(0, host, program), host, program)) {
  }
  CHECK(nrt_sim_wait(first) == NRT_SUCCESS);
  CHECK(nrt_sim_host_time() == Approx(launched(0, host, program)));
}

TEST_CASE("a launch that takes too long times out, and the core goes on") {
  const Runtime r{{"NEURON_RT_EXEC_TIMEOUT", "1"}};
  const Sum s;
  nrt_model_t* slow = load(slow_program(20'000));
  nrt_tensor_t* x = tensor(kTileBytes);
  nrt_tensor_set_t *in = set_of({{"x", x}}), *out = set_of({});
  CHECK(nrt_sim_set_mode(NRT_SIM_MODE_TIME) == NRT_SUCCESS);
  CHECK(duration(slow) > 1e9);
  CHECK(nrt_execute(slow, in, out) == NRT_TIMEOUT);
  CHECK(last_error().find("NEURON_RT_EXEC_TIMEOUT") != std::string::npos);
  CHECK(nrt_sim_set_mode(NRT_SIM_MODE_BOTH) == NRT_SUCCESS);
  CHECK(nrt_execute(s.model, s.in, s.out) == NRT_SUCCESS);
  CHECK(s.is_right());
}

TEST_CASE("records name launches, copies and their origins") {
  const Runtime r;
  const Sum s;
  auto& recorder = runtime::recorder();
  const auto recording = recorder.start();
  CHECK(nrt_sim_is_recording());
  nrt_sim_set_source(nrt_sim_intern("aten::add"));
  schedule(s);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(s.is_right());
  nrt_sim_host_span(NRT_SIM_HOST_FALLBACK, nrt_sim_intern("aten::qr"), 1, 2);
  nrt_sim_set_source(0);
  const auto [launches, host] = recorder.finish(recording);
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].what->program.name == "add");
  CHECK(runtime::interned(launches[0].origin.source) == "aten::add");
  CHECK(launches[0].end_ns - launches[0].start_ns == Approx(duration(s.model)));
  CHECK(launches[0].start_ns - launches[0].submitted_ns >= machine_spec().host_launch_ns);
  REQUIRE(host.size() == 3);
  CHECK(host[0].work == runtime::HostWork::synchronise);
  CHECK(host[1].work == runtime::HostWork::copy_from_device);
  CHECK(host[1].bytes == static_cast<int64_t>(Sum::kElements * 4));
  CHECK(host[2].work == runtime::HostWork::fallback);
  schedule(s);
  CHECK(nrt_sim_synchronize(0) == NRT_SUCCESS);
  CHECK(recorder.finish(recording).launches.empty());
  CHECK(recorder.last().what == launches[0].what);
  CHECK(nrt_unload(s.model) == NRT_SUCCESS);
  CHECK(launches[0].what->program.instructions.size() == 4);  // records outlive the model
}

TEST_CASE("the same calls give the same times") {
  const auto run = [] {
    const Runtime r;
    const Sum s;
    for (int i = 0; i < 20; ++i) {
      schedule(s);
      nrt_sim_host_advance(nrt_sim_host_dispatch_ns());
    }
    REQUIRE(nrt_sim_synchronize(0) == NRT_SUCCESS);
    return core_time();
  };
  CHECK(run() == run());
}
