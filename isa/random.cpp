#include "isa/random.h"

namespace trn {

namespace {

// 32 steps are linear over bits: the sum of what each byte of the state becomes.
constexpr auto kJump = [] {
  std::array<std::array<uint32_t, 256>, 4> table{};
  for (int byte = 0; byte < 4; ++byte)
    for (uint32_t value = 0; value < 256; ++value) {
      uint32_t s = value << (8 * byte);
      for (int i = 0; i < 32; ++i) s = ShiftRegister::step(s);
      table[byte][value] = s;
    }
  return table;
}();

}  // namespace

uint32_t ShiftRegister::next() {
  word = kJump[0][word & 255] ^ kJump[1][word >> 8 & 255] ^ kJump[2][word >> 16 & 255] ^ kJump[3][word >> 24];
  return word;
}

uint32_t lane_seed(uint32_t seed, int lane) {
  uint32_t h = seed + 0x9E3779B9u * static_cast<uint32_t>(lane + 1);
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  h ^= h >> 16;
  return h ? h : 1;
}

}  // namespace trn
