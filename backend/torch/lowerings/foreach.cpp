#include "backend/torch/lowerings/lowering.h"

// _foreach_ operators: one Program for a list, each item as its own row has it. Lists of numbers come as one number
// (composites.cpp).
namespace trn::torch_backend {
namespace {

constexpr Row each(std::string_view op, std::string_view row, std::string_view runtime = "") {
  Row r{op, nullptr, runtime, "one Program for the whole list"};
  r.each = row;
  return r;
}

constexpr Row kRows[] = {
    each("_foreach_add.Scalar", "add.Scalar", "scalar"),
    each("_foreach_add.List", "add.Tensor", "=alpha"),
    each("_foreach_add.Tensor", "add.Tensor", "=alpha"),
    each("_foreach_sub.Scalar", "sub.Scalar", "scalar"),
    each("_foreach_sub.List", "sub.Tensor", "=alpha"),
    each("_foreach_mul.Scalar", "mul.Scalar", "scalar"),
    each("_foreach_mul.List", "mul.Tensor"),
    each("_foreach_mul.Tensor", "mul.Tensor"),
    each("_foreach_div.Scalar", "div.Scalar", "scalar"),
    each("_foreach_div.List", "div.Tensor"),
    each("_foreach_div.Tensor", "div.Tensor"),
    each("_foreach_clamp_min.Scalar", "clamp_min", "scalar"),
    each("_foreach_clamp_min.List", "clamp_min.Tensor"),
    each("_foreach_clamp_max.Scalar", "clamp_max", "scalar"),
    each("_foreach_clamp_max.List", "clamp_max.Tensor"),
    each("_foreach_maximum.Scalar", "clamp_min", "scalar"),
    each("_foreach_maximum.List", "clamp_min.Tensor"),
    each("_foreach_minimum.Scalar", "clamp_max", "scalar"),
    each("_foreach_minimum.List", "clamp_max.Tensor"),
    each("_foreach_pow.Scalar", "pow.Tensor_Scalar"),
    each("_foreach_pow.List", "pow.Tensor_Tensor"),
    each("_foreach_pow.ScalarAndTensor", "pow.Scalar", "self"),
    each("_foreach_addcmul.Scalar", "addcmul", "=value"),
    each("_foreach_addcdiv.Scalar", "addcdiv", "=value"),
    each("_foreach_lerp.Scalar", "lerp.Scalar", "weight"),
    each("_foreach_lerp.List", "lerp.Tensor"),
    each("_foreach_norm.Scalar", "norm.Scalar"),
    each("_foreach_max", "max"),
    each("_foreach_abs", "abs"),
    each("_foreach_ceil", "ceil"),
    each("_foreach_cos", "cos"),
    each("_foreach_erf", "erf"),
    each("_foreach_exp", "exp"),
    each("_foreach_expm1", "expm1"),
    each("_foreach_floor", "floor"),
    each("_foreach_frac", "frac"),
    each("_foreach_log", "log"),
    each("_foreach_log10", "log10"),
    each("_foreach_log1p", "log1p"),
    each("_foreach_log2", "log2"),
    each("_foreach_neg", "neg"),
    each("_foreach_reciprocal", "reciprocal"),
    each("_foreach_round", "round"),
    each("_foreach_rsqrt", "rsqrt"),
    each("_foreach_sigmoid", "sigmoid"),
    each("_foreach_sign", "sign"),
    each("_foreach_sin", "sin"),
    each("_foreach_sqrt", "sqrt"),
    each("_foreach_tan", "tan"),
    each("_foreach_tanh", "tanh"),
    each("_foreach_trunc", "trunc"),
    each("_foreach_zero", "zero_"),
};

}  // namespace

std::span<const Row> foreach_rows() { return kRows; }

}  // namespace trn::torch_backend
