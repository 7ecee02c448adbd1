#pragma once
#include <c10/core/Stream.h>
#include <nrt/nrt_sim.h>

namespace trn::torch_backend {

// A point in a device's queue, with its simulated time once the core has come to it.
class Event {
 public:
  Event() = default;
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(c10::Stream stream, bool timing);
  void block(c10::Stream stream) const;  // what is queued on `stream` from now on starts after the event
  bool query() const;                    // true if it was never recorded
  void synchronize() const;

  // Simulated device time from one event to another, ms; waits for both.
  static double elapsed(const Event& start, const Event& end);

 private:
  nrt_sim_event_t* event_ = nullptr;
  c10::DeviceIndex device_ = -1;
  nrta_seq_t seq_ = 0;  // the device's newest request when it was recorded
  bool timing_ = false;
};

}  // namespace trn::torch_backend
