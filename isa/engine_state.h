#pragma once
#include <array>

#include "isa/random.h"
#include "isa/spec.h"

namespace trn {

// What the engines of one physical core remember between instructions, lane by lane (a lane is a partition). Plain
// data; kept between Programs, as SBUF is.
struct EngineState {
  static constexpr int kLanes = 128;
  using Registers = std::array<float, kLanes>;
  static constexpr int kVectorStates = 4;  // of each Vector lane from NeuronCore-v4 on

  Generation generation = Generation::trn2;

  // Accumulator registers (nki.isa.reduce_cmd). NaN until an instruction resets them.
  Registers scalar_sums, vector_sums;

  // Random numbers. Until a Program sets them: the states that seed 0 gives.
  std::array<ShiftRegister, kLanes> vector_register;
  std::array<std::array<Xorwow, kVectorStates>, kLanes> vector_xorwow;
  std::array<Xorwow, kLanes> gpsimd_xorwow;

  explicit EngineState(Generation g = Generation::trn2);
  void seed_vector(uint32_t seed);
};

}  // namespace trn
