#include "backend/torch/event.h"

#include <c10/util/Exception.h>

#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

double time_ns(nrt_sim_event_t* event) {
  double ns = 0;
  check(nrt_sim_event_time(event, &ns), "nrt_sim_event_time");
  return ns;
}

}  // namespace

Event::~Event() {
  if (event_ && runtime_usable()) nrt_sim_event_destroy(&event_);
}

void Event::record(c10::Stream stream, bool timing) {
  ensure_runtime();
  if (!event_) check(nrt_sim_event_create(&event_), "nrt_sim_event_create");
  device_ = stream.device_index();
  timing_ = timing;
  seq_ = last_work(device_);
  check(nrt_sim_event_record(event_, static_cast<uint32_t>(device_)), "nrt_sim_event_record");
}

void Event::block(c10::Stream stream) const {
  if (!event_ || stream.device_index() == device_) return;  // the device's one queue keeps that order anyway
  check(nrt_sim_event_wait(event_, static_cast<uint32_t>(stream.device_index())), "nrt_sim_event_wait");
}

bool Event::query() const {
  bool done = true;
  if (event_) check(nrt_sim_event_query(event_, &done), "nrt_sim_event_query");
  return done;
}

void Event::synchronize() const {
  if (!event_) return;
  if (seq_) wait(device_, seq_);
  check(nrt_sim_event_synchronize(event_), "nrt_sim_event_synchronize");
}

double Event::elapsed(const Event& start, const Event& end) {
  TORCH_CHECK_VALUE(start.event_ && end.event_, "Both events must be recorded before calculating elapsed time.");
  TORCH_CHECK_VALUE(start.timing_ && end.timing_, "Both events must be created with argument 'enable_timing=True'.");
  TORCH_CHECK_VALUE(start.device_ == end.device_, "Events recorded on different neuron devices have no common clock.");
  start.synchronize();
  end.synchronize();
  return (time_ns(end.event_) - time_ns(start.event_)) * 1e-6;
}

}  // namespace trn::torch_backend
