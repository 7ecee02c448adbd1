#pragma once
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

// The same for a Program.
Timing simulate(const Program& p, const Spec& s, Observer* observer = nullptr, const SimOptions& options = {});

}  // namespace trn
