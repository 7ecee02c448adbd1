#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/program.h"
#include "nrt/nrt_status.h"
#include "sim/observer.h"
#include "sim/simulate.h"

namespace trn::runtime {

// A loaded Program as timelines see it. It outlives nrt_unload() while a record names it.
struct LoadedProgram {
  uint32_t id = 0;  // by order of loading, from 1
  Program program;
};

// Who asked for something: an interned text, and a profiler's number (0: none).
struct Origin {
  uint32_t source = 0;
  uint64_t correlation = 0;
};

struct LaunchRecord {
  std::shared_ptr<const LoadedProgram> what;
  int core = 0;  // logical core, as the process counts
  Origin origin{};
  int repeat = 1;
  double submitted_ns = 0, start_ns = 0, end_ns = 0;  // host clock; core's clock after launch overhead; completion
  int64_t wall_ns = 0;                                // of this machine, spent on it
  NRT_STATUS status = NRT_SUCCESS;
  std::shared_ptr<const Timing> timing;  // of one (the last) run; null if it was not timed
  std::shared_ptr<const Loads> loads;    // what its (last) run's registers read, if its time depends on that; else null
};

// As traces::HostWork and nrt_sim_host_work_t count.
enum class HostWork : unsigned char { dispatch, copy_to_device, copy_from_device, synchronise, fallback };

struct HostRecord {
  HostWork work;
  int core;  // -1: none
  Origin origin;
  double start_ns, end_ns;
  int64_t bytes;
};

// What happened between start() and finish().
struct Recording {
  std::vector<LaunchRecord> launches;
  std::vector<HostRecord> host;
};

// Tells every recording what happens; without any, only the newest launch is kept. All members are thread-safe.
class Recorder {
 public:
  bool recording() const { return active_.load(std::memory_order_relaxed) > 0; }
  std::shared_ptr<Recording> start();
  // Ends it and hands over what it saw. Empty if it had ended before.
  Recording finish(const std::shared_ptr<Recording>& recording);

  void add(LaunchRecord r);
  void add(const HostRecord& r);
  LaunchRecord last() const;  // `what` is null if there was none

 private:
  std::atomic<size_t> active_{0};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Recording>> recordings_;
  LaunchRecord last_;
};
Recorder& recorder();

// Texts by number, for the life of the process. 0 is "".
uint32_t intern(std::string_view text);
const std::string& interned(uint32_t number);  // "" for an unknown number

// Origin of what this thread queues.
Origin& current_origin();

}  // namespace trn::runtime
