#pragma once
#include <atomic>
#include <cstdint>

#include "backend/runtime/machine.h"

namespace trn::runtime {

// Simulated time of the host program, in nanoseconds since the runtime was opened.
class HostClock {
 public:
  double now() const { return ns_.load(std::memory_order_relaxed); }
  void advance(double ns) { ns_.fetch_add(ns, std::memory_order_relaxed); }
  // To `ns` if that is later.
  void reach(double ns) {
    double seen = now();
    while (seen < ns && !ns_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
    }
  }
  void reset() { ns_ = 0; }

 private:
  std::atomic<double> ns_{0};
};
HostClock& host_clock();

// What the process did since it started; see nrt_sim_counters_t.
struct Counters {
  std::atomic<uint64_t> launches{0}, timings{0}, timings_cached{0}, loads{0}, errors{0}, bytes_to_device{0},
      bytes_to_host{0};
  std::atomic<double> device_ns{0};
};
Counters& counters();

// Mode of what is queued from now on; starts as TRNSIM_MODE says.
Mode current_mode();
void set_mode(Mode m);

}  // namespace trn::runtime
