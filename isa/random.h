#pragma once
#include <array>
#include <cstdint>

namespace trn {

// Marsaglia's xorwow (Xorshift RNGs, Journal of Statistical Software 8(14), 2003): the generator that nki.isa names for
// GpSimd, and for Vector from NeuronCore-v4 on. The order of the state's six words in rand_set_state is assumed to be
// the paper's: x, y, z, w, v, d.
struct Xorwow {
  static constexpr int kWords = 6;
  std::array<uint32_t, kWords> word{};

  uint32_t next() {
    auto& [x, y, z, w, v, d] = word;
    const uint32_t t = x ^ (x >> 2);
    x = y, y = z, z = w, w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return d + v;
  }
};

// Vector's generator before NeuronCore-v4 is a linear feedback shift register whose polynomial and seeding are not
// public. A stand-in: 32 bits in Galois form with taps 32, 22, 2, 1 (a maximal polynomial), 32 steps for each word.
struct ShiftRegister {
  static constexpr uint32_t kTaps = 0x80200003;
  uint32_t word = 1;

  static constexpr uint32_t step(uint32_t s) { return (s >> 1) ^ (s & 1 ? kTaps : 0); }
  uint32_t next();
};

// A register's start from set_rng_seed's one value: the lanes' words differ and none is 0 (assumed).
uint32_t lane_seed(uint32_t seed, int lane);

}  // namespace trn
