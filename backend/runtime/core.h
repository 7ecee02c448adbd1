#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/runtime/device_memory.h"
#include "backend/runtime/handles.h"
#include "backend/runtime/queue.h"
#include "sim/execute.h"
#include "sim/ticks.h"

namespace trn::runtime {

// A point in a core's queue; shared by the event and the requests that name it.
struct Mark {
  std::atomic<uint32_t> references{1};
  Queue* queue = nullptr;
  std::atomic<uint64_t> number{0};
  std::atomic<double> ns{0};
  std::atomic<bool> done{false};
};
inline void hold(Mark* m) { m->references.fetch_add(1, std::memory_order_relaxed); }
void let_go(Mark* m);

struct ErrorTracker {
  std::mutex mutex;
  std::vector<nrta_error_t> errors, shown;
  void reset() {
    errors.clear();
    shown.clear();
  }
};
using ErrorTrackers = HandleTable<ErrorTracker, 4>;
ErrorTrackers& error_trackers();

struct Event {
  SpinLock lock;
  Mark* mark = nullptr;
  void reset() { mark = nullptr; }
};
using Events = HandleTable<Event, 5>;
Events& events();

// A logical core: one or two physical cores, their HBM, one queue, one clock.
class Core final : public Queue::Server {
 public:
  Core(const Machine& m, int index, int logical);

  int index() const { return index_; }      // as the process counts
  int logical() const { return logical_; }  // as the instance counts
  const Spec& spec() const { return spec_; }
  const Clock& ticks() const { return ticks_; }
  int physical_cores() const { return lnc_; }
  DeviceMemory& memory() { return memory_; }
  Queue& queue() { return queue_; }
  double host_copy_ns(uint64_t bytes) const;  // simulated time of a transfer between host and HBM
  // The clock when request `number`, one of the last Queue::kCapacity, was done; what later requests do to it does not
  // show.
  double finished_ns(uint64_t number) const {
    return queue_.completed() < number + Queue::kCapacity
               ? (*finished_ns_)[number % Queue::kCapacity].load(std::memory_order_relaxed)
               : clock_ns();
  }
  double clock_ns() const { return clock_ns_.load(std::memory_order_relaxed); }

  // Stamps the request with host time, mode and origin, and queues it. Returns its public sequence number.
  nrta_seq_t submit(Work w, nrta_xu_t unit, int queue = 0);
  // The same, then waits for it and throws its error as StatusError.
  void submit_and_wait(Work w, nrta_xu_t unit);
  // Waits for what is queued; the host clock reaches the core's.
  void synchronise();
  // The first error since the last call that nobody else was told of.
  Failure take_pending();

  void interrupt();  // async-signal-safe
  // Makes the scratchpad that all Programs of this core share large enough.
  void reserve_scratch(int64_t bytes);
  void stop() { queue_.stop(); }

  void serve(const Work& w, uint64_t number) noexcept override;

 private:
  void perform(const Work& w);
  void launch(const Work& w);
  void copy(const Work& w);
  void await(const Mark& m);
  struct RunResult {
    Loads loads;
    std::optional<Failure> nan;  // of a run that completed all the same
  };
  RunResult run_function(Launch& l);
  void check_time(double duration_ns) const;
  void report(const Work& w, uint64_t number, Failure f) noexcept;

  int index_, logical_, lnc_;
  const Spec& spec_;
  Clock ticks_;
  double exec_timeout_ns_;
  bool strict_;
  DeviceMemory memory_;
  std::vector<std::unique_ptr<CoreState>> states_;  // SBUF and PSUM, made by the first launch that needs them
  std::mutex scratch_mutex_;
  std::byte* scratch_ = nullptr;
  int64_t scratch_bytes_ = 0;

  std::atomic<double> clock_ns_{0};
  std::unique_ptr<std::array<std::atomic<double>, Queue::kCapacity>> finished_ns_ =
      std::make_unique<std::array<std::atomic<double>, Queue::kCapacity>>();
  std::atomic<bool> cancelled_{false};
  std::atomic<uint64_t> cancel_through_{0};  // requests up to this number are dropped
  std::mutex pending_mutex_;
  Failure pending_;
  Queue queue_;  // last: its thread uses the rest
};

nrta_seq_t sequence(int core, int lane, uint64_t number);

}  // namespace trn::runtime
