#pragma once
#include <cmath>
#include <cstring>
#include <vector>

#include "isa/card.h"
#include "isa/engine_state.h"
#include "isa/examples.h"

namespace trn::test {

// A byte of a float8 format by its definition: sign, exponent, mantissa; packed words are their bits.
inline double float8(Dtype d, uint8_t bits) {
  if (d == Dtype::float8_e8m0fnu) return bits == 255 ? NAN : std::ldexp(1.0, bits - 127);
  const int e_bits = d == Dtype::float8_e3m4 ? 3 : d == Dtype::float8_e5m2 ? 5 : 4, m_bits = 7 - e_bits;
  const int bias = (1 << (e_bits - 1)) - 1, e = bits >> m_bits & ((1 << e_bits) - 1), m = bits & ((1 << m_bits) - 1);
  const double sign = bits & 128 ? -1 : 1;
  if (d == Dtype::float8_e4m3fn ? (bits & 127) == 127 : e == (1 << e_bits) - 1)
    return d != Dtype::float8_e4m3fn && m == 0 ? sign * INFINITY : NAN;
  return sign * (e == 0 ? std::ldexp(m, 1 - bias - m_bits) : std::ldexp((1 << m_bits) + m, e - bias - m_bits));
}
inline uint8_t float8_bits(Dtype d, double v) {
  for (int i = 0; i < 256; ++i)
    if (float8(d, static_cast<uint8_t>(i)) == v) return static_cast<uint8_t>(i);
  throw std::logic_error("no such float8");
}

// The nearest value of a float8 format, ties to the even code; overflow saturates, except that e5m2 has infinities.
inline double round_float8(Dtype d, double v) {
  int best = -1;
  for (int i = 0; i < 128; ++i) {  // codes of rising magnitude
    const double candidate = float8(d, static_cast<uint8_t>(i));
    if (!std::isfinite(candidate)) break;
    const double distance = std::fabs(std::fabs(v) - candidate),
                 so_far = best < 0 ? INFINITY : std::fabs(std::fabs(v) - float8(d, static_cast<uint8_t>(best)));
    if (distance < so_far || (distance == so_far && i % 2 == 0)) best = i;
  }
  const double largest = float8(d, static_cast<uint8_t>(best)),
               step = largest - float8(d, static_cast<uint8_t>(best - 1));
  const bool last = !std::isfinite(float8(d, static_cast<uint8_t>(best + 1)));
  const double magnitude = d == Dtype::float8_e5m2 && last && std::fabs(v) >= largest + step / 2 ? INFINITY : largest;
  return std::copysign(magnitude, v);
}

// Memories for one instruction, with element access that shares no code with the cards: plain index arithmetic and
// plain C++ conversions.
struct Machine {
  PartitionedMemory sbuf{128, 224 * 1024}, psum{128, 16 * 1024};
  std::vector<std::vector<std::byte>> slots;
  std::vector<std::span<std::byte>> bound;
  EngineState engines;

  explicit Machine(std::vector<size_t> slot_bytes = {}) {
    for (const size_t n : slot_bytes) slots.emplace_back(n);
  }
  CoreMemory memory() {
    bound.assign(slots.begin(), slots.end());
    return {&sbuf, &psum, bound, &engines};
  }

  // Host address of element `i` of `a` in pattern order.
  std::byte* at(const Access& a, int64_t i) {
    int64_t place = a.offset;
    int partition = a.partition;
    for (int d = a.ndim - 1; d >= 0; --d) {
      const int64_t index = i % a.dims[d].count;
      i /= a.dims[d].count;
      if (d == 0 && a.on_chip())
        partition += static_cast<int>(index) * a.dims[0].step;
      else
        place += index * a.dims[d].step * size_of(a.dtype);
    }
    if (a.space == Space::hbm) return slots.at(a.buffer).data() + place;
    return (a.space == Space::sbuf ? sbuf : psum).at(partition, place);
  }

  double get(const Access& a, int64_t i) {
    const std::byte* p = at(a, i);
    switch (a.dtype) {
      case Dtype::float32: return load<float>(p);
      case Dtype::float64: return load<double>(p);
      case Dtype::float8_e3m4:
      case Dtype::float8_e4m3:
      case Dtype::float8_e5m2:
      case Dtype::float8_e4m3fn:
      case Dtype::float8_e8m0fnu: return float8(a.dtype, load<uint8_t>(p));
      case Dtype::tfloat32: return load<float>(p);
      case Dtype::bfloat16: {
        const uint32_t bits = uint32_t{load<uint16_t>(p)} << 16;
        float f;
        std::memcpy(&f, &bits, 4);
        return f;
      }
      case Dtype::int8: return load<int8_t>(p);
      case Dtype::uint8:
      case Dtype::boolean: return load<uint8_t>(p);
      case Dtype::int16: return load<int16_t>(p);
      case Dtype::float4_e2m1fn_x4:
      case Dtype::uint16: return load<uint16_t>(p);
      case Dtype::int32: return load<int32_t>(p);
      case Dtype::float8_e5m2_x4:
      case Dtype::float8_e4m3fn_x4:
      case Dtype::uint32: return load<uint32_t>(p);
      case Dtype::int64: return static_cast<double>(load<int64_t>(p));
      default: throw std::logic_error("no such dtype in tests");
    }
  }
  // `v` must be exact in the dtype (bfloat16: the top half of a float).
  void set(const Access& a, int64_t i, double v) {
    std::byte* p = at(a, i);
    switch (a.dtype) {
      case Dtype::float32: return store(p, static_cast<float>(v));
      case Dtype::float64: return store(p, v);
      case Dtype::float8_e3m4:
      case Dtype::float8_e4m3:
      case Dtype::float8_e5m2:
      case Dtype::float8_e4m3fn:
      case Dtype::float8_e8m0fnu: return store(p, float8_bits(a.dtype, v));
      case Dtype::tfloat32: return store(p, static_cast<float>(v));
      case Dtype::bfloat16: {
        const auto f = static_cast<float>(v);
        uint32_t bits;
        std::memcpy(&bits, &f, 4);
        return store(p, static_cast<uint16_t>(bits >> 16));
      }
      case Dtype::int8: return store(p, static_cast<int8_t>(v));
      case Dtype::uint8:
      case Dtype::boolean: return store(p, static_cast<uint8_t>(v));
      case Dtype::int16: return store(p, static_cast<int16_t>(v));
      case Dtype::float4_e2m1fn_x4:
      case Dtype::uint16: return store(p, static_cast<uint16_t>(v));
      case Dtype::int32: return store(p, static_cast<int32_t>(v));
      case Dtype::float8_e5m2_x4:
      case Dtype::float8_e4m3fn_x4:
      case Dtype::uint32: return store(p, static_cast<uint32_t>(v));
      case Dtype::int64: return store(p, static_cast<int64_t>(v));
      default: throw std::logic_error("no such dtype in tests");
    }
  }
  template <class Value>
  void fill(const Access& a, Value&& value) {
    for (int64_t i = 0; i < a.elements(); ++i) set(a, i, value(i));
  }

 private:
  template <class T>
  static T load(const std::byte* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  template <class T>
  static void store(std::byte* p, T v) {
    std::memcpy(p, &v, sizeof v);
  }
};

// A repeatable stream of floats in [-1, 1) with 24 significant bits.
class Noise {
 public:
  explicit Noise(uint32_t seed = 1) : state_(seed * 2654435761u + 12345u) {}
  double operator()(int64_t = 0) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<double>(state_ >> 8) / (1 << 23) - 1;
  }

 private:
  uint32_t state_;
};

// The nearest bfloat16, ties to even, by arithmetic on the significand.
inline double round_bfloat16(double v) {
  if (v == 0 || !std::isfinite(v)) return v;
  int exponent;
  const double significand = std::frexp(v, &exponent);  // 0.5 <= |significand| < 1
  return std::ldexp(std::nearbyint(std::ldexp(significand, 8)), exponent - 8);
}

// A pattern with explicit dims; dims[0] is the partition count on chip.
inline Access tile(Space space, Dtype d, int partition, int64_t offset, std::initializer_list<Dim> dims) {
  Access a;
  a.space = space;
  a.dtype = d;
  a.partition = static_cast<uint8_t>(partition);
  a.offset = offset;
  for (const Dim& dim : dims) a.dims[a.ndim++] = dim;
  return a;
}

}  // namespace trn::test
