#pragma once
#include <array>

#include "sim/observer.h"

namespace trn {

struct EngineTotals {
  int64_t instructions = 0;
  Tick busy = 0;                    // union of start..end
  std::array<Tick, 11> waits{};     // by Reason
};

// What every timed run yields, with or without an observer.
struct Timing {
  Tick makespan = 0;
  std::array<EngineTotals, kEngines> engines{};  // summed over the physical cores
  Tick dma_active = 0;                           // union over queues, mean of the cores
  int64_t dma_transfers = 0, dma_bytes = 0;
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  double flops = 0;                              // tensor engine only
  Tick tensor_stream = 0;                        // ticks that the PE array streams rows
};

struct SimOptions {
  int throttle_eighths = 4;        // state of the tensor engine at the start
  double throttle_phase_cycles = 0;  // PE cycles already gone of the current throttle window
};

// When everything in `p` happens. Reads no data. Deterministic: same Program and Spec, same events. Throws trn::Error (undefined) with the
// cycle of waits on deadlock.
Timing simulate(const Program& p, const Spec& s, Observer* observer = nullptr, const SimOptions& options = {});

}  // namespace trn
