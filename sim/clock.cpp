#include "isa/by_engine.h"
#include "memory/error.h"
#include "sim/ticks.h"

namespace trn {

Clock::Clock(const Spec& s) : ticks_per_ns(0) {
  // Multiples of the tensor clock until all others divide it: 4.8 GHz is 2 x 2.4, 5 x 0.96 and 4 x 1.2.
  for (int k = 1; k <= 400; ++k) {
    const double rate = s.tensor_ghz * k;
    bool all = true;
    for (int e = 0; e < kEngines; ++e) {
      const double ratio = rate / by_engine::ghz(static_cast<Engine>(e), s);
      all = all && std::abs(ratio - std::round(ratio)) < 1e-6 * ratio;
    }
    if (all) {
      ticks_per_ns = rate;
      return;
    }
  }
  throw Error(Fault::illegal, "the engine clocks of the Spec have no common multiple below 400 tensor cycles", s.name);
}

}  // namespace trn
