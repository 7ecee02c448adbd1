#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "memory/dtype.h"
#include "memory/half_bits.h"

namespace trn {

// Round to nearest even, saturate, NaN becomes 0 (release notes of NKI 0.6).
template <class Int>
Int integer_from_float(float f) {
  constexpr float below = static_cast<float>(std::numeric_limits<Int>::min());
  constexpr float above =
      static_cast<float>(std::numeric_limits<Int>::max());  // rounds up to a power of two for 32 and 64 bits
  if (f != f) return 0;
  const float r = std::nearbyint(f);
  if (r <= below) return std::numeric_limits<Int>::min();
  if (r >= above) return std::numeric_limits<Int>::max();
  return static_cast<Int>(r);
}

// An 8-bit float: 1 sign bit, `E` exponent bits, `M` mantissa bits, IEEE 754 style (the largest exponent is infinity
// and NaN).
template <int E, int M, bool kOverflowToInfinity>
struct Float8 {
  static constexpr int kBias = (1 << (E - 1)) - 1;
  static constexpr int kInfinity = ((1 << E) - 1) << M;

  static constexpr float decode(uint8_t b) {
    const int exponent = b >> M & ((1 << E) - 1), mantissa = b & ((1 << M) - 1);
    const uint32_t sign = uint32_t{b} << 24 & 0x80000000;
    if (exponent == (1 << E) - 1)
      return std::bit_cast<float>(sign | 0x7F800000 | static_cast<uint32_t>(mantissa) << (23 - M) |
                                  (mantissa ? 0x400000u : 0u));
    const float unit = std::bit_cast<float>(static_cast<uint32_t>(127 + 1 - kBias - M) << 23);  // smallest subnormal
    const int scale = exponent == 0 ? 0 : exponent - 1;
    const int significand = exponent == 0 ? mantissa : mantissa | 1 << M;
    const float magnitude = static_cast<float>(significand) * unit * static_cast<float>(1 << scale);
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  static constexpr std::array<float, 256> kDecoded = [] {
    std::array<float, 256> t{};
    for (int i = 0; i < 256; ++i) t[i] = decode(static_cast<uint8_t>(i));
    return t;
  }();

  static constexpr uint8_t encode(float f) {
    const auto u = std::bit_cast<uint32_t>(f);
    const uint32_t sign = u >> 24 & 0x80, rest = u & 0x7FFFFFFF;
    if (rest > 0x7F800000) return static_cast<uint8_t>(sign | kInfinity | 1 << (M - 1));
    constexpr uint32_t normal = static_cast<uint32_t>(127 + 1 - kBias) << 23;  // smallest normal
    uint32_t code = 0;
    if (rest < normal) {
      // Adding a power of two whose last place is the smallest subnormal rounds to nearest even.
      constexpr uint32_t magic = static_cast<uint32_t>(127 + 1 - kBias - M + 23) << 23;
      code = std::bit_cast<uint32_t>(std::bit_cast<float>(rest) + std::bit_cast<float>(magic)) - magic;
    } else {
      const uint32_t rebased = rest - (static_cast<uint32_t>(127 - kBias) << 23);
      code = (rebased + (1u << (22 - M)) - 1 + (rebased >> (23 - M) & 1)) >> (23 - M);
    }
    if (code >= kInfinity) code = kOverflowToInfinity ? kInfinity : kInfinity - 1;
    return static_cast<uint8_t>(sign | code);
  }
};

// OCP's float8_e4m3fn: no infinity, one NaN, up to 448.
struct Float8E4m3fn {
  using Ieee = Float8<4, 3, false>;
  static constexpr uint8_t kMost = 0x7E, kNan = 0x7F;
  static constexpr float decode(uint8_t b) {
    if ((b & kNan) == kNan) return std::numeric_limits<float>::quiet_NaN();
    if ((b & 0x78) != 0x78) return Ieee::decode(b);
    const float magnitude = static_cast<float>(8 + (b & 7)) * 32;  // 2^(15 - bias 7 - 3 mantissa bits)
    return b & 0x80 ? -magnitude : magnitude;
  }
  static const std::array<float, 256> kDecoded;
  static constexpr uint8_t encode(float f) {
    const auto u = std::bit_cast<uint32_t>(f);
    const uint32_t sign = u >> 24 & 0x80, rest = u & 0x7FFFFFFF;
    if (rest > 0x7F800000) return static_cast<uint8_t>(sign | kNan);
    const float magnitude = std::bit_cast<float>(rest);
    if (magnitude < 240) return static_cast<uint8_t>(sign | Ieee::encode(magnitude));
    if (magnitude >= 448) return static_cast<uint8_t>(sign | kMost);
    const uint32_t rebased = rest - (120u << 23);
    return static_cast<uint8_t>(sign | (rebased + (1u << 19) - 1 + (rebased >> 20 & 1)) >> 20);
  }
};
inline constexpr std::array<float, 256> Float8E4m3fn::kDecoded = [] {
  std::array<float, 256> t{};
  for (int i = 0; i < 256; ++i) t[static_cast<size_t>(i)] = decode(static_cast<uint8_t>(i));
  return t;
}();

// OCP's scale: a power of two from 2^-127 to 2^127, or NaN.
struct Float8E8m0 {
  static constexpr float decode(uint8_t b) {
    if (b == 0xFF) return std::numeric_limits<float>::quiet_NaN();
    return b == 0 ? 0x1p-127f : std::bit_cast<float>(uint32_t{b} << 23);
  }
  static const std::array<float, 256> kDecoded;
  // To the nearest exponent, a tie to the even one; negative numbers have none.
  static constexpr uint8_t encode(float f) {
    const auto u = std::bit_cast<uint32_t>(f);
    if (u > 0x7F800000) return 0xFF;
    const uint32_t exponent = u >> 23, mantissa = u & 0x7FFFFF;
    const uint32_t half = exponent ? 0x400000 : 0x600000;  // the smallest scale is a subnormal fp32 number
    const bool up = mantissa > half || (mantissa == half && (exponent == 0 || exponent & 1));
    return static_cast<uint8_t>(exponent + up > 254 ? 254 : exponent + up);
  }
};
inline constexpr std::array<float, 256> Float8E8m0::kDecoded = [] {
  std::array<float, 256> t{};
  for (int i = 0; i < 256; ++i) t[static_cast<size_t>(i)] = decode(static_cast<uint8_t>(i));
  return t;
}();

constexpr float round_to_tfloat32(float f) {
  const auto u = std::bit_cast<uint32_t>(f);
  if ((u & 0x7FFFFFFF) > 0x7F800000) return std::bit_cast<float>((u | 0x400000) & ~0x1FFFu);
  return std::bit_cast<float>((u + 0xFFF + (u >> 13 & 1)) & ~0x1FFFu);
}

// How one element of a dtype is stored and converted: `Storage`, to_float, from_float, to_int, from_int. The integer
// forms of floating dtypes go through fp32.
template <Dtype d>
struct Codec;

template <class Self, class S>
struct Floating {
  using Storage = S;
  static int64_t to_int(S s) { return integer_from_float<int32_t>(Self::to_float(s)); }
  static S from_int(int64_t v) { return Self::from_float(static_cast<float>(v)); }
};
template <class Int>
struct Integral {
  using Storage = Int;
  static float to_float(Int s) { return static_cast<float>(s); }
  static Int from_float(float f) { return integer_from_float<Int>(f); }
  static int64_t to_int(Int s) { return static_cast<int64_t>(s); }
  static Int from_int(int64_t v) { return static_cast<Int>(v); }
};

template <class Self, class F8>
struct Floating8 : Floating<Self, uint8_t> {
  static float to_float(uint8_t s) { return F8::kDecoded[s]; }
  static uint8_t from_float(float f) { return F8::encode(f); }
};

// clang-format off
template <> struct Codec<Dtype::float8_e3m4> : Floating8<Codec<Dtype::float8_e3m4>, Float8<3, 4, false>> {};
template <> struct Codec<Dtype::float8_e4m3> : Floating8<Codec<Dtype::float8_e4m3>, Float8<4, 3, false>> {};
template <> struct Codec<Dtype::float8_e5m2> : Floating8<Codec<Dtype::float8_e5m2>, Float8<5, 2, true>> {};
template <> struct Codec<Dtype::float8_e4m3fn> : Floating8<Codec<Dtype::float8_e4m3fn>, Float8E4m3fn> {};
template <> struct Codec<Dtype::float8_e8m0fnu> : Floating8<Codec<Dtype::float8_e8m0fnu>, Float8E8m0> {};
template <> struct Codec<Dtype::bfloat16> : Floating<Codec<Dtype::bfloat16>, uint16_t> {
  static float to_float(uint16_t s) { return float_from_bfloat16(s); }
  static uint16_t from_float(float f) { return bfloat16_from_float(f); }
};
template <> struct Codec<Dtype::float16> : Floating<Codec<Dtype::float16>, uint16_t> {
  static float to_float(uint16_t s) { return float_from_float16(s); }
  static uint16_t from_float(float f) { return float16_from_float(f); }
};
template <> struct Codec<Dtype::tfloat32> : Floating<Codec<Dtype::tfloat32>, float> {
  static float to_float(float s) { return round_to_tfloat32(s); }
  static float from_float(float f) { return round_to_tfloat32(f); }
};
template <> struct Codec<Dtype::float32> : Floating<Codec<Dtype::float32>, float> {
  static float to_float(float s) { return s; }
  static float from_float(float f) { return f; }
};
template <> struct Codec<Dtype::float64> : Floating<Codec<Dtype::float64>, double> {
  static float to_float(double s) { return static_cast<float>(s); }
  static double from_float(float f) { return f; }
};
template <> struct Codec<Dtype::int8> : Integral<int8_t> {};
template <> struct Codec<Dtype::uint8> : Integral<uint8_t> {};
template <> struct Codec<Dtype::int16> : Integral<int16_t> {};
template <> struct Codec<Dtype::uint16> : Integral<uint16_t> {};
template <> struct Codec<Dtype::int32> : Integral<int32_t> {};
template <> struct Codec<Dtype::uint32> : Integral<uint32_t> {};
template <> struct Codec<Dtype::int64> : Integral<int64_t> {};
template <> struct Codec<Dtype::uint64> : Integral<uint64_t> {};
template <> struct Codec<Dtype::boolean> {
  using Storage = uint8_t;
  static float to_float(uint8_t s) { return s ? 1.f : 0.f; }
  static uint8_t from_float(float f) { return f != 0; }
  static int64_t to_int(uint8_t s) { return s != 0; }
  static uint8_t from_int(int64_t v) { return v != 0; }
};
// clang-format on

// Calls visit(Codec<d>{}) for the dtype known at run time.
template <class Visit>
decltype(auto) with_codec(Dtype d, Visit&& visit) {
  switch (d) {
    case Dtype::float8_e3m4: return visit(Codec<Dtype::float8_e3m4>{});
    case Dtype::float8_e4m3: return visit(Codec<Dtype::float8_e4m3>{});
    case Dtype::float8_e5m2: return visit(Codec<Dtype::float8_e5m2>{});
    case Dtype::bfloat16: return visit(Codec<Dtype::bfloat16>{});
    case Dtype::float16: return visit(Codec<Dtype::float16>{});
    case Dtype::tfloat32: return visit(Codec<Dtype::tfloat32>{});
    case Dtype::float64: return visit(Codec<Dtype::float64>{});
    case Dtype::int8: return visit(Codec<Dtype::int8>{});
    case Dtype::uint8: return visit(Codec<Dtype::uint8>{});
    case Dtype::int16: return visit(Codec<Dtype::int16>{});
    case Dtype::uint16: return visit(Codec<Dtype::uint16>{});
    case Dtype::int32: return visit(Codec<Dtype::int32>{});
    case Dtype::uint32: return visit(Codec<Dtype::uint32>{});
    case Dtype::int64: return visit(Codec<Dtype::int64>{});
    case Dtype::uint64: return visit(Codec<Dtype::uint64>{});
    case Dtype::boolean: return visit(Codec<Dtype::boolean>{});
    case Dtype::float8_e4m3fn: return visit(Codec<Dtype::float8_e4m3fn>{});
    case Dtype::float8_e8m0fnu: return visit(Codec<Dtype::float8_e8m0fnu>{});
    // Never converted; their bits have these widths.
    case Dtype::float8_e5m2_x4:
    case Dtype::float8_e4m3fn_x4: return visit(Codec<Dtype::uint32>{});
    case Dtype::float4_e2m1fn_x4: return visit(Codec<Dtype::uint16>{});
    case Dtype::float32: break;
  }
  return visit(Codec<Dtype::float32>{});
}

}  // namespace trn
