#pragma once
#include <bit>
#include <cstdint>

namespace trn {

// One element of each format that half.h converts in bulk, by integer arithmetic.
constexpr float float_from_bfloat16(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }

constexpr uint16_t bfloat16_from_float(float f) {
  const auto u = std::bit_cast<uint32_t>(f);
  if ((u & 0x7FFFFFFF) > 0x7F800000) return static_cast<uint16_t>(u >> 16 | 0x40);
  return static_cast<uint16_t>((u + 0x7FFF + (u >> 16 & 1)) >> 16);
}

constexpr float float_from_float16(uint16_t h) {
  const uint32_t sign = uint32_t{h} << 16 & 0x80000000;
  const uint32_t rest = (h & 0x7FFFu) << 13;
  if (rest >= 0x0F800000)
    return std::bit_cast<float>(sign | 0x70000000 | rest | (rest > 0x0F800000 ? 0x00400000u : 0u));
  if (rest >= 0x00800000) return std::bit_cast<float>(sign | (rest + 0x38000000));
  // A subnormal half is m * 2^-24: let 2^-14 + m * 2^-24 lose its leading one.
  const float magnitude = std::bit_cast<float>(rest + 0x38800000) - std::bit_cast<float>(0x38800000u);
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

constexpr uint16_t float16_from_float(float f) {
  const auto u = std::bit_cast<uint32_t>(f);
  const uint32_t sign = u >> 16 & 0x8000, rest = u & 0x7FFFFFFF;
  if (rest > 0x7F800000) return static_cast<uint16_t>(sign | 0x7E00 | (rest >> 13 & 0x3FF));
  if (rest >= 0x47800000) return static_cast<uint16_t>(sign | 0x7C00);
  if (rest < 0x38800000) {
    // Adding 0.5 puts the subnormal half's mantissa into the low bits, rounded by the hardware's own nearest-even
    // addition.
    const float shifted = std::bit_cast<float>(rest) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000));
  }
  return static_cast<uint16_t>(sign | ((rest - 0x38000000 + 0xFFF + (rest >> 13 & 1)) >> 13));
}

}  // namespace trn
