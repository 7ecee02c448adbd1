#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "traces/session.h"

namespace trn {

// Where a session's time went, summed over its launches. Times in nanoseconds of one logical core unless said
// otherwise.
struct Totals {
  int64_t launches = 0, instructions = 0;
  double device_ns = 0;      // launches' durations
  double overhead_ns = 0;    // Program preamble and postamble inside them
  double launch_gap_ns = 0;  // core idle between a session's launches: host dispatch and launch overhead
  std::array<double, kEngines> engine_active_ns{};  // mean of the physical cores that a Program uses
  std::array<int64_t, kEngines> engine_instructions{};
  double dma_active_ns = 0, tensor_stream_ns = 0;
  int64_t dma_transfers = 0, dma_bytes = 0, hbm_read_bytes = 0, hbm_write_bytes = 0;
  double flops = 0;
};
Totals totals(const Session& s);

// Waits grouped by who waited, why, and for what kind of work; largest first.
struct WaitGroup {
  Engine engine;
  Reason reason;
  std::string waiter, blocker;  // instruction names; blocker is empty where nobody is to blame
  double ns = 0;
  int64_t count = 0;
};
std::vector<WaitGroup> top_waits(const Session& s);

// Launches grouped by op and Program; longest total first.
struct ProgramGroup {
  std::string op, program;
  int64_t launches = 0;
  double device_ns = 0;
  Timing timing;  // of one launch
  double flops = 0;
  int64_t hbm_bytes = 0;
};
std::vector<ProgramGroup> by_program(const Session& s);

}  // namespace trn
