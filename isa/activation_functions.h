#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace trn {

// Functions of the Scalar engine (nki.api.shared: "Supported Activation Functions"), then nki.language functions that
// it also evaluates here, then functions that only the compiler uses. Names are nki.language's or numpy's. A function's
// number is its place; append, so that older executables load.
enum class Activation : uint8_t {
  copy,
  square,
  sigmoid,
  relu,
  prelu,
  gelu,
  gelu_dx,
  gelu_apprx_tanh,
  gelu_apprx_sigmoid,
  gelu_apprx_sigmoid_dx,
  silu,
  silu_dx,
  tanh,
  softplus,
  mish,
  erf,
  erf_dx,
  exp,
  log,
  sin,
  arctan,
  sqrt,
  rsqrt,
  reciprocal,
  sign,
  abs,
  cos,
  tan,
  floor,
  ceil,
  trunc,
  round,
  exp2,
  expm1,
  log2,
  log10,
  log1p,
  sinh,
  cosh,
  arcsin,
  arccos,
  arcsinh,
  arccosh,
  arctanh,
  erfc,
  erfinv,
  lgamma,
  digamma
};

// Where a function is published. `assumed`: the public table does not list it; the hardware's tables are programmable,
// so the compiler may have it.
enum class ActivationSource : uint8_t { isa_table, nki_language, assumed };

constexpr std::string_view name(ActivationSource s) {
  constexpr std::string_view names[] = {"nki.api.shared", "nki.language", "assumed"};
  return names[static_cast<int>(s)];
}

struct ActivationRow {
  std::string_view name;
  ActivationSource source;

  // Table that must be loaded; 0 = none, any will do. exp and log share one
  // (neuron-runtime/explore/work-with-neff-files names the sets of an executable: natural_log_exp_and_others,
  // gelu_and_others, reciprocal_and_small, reciprocal_sqrt_and_small); copies beside exp load nothing (public
  // profiles); the rest is assumed.
  int table;
  double least, most;  // published valid input range; reciprocal's holds for the magnitude
};

inline constexpr auto kActivations = [] {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr auto isa = ActivationSource::isa_table, nl = ActivationSource::nki_language,
                 own = ActivationSource::assumed;
  return std::to_array<ActivationRow>({
      {"copy", isa, 0, -inf, inf},
      {"square", isa, 0, -inf, inf},
      {"sigmoid", isa, 1, -inf, inf},
      {"relu", isa, 0, -inf, inf},
      {"prelu", isa, 0, -inf, inf},
      {"gelu", isa, 2, -inf, inf},
      {"gelu_dx", isa, 3, -inf, inf},
      {"gelu_apprx_tanh", isa, 4, -inf, inf},
      {"gelu_apprx_sigmoid", isa, 5, -inf, inf},
      {"gelu_apprx_sigmoid_dx", isa, 6, -inf, inf},
      {"silu", isa, 7, -inf, inf},
      {"silu_dx", isa, 8, -inf, inf},
      {"tanh", isa, 9, -inf, inf},
      {"softplus", isa, 10, -inf, inf},
      {"mish", isa, 11, -inf, inf},
      {"erf", isa, 12, -inf, inf},
      {"erf_dx", isa, 13, -inf, inf},
      {"exp", isa, 14, -inf, inf},
      {"log", isa, 14, 0x1p-64, 0x1p64},
      {"sin", isa, 16, -3.14159265358979, 3.14159265358979},
      {"arctan", isa, 17, -1.5707963267949, 1.5707963267949},
      {"sqrt", isa, 18, 0x1p-116, 0x1p118},
      {"rsqrt", isa, 19, 0x1p-87, 0x1p97},
      {"reciprocal", isa, 20, 0x1p-42, 0x1p42},
      {"sign", isa, 0, -inf, inf},
      {"abs", isa, 0, -inf, inf},
      {"cos", nl, 16, -inf, inf},
      {"tan", nl, 21, -inf, inf},
      {"floor", nl, 0, -inf, inf},
      {"ceil", nl, 0, -inf, inf},
      {"trunc", nl, 0, -inf, inf},
      {"round", own, 0, -inf, inf},
      {"exp2", own, 14, -inf, inf},
      {"expm1", own, 22, -inf, inf},
      {"log2", own, 14, 0, inf},
      {"log10", own, 14, 0, inf},
      {"log1p", own, 23, -1, inf},
      {"sinh", own, 24, -inf, inf},
      {"cosh", own, 24, -inf, inf},
      {"arcsin", own, 25, -1, 1},
      {"arccos", own, 25, -1, 1},
      {"arcsinh", own, 26, -inf, inf},
      {"arccosh", own, 26, 1, inf},
      {"arctanh", own, 27, -1, 1},
      {"erfc", own, 28, -inf, inf},
      {"erfinv", own, 29, -1, 1},
      {"lgamma", own, 30, -inf, inf},
      {"digamma", own, 31, -inf, inf},
  });
}();

constexpr const ActivationRow& info(Activation f) { return kActivations[static_cast<size_t>(f)]; }
constexpr std::string_view name(Activation f) { return info(f).name; }
constexpr std::optional<Activation> activation_named(std::string_view text) {
  for (size_t i = 0; i < kActivations.size(); ++i)
    if (kActivations[i].name == text) return static_cast<Activation>(i);
  return std::nullopt;
}

// dst[i] = f(src[i]). `dst` may be `src`. The real function over all of fp32, computed in fp64 and rounded once: within
// 0.51 units in the last place. Not the hardware's piecewise polynomial, whose coefficients are not public, nor what
// that gives outside its valid range. Special values as in IEEE 754 and PyTorch. Vectorised with run-time dispatch and
// the same bits on every CPU, except the functions that call the C library: arcsin to arctanh, lgamma, and trigonometry
// beyond 2^22. `slope` is prelu's for negative inputs.
void apply_activation(Activation f, float* dst, const float* src, size_t n, float slope = 0);

}  // namespace trn
