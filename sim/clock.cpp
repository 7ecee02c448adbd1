#include <array>

#include "memory/error.h"
#include "sim/ticks.h"

namespace trn {

Clock::Clock(const Spec& s) : ticks_per_ns(0) {
  const std::array clocks{&s.tensor_ghz, &s.vector_ghz, &s.scalar_ghz, &s.gpsimd_ghz, &s.sync_ghz};
  // Multiples of the tensor clock until all others divide it: 4.8 GHz is 2 x 2.4, 5 x 0.96 and 4 x 1.2.
  for (int k = 1; k <= 400; ++k) {
    const double rate = s.tensor_ghz * k;
    const auto divides = [&](const Number* c) {
      const double ratio = rate / *c;
      return std::abs(ratio - std::round(ratio)) < 1e-6 * ratio;
    };
    bool all = true;
    for (const Number* c : clocks) all = all && divides(c);
    if (all) {
      ticks_per_ns = rate;
      return;
    }
  }
  throw Error(Fault::illegal, "the engine clocks of the Spec have no common multiple below 400 tensor cycles", s.name);
}

}  // namespace trn
