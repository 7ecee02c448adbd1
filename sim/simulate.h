#pragma once
#include "isa/sequencer.h"
#include "sim/observer.h"
#include "sim/work.h"

namespace trn {

struct SimOptions {
  int throttle_eighths = 4;          // state of the tensor engine at the start
  double throttle_phase_cycles = 0;  // PE cycles already gone of the current throttle window
  bool program_overhead = true;      // preamble and postamble of a launched Program
};

// When everything in `w` happens. Reads no data. Deterministic: same Work and Spec, same events. Throws trn::Error
// (undefined) with the cycle of waits on deadlock.
Timing simulate(const Work& w, const Spec& s, Observer* observer = nullptr, const SimOptions& options = {});

// The same for a Program. One with control flow is timed as the straight line that a run of it issues (unroll.h), with
// `loads` as what its register_loads read: what execute() returned. Without them, or with fewer, it can be timed as
// long as no loop, branch or wait depends on such a word; else throws trn::Error(unmodelled). Events name instructions
// of `p`, one as often as it is issued.
Timing simulate(const Program& p, const Spec& s, Observer* observer = nullptr, const SimOptions& options = {},
                const Loads& loads = {});

}  // namespace trn
