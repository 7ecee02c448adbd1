// nrt_sim.h: recordings.
#include "backend/runtime/nrt_call.h"
#include "backend/runtime/record.h"
#include "backend/runtime/runtime.h"
#include "nrt/nrt_sim.h"

using namespace trn::runtime;

static_assert(NRT_SIM_ENGINES == trn::kEngines && NRT_SIM_ENGINE_SYNC == static_cast<int>(trn::Engine::sync));

namespace {

struct RecordingHandle {
  std::shared_ptr<Recording> recording;
  void reset() { recording = nullptr; }
};
using Recordings = HandleTable<RecordingHandle, 6>;

Recordings& recordings() {
  static Recordings& table = *new Recordings;
  return table;
}

nrt_sim_record_t shown(const LaunchRecord& r, const trn::Clock& clock) {
  nrt_sim_record_t record{};
  record.is_launch = true;
  record.vnc = r.core;
  record.correlation = r.origin.correlation;
  record.name = r.what->program.name.c_str();
  record.source = interned(r.origin.source).c_str();
  record.submitted_ns = r.submitted_ns;
  record.start_ns = r.start_ns;
  record.end_ns = r.end_ns;
  if (r.timing) {
    for (int e = 0; e < NRT_SIM_ENGINES; ++e)
      record.engine_busy_ns[e] = clock.to_ns(r.timing->engines[static_cast<size_t>(e)].busy) * r.repeat;
    record.dma_busy_ns = clock.to_ns(r.timing->dma_active) * r.repeat;
  }
  return record;
}

nrt_sim_record_t shown(const HostRecord& r) {
  nrt_sim_record_t record{};
  record.work = static_cast<nrt_sim_host_work_t>(r.work);
  record.vnc = r.core;
  record.correlation = r.origin.correlation;
  record.name = "";
  record.source = interned(r.origin.source).c_str();
  record.submitted_ns = record.start_ns = r.start_ns;
  record.end_ns = r.end_ns;
  record.bytes = static_cast<uint64_t>(r.bytes);
  return record;
}

}  // namespace

extern "C" {

NRT_STATUS nrt_sim_recording_start(nrt_sim_recording_t** result) {
  return call_any_time(__func__, [&] {
    required(result, "recording") = nullptr;
    const auto made = recordings().make();
    if (!made.object) fail(NRT_RESOURCE, "too many recordings");
    made.object->recording = recorder().start();
    *result = static_cast<nrt_sim_recording_t*>(made.handle);
  });
}

NRT_STATUS nrt_sim_recording_finish(nrt_sim_recording_t** handle, nrt_sim_record_fn show, void* user) {
  return call_any_time(__func__, [&] {
    std::shared_ptr<Recording> ended;
    const auto take = [&](RecordingHandle& h) { ended = h.recording; };
    if (!recordings().release(required(handle, "recording"), take))
      fail(NRT_INVALID_HANDLE, "this is no recording, or it is finished already");
    *handle = nullptr;
    synchronise_all();
    const Recording seen = recorder().finish(ended);
    if (!show || (seen.launches.empty() && seen.host.empty())) return;
    const trn::Clock clock(*describe_machine().spec);
    for (const LaunchRecord& r : seen.launches) {
      const nrt_sim_record_t record = shown(r, clock);
      show(&record, user);
    }
    for (const HostRecord& r : seen.host) {
      const nrt_sim_record_t record = shown(r);
      show(&record, user);
    }
  });
}

}  // extern "C"
