#include "isa/engine_state.h"

#include <limits>

namespace trn {

namespace {

Xorwow seeded(uint32_t seed, int lane) {
  Xorwow g;
  for (int i = 0; i < Xorwow::kWords; ++i)
    g.word[static_cast<size_t>(i)] = lane_seed(seed + static_cast<uint32_t>(i) * 0x632BE59Bu, lane);
  return g;
}

}  // namespace

EngineState::EngineState(Generation g) : generation(g) {
  scalar_sums.fill(std::numeric_limits<float>::quiet_NaN());
  vector_sums = scalar_sums;
  seed_vector(0);
  for (int lane = 0; lane < kLanes; ++lane) gpsimd_xorwow[static_cast<size_t>(lane)] = seeded(0, lane);
}

void EngineState::seed_vector(uint32_t seed) {
  for (int lane = 0; lane < kLanes; ++lane) {
    vector_register[static_cast<size_t>(lane)].word = lane_seed(seed, lane);
    for (int i = 0; i < kVectorStates; ++i)
      vector_xorwow[static_cast<size_t>(lane)][static_cast<size_t>(i)] = seeded(seed, lane + kLanes * (i + 1));
  }
}

}  // namespace trn
