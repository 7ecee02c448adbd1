#pragma once
#include "sim/observer.h"

namespace trn {

struct SimOptions {
  int throttle_eighths = 4;          // state of the tensor engine at the start
  double throttle_phase_cycles = 0;  // PE cycles already gone of the current throttle window
};

// When everything in `p` happens. Reads no data. Deterministic: same Program and Spec, same events. Throws trn::Error
// (undefined) with the cycle of waits on deadlock.
Timing simulate(const Program& p, const Spec& s, Observer* observer = nullptr, const SimOptions& options = {});

}  // namespace trn
