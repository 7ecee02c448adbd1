#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "isa/engine.h"
#include "memory/dtype.h"

namespace trn {

// Operators of the `op` fields of nki.isa instructions (nki.api.shared: "Supported Math Operators"). Names are
// nki.language's. An operator's number is its place; append, so that older executables load.
enum class AluOp : uint8_t {
  bypass,
  invert,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  left_shift,
  right_shift,
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  equal,
  not_equal,
  greater_equal,
  greater,
  less_equal,
  less,
  logical_and,
  logical_or,
  logical_xor,
  power,
  abs_max,
  abs_min,
  mod,
  fmod,
  abs,
  square,
  relu,
  rsqrt,
  reciprocal
};

// What an operator means, element by element. `on_float` is null for bitvec operators, `on_int` where no integer form
// exists. Unary operators read `a` only. Comparisons and logical operators give 1 or 0. maximum and minimum propagate
// NaN, as torch.maximum does (the documentation is silent). Integers wrap to 32 bits; `is_unsigned` selects how the
// bits are compared, divided and shifted.
struct AluRow {
  std::string_view name;
  EngineSet engines;
  bool is_bitvec;  // integer dtypes only, operands are bit patterns
  int arity;
  bool reduces;    // legal as a reduction
  float identity;  // neutral first operand of a reduction
  float (*on_float)(float a, float b);
  int32_t (*on_int)(int32_t a, int32_t b, bool is_unsigned);
  std::string_view source;
};

namespace alu_detail {

constexpr uint32_t u(int32_t a) { return static_cast<uint32_t>(a); }
constexpr int32_t s(uint32_t a) { return static_cast<int32_t>(a); }
constexpr bool less(int32_t a, int32_t b, bool is_unsigned) { return is_unsigned ? u(a) < u(b) : a < b; }
constexpr uint32_t magnitude(int32_t a, bool is_unsigned) { return !is_unsigned && a < 0 ? 0u - u(a) : u(a); }

// Remainder with the sign of the dividend; x rem 0 is 0, as in numpy.
constexpr int32_t remainder(int32_t a, int32_t b, bool is_unsigned) {
  if (b == 0 || (!is_unsigned && b == -1)) return 0;
  return is_unsigned ? s(u(a) % u(b)) : a % b;
}
// Remainder with the sign of the divisor.
constexpr int32_t modulus(int32_t a, int32_t b, bool is_unsigned) {
  const int32_t r = remainder(a, b, is_unsigned);
  return !is_unsigned && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline float modulus(float a, float b) {
  const float r = std::fmod(a, b);
  if (r == 0) return std::copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}
// Negative exponents: 1/a^|b| rounded to zero, as in torch.
constexpr int32_t power(int32_t a, int32_t b, bool is_unsigned) {
  if (!is_unsigned && b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  uint32_t result = 1, base = u(a);
  for (uint32_t e = u(b); e; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return s(result);
}

inline constexpr EngineSet kVector{Engine::vector};
inline constexpr EngineSet kVectorGpsimd{Engine::vector, Engine::gpsimd};
inline constexpr EngineSet kVectorScalarGpsimd{Engine::vector, Engine::scalar, Engine::gpsimd};
inline constexpr EngineSet kGpsimd{Engine::gpsimd};

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr std::string_view kTable = "nki.api.shared: Supported Math Operators";

}  // namespace alu_detail

inline constexpr auto kAluOps = [] {
  using namespace alu_detail;
  using I = int32_t;
  constexpr auto none_f = static_cast<float (*)(float, float)>(nullptr);
  constexpr auto none_i = static_cast<I (*)(I, I, bool)>(nullptr);
  return std::to_array<AluRow>({
      {"bypass", kVectorScalarGpsimd, false, 1, false, 0, [](float a, float) { return a; },
       [](I a, I, bool) { return a; }, "nki.language.bypass"},
      {"invert", kVector, true, 1, false, 0, none_f, [](I a, I, bool) { return ~a; }, kTable},
      {"bitwise_and", kVector, true, 2, true, -1, none_f, [](I a, I b, bool) { return a & b; }, kTable},
      {"bitwise_or", kVector, true, 2, true, 0, none_f, [](I a, I b, bool) { return a | b; }, kTable},
      {"bitwise_xor", kVector, true, 2, true, 0, none_f, [](I a, I b, bool) { return a ^ b; }, kTable},
      {"left_shift", kVector, true, 2, false, 0, none_f, [](I a, I b, bool) { return u(b) > 31 ? 0 : s(u(a) << u(b)); },
       kTable},
      // Logical: the table lists the arithmetic shift as not supported.
      {"right_shift", kVector, true, 2, false, 0, none_f,
       [](I a, I b, bool) { return u(b) > 31 ? 0 : s(u(a) >> u(b)); }, kTable},
      {"add", kVectorScalarGpsimd, false, 2, true, 0, [](float a, float b) { return a + b; },
       [](I a, I b, bool) { return s(u(a) + u(b)); }, kTable},
      {"subtract", kVectorGpsimd, false, 2, true, 0, [](float a, float b) { return a - b; },
       [](I a, I b, bool) { return s(u(a) - u(b)); }, kTable},
      {"multiply", kVectorScalarGpsimd, false, 2, true, 1, [](float a, float b) { return a * b; },
       [](I a, I b, bool) { return s(u(a) * u(b)); }, kTable},
      {"divide", kVectorGpsimd, false, 2, false, 1, [](float a, float b) { return a / b; }, none_i,
       "nki.language.divide; as an ISA operator assumed"},
      {"maximum", kVectorGpsimd, false, 2, true, -kInf, [](float a, float b) { return a != a || a > b ? a : b; },
       [](I a, I b, bool n) { return less(a, b, n) ? b : a; }, kTable},
      {"minimum", kVectorGpsimd, false, 2, true, kInf, [](float a, float b) { return a != a || a < b ? a : b; },
       [](I a, I b, bool n) { return less(b, a, n) ? b : a; }, kTable},
      {"equal", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return a == b ? 1.f : 0.f; },
       [](I a, I b, bool) { return I{a == b}; }, kTable},
      {"not_equal", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return a != b ? 1.f : 0.f; },
       [](I a, I b, bool) { return I{a != b}; }, kTable},
      {"greater_equal", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return a >= b ? 1.f : 0.f; },
       [](I a, I b, bool n) { return I{!less(a, b, n)}; }, kTable},
      {"greater", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return a > b ? 1.f : 0.f; },
       [](I a, I b, bool n) { return I{less(b, a, n)}; }, kTable},
      {"less_equal", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return a <= b ? 1.f : 0.f; },
       [](I a, I b, bool n) { return I{!less(b, a, n)}; }, kTable},
      {"less", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return a < b ? 1.f : 0.f; },
       [](I a, I b, bool n) { return I{less(a, b, n)}; }, kTable},
      {"logical_and", kVectorGpsimd, false, 2, true, 1, [](float a, float b) { return a != 0 && b != 0 ? 1.f : 0.f; },
       [](I a, I b, bool) { return I{a && b}; }, kTable},
      {"logical_or", kVectorGpsimd, false, 2, true, 0, [](float a, float b) { return a != 0 || b != 0 ? 1.f : 0.f; },
       [](I a, I b, bool) { return I{a || b}; }, kTable},
      {"logical_xor", kVectorGpsimd, false, 2, true, 0,
       [](float a, float b) { return (a != 0) != (b != 0) ? 1.f : 0.f; },
       [](I a, I b, bool) { return I{(a != 0) != (b != 0)}; }, kTable},
      {"power", kGpsimd, false, 2, false, 1, [](float a, float b) { return std::pow(a, b); }, power, kTable},
      // The signed value with the larger (smaller) magnitude; a tie gives b (nki.language.abs_max: NeuronCore-v4; the
      // ISA table has no such note).
      {"abs_max", kVectorGpsimd, false, 2, false, 0,
       [](float a, float b) { return a != a || std::fabs(a) > std::fabs(b) ? a : b; },
       [](I a, I b, bool n) { return magnitude(a, n) > magnitude(b, n) ? a : b; }, kTable},
      {"abs_min", kVectorGpsimd, false, 2, false, kInf,
       [](float a, float b) { return a != a || std::fabs(a) < std::fabs(b) ? a : b; },
       [](I a, I b, bool n) { return magnitude(a, n) < magnitude(b, n) ? a : b; }, kTable},
      {"mod", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return modulus(a, b); },
       [](I a, I b, bool n) { return modulus(a, b, n); }, "nki.language.mod; as an ISA operator assumed"},
      {"fmod", kVectorGpsimd, false, 2, false, 0, [](float a, float b) { return std::fmod(a, b); },
       [](I a, I b, bool n) { return remainder(a, b, n); }, "nki.language.fmod; as an ISA operator assumed"},
      {"abs", kVectorGpsimd, false, 1, false, 0, [](float a, float) { return std::fabs(a); },
       [](I a, I, bool n) { return s(magnitude(a, n)); }, kTable},
      {"square", kVectorGpsimd, false, 1, false, 0, [](float a, float) { return a * a; },
       [](I a, I, bool) { return s(u(a) * u(a)); }, kTable},
      {"relu", kVectorGpsimd, false, 1, false, 0, [](float a, float) { return a < 0 ? 0.f : a; },
       [](I a, I, bool n) { return !n && a < 0 ? 0 : a; }, kTable},
      {"rsqrt", kVectorGpsimd, false, 1, false, 0,
       [](float a, float) { return static_cast<float>(1 / std::sqrt(static_cast<double>(a))); }, none_i, kTable},
      {"reciprocal", kVectorGpsimd, false, 1, false, 0, [](float a, float) { return 1 / a; }, none_i, kTable},
  });
}();

constexpr const AluRow& info(AluOp op) { return kAluOps[static_cast<size_t>(op)]; }
constexpr std::string_view name(AluOp op) { return info(op).name; }
constexpr std::optional<AluOp> alu_named(std::string_view text) {
  for (size_t i = 0; i < kAluOps.size(); ++i)
    if (kAluOps[i].name == text) return static_cast<AluOp>(i);
  return std::nullopt;
}

// The dtype that shows an integer element's bits without sign extension: what bitvec operators read and write.
constexpr Dtype bit_pattern(Dtype d) {
  switch (d) {
    case Dtype::int8: return Dtype::uint8;
    case Dtype::int16: return Dtype::uint16;
    case Dtype::int32: return Dtype::uint32;
    case Dtype::int64: return Dtype::uint64;
    default: return d;
  }
}

// Bulk forms, vectorised with run-time dispatch; the same bits as `on_float` / `on_int` on every CPU. `dst` may be one
// of the inputs. The form with a scalar first is nki.isa's reverse flag. Unary operators read the array operand in
// every form. The operator must have the form (on_float, on_int).
void apply_float(AluOp op, float* dst, const float* a, const float* b, size_t n);
void apply_float(AluOp op, float* dst, const float* a, float b, size_t n);
void apply_float(AluOp op, float* dst, float a, const float* b, size_t n);
void apply_int(AluOp op, bool is_unsigned, int32_t* dst, const int32_t* a, const int32_t* b, size_t n);
void apply_int(AluOp op, bool is_unsigned, int32_t* dst, const int32_t* a, int32_t b, size_t n);
void apply_int(AluOp op, bool is_unsigned, int32_t* dst, int32_t a, const int32_t* b, size_t n);

// Reduction of n >= 1 elements. The order is fixed: 16 interleaved partial results (element i joins partial i mod 16),
// then a binary tree; so the bits depend on neither CPU nor threads. subtract is a[0] - (a[1] + a[2] + ...).
float reduce_float(AluOp op, const float* a, size_t n);
int32_t reduce_int(AluOp op, bool is_unsigned, const int32_t* a, size_t n);

// nki.isa.tensor_tensor_scan of one partition: r[i] = op1(op0(data0[i], r[i-1]), data1[i]), r[-1] = initial; the
// reverse flags swap an operator's operands. Strictly in order, in fp32. `dst` may be one of the inputs.
struct ScanOps {
  AluOp op0, op1;
  bool reverse0 = false, reverse1 = false;
};
void scan_float(const ScanOps& ops, float* dst, const float* data0, const float* data1, float initial, size_t n);

}  // namespace trn
