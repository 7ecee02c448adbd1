#include <cmath>
#include <limits>
#include <numbers>

#include "backend/torch/lowerings/approximation.h"
#include "backend/torch/lowerings/complex.h"

// aten ops of one tensor, element by element.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <Activation F>
void function(Call& c) {
  c.out(0, apply(F, c.arg_float(0)));
}

// floor and its kin leave integers alone.
template <Activation F>
void rounding(Call& c) {
  const Value x = c.arg(0);
  c.out(0, x.is_float() ? apply(F, x) : x);
}

template <Value (*F)(Value)>
void on(Call& c) {
  c.out(0, F(c.arg(0)));
}

Value bitwise_not(Value x) {
  if (x.dtype() == Dtype::boolean) return logical_not(x);
  return {x.g, x.g->map(AluOp::invert, x.id)};
}

Value negative(Value x) { return -x; }
Value is_nan(Value x) { return not_equal(x, x); }
Value is_infinite(Value x) { return x.is_float() ? equal(absolute(x), kInf) : not_equal(x, x); }
Value is_positive_infinity(Value x) { return x.is_float() ? equal(x, kInf) : not_equal(x, x); }
Value is_negative_infinity(Value x) { return x.is_float() ? equal(x, -kInf) : not_equal(x, x); }
Value fraction(Value x) { return x - trunc(x); }
Value relu(Value x) { return x.is_float() ? apply(Activation::relu, x) : maximum(x, 0); }

// sign bit, also of -0: 1/-0 is -inf. NaN's sign is not visible to the engines.
Value sign_bit(Value x) { return x.is_float() ? logical_or(x < 0, logical_and(equal(x, 0), 1.0 / x < 0)) : x < 0; }

void sinc(Call& c) {
  const Value x = c.arg_float(0) * std::numbers::pi;
  c.out(0, where(equal(x, 0), 1, apply(Activation::sin, reduced_angle(x)) / x));
}

void logit(Call& c) {
  Value x = c.arg_float(0);
  if (c.present(1)) {
    const double eps = c.constant(1);
    x = minimum(maximum(x, eps), 1 - eps);
  }
  c.out(0, log(x / (1.0 - x)));
}

void nan_to_num(Call& c) {
  const Value x = c.arg(0);
  if (!x.is_float()) return c.out(0, x);
  const Dtype d = c.dtype(0);
  const double largest = d == Dtype::float16    ? 65504.0
                         : d == Dtype::bfloat16 ? 0x1.FEp127
                                                : std::numeric_limits<float>::max();
  const double nan = c.present(1) ? c.constant(1) : 0;
  const double high = c.present(2) ? c.constant(2) : largest;
  const double low = c.present(3) ? c.constant(3) : -largest;
  Value y = where(is_nan(x), nan, x);
  y = where(equal(x, kInf), high, y);
  c.out(0, where(equal(x, -kInf), low, y));
}

void round_decimals(Call& c) {
  const double scale = std::pow(10.0, static_cast<double>(c.integer(1)));
  c.out(0, apply(Activation::round, c.arg_float(0) * scale) / scale);
}

void mvlgamma(Call& c) {
  const Value x = c.arg_float(0);
  const auto p = static_cast<int>(c.integer(1));
  Value y = c.constant_value(p * (p - 1) / 4.0 * std::log(std::numbers::pi));
  for (int i = 0; i < p; ++i) y = y + apply(Activation::lgamma, x - i / 2.0);
  c.out(0, y);
}

void heaviside(Call& c) {
  const Value x = c.arg(0);
  const Value at_zero = c.arg(1);
  const Value step = where(x > 0, like(x, 1), like(x, 0));
  c.out(0, where(equal(x, 0), at_zero, step));
}

void absolute_or_magnitude(Call& c) { c.out(0, c.complex(0) ? magnitude(complex_arg(c, 0)) : absolute(c.arg(0))); }
void angle(Call& c) {
  if (c.complex(0)) {
    const Complex z = complex_arg(c, 0);
    return c.out(0, angle_of(z.im, z.re));
  }
  const Value x = c.arg_float(0);
  c.out(0, where(is_nan(x), x, where(x < 0, like(x, std::numbers::pi), like(x, 0))));
}
void sgn(Call& c) {
  if (!c.complex(0)) return c.out(0, sign(c.arg(0)));
  const Complex z = complex_arg(c, 0);
  const Value size = magnitude(z), nothing = equal(size, 0);
  give(c, 0, {where(nothing, 0, z.re / size), where(nothing, 0, z.im / size)});
}
Complex on_circle(Value radius, Value x) {
  x = reduced_angle(x);
  return {radius * apply(Activation::cos, x), radius * apply(Activation::sin, x)};
}
void exponential(Call& c) {
  if (!c.complex(0)) return c.out(0, exp(c.arg_float(0)));
  const Complex z = complex_arg(c, 0);
  give(c, 0, on_circle(exp(z.re), z.im));
}
void inverse(Call& c) {
  if (c.complex(0)) return give(c, 0, reciprocal(complex_arg(c, 0)));
  c.out(0, apply(Activation::reciprocal, c.arg_float(0)));
}
void make_complex(Call& c) { give(c, 0, {c.arg_float(0), c.arg_float(1)}); }

void polar(Call& c) { give(c, 0, on_circle(c.arg_float(0), c.arg_float(1))); }

void conjugate(Call& c) {
  const Value x = c.in(0);
  c.out(0, c.complex(0) ? concat({slice(x, -1, 0, 1), -slice(x, -1, 1, 2)}, -1) : x);
}

constexpr Row kRows[] = {
    {"neg", on<negative>, "", "complex64 too", Complex64::parts},
    {"abs", absolute_or_magnitude, "", "complex64 too", Complex64::pairs},
    {"sign", on<sign>},
    {"sgn", sgn, "", "complex64 too", Complex64::pairs},
    {"exp", exponential, "", "complex64 too", Complex64::pairs},
    {"exp2", function<Activation::exp2>},
    {"expm1", function<Activation::expm1>},
    {"log", function<Activation::log>},
    {"log2", function<Activation::log2>},
    {"log10", function<Activation::log10>},
    {"log1p", function<Activation::log1p>},
    {"sqrt", function<Activation::sqrt>},
    {"rsqrt", function<Activation::rsqrt>},
    {"reciprocal", inverse, "", "complex64 too", Complex64::pairs},
    {"sin", function<Activation::sin>},
    {"cos", function<Activation::cos>},
    {"tan", function<Activation::tan>},
    {"asin", function<Activation::arcsin>},
    {"acos", function<Activation::arccos>},
    {"atan", function<Activation::arctan>},
    {"sinh", function<Activation::sinh>},
    {"cosh", function<Activation::cosh>},
    {"tanh", function<Activation::tanh>},
    {"asinh", function<Activation::arcsinh>},
    {"acosh", function<Activation::arccosh>},
    {"atanh", function<Activation::arctanh>},
    {"sigmoid", function<Activation::sigmoid>},
    {"erf", function<Activation::erf>},
    {"erfc", function<Activation::erfc>},
    {"erfinv", function<Activation::erfinv>},
    {"lgamma", function<Activation::lgamma>},
    {"digamma", function<Activation::digamma>},
    {"floor", rounding<Activation::floor>},
    {"ceil", rounding<Activation::ceil>},
    {"trunc", rounding<Activation::trunc>},
    {"round", rounding<Activation::round>},
    {"round.decimals", round_decimals},
    {"frac", on<fraction>},
    {"relu", on<relu>},
    {"bitwise_not", on<bitwise_not>},
    {"logical_not", on<logical_not>},
    {"isnan", on<is_nan>},
    {"isinf", on<is_infinite>},
    {"isposinf", on<is_positive_infinity>},
    {"isneginf", on<is_negative_infinity>},
    {"signbit", on<sign_bit>},
    {"sinc", sinc},
    {"logit", logit},
    {"nan_to_num", nan_to_num},
    {"mvlgamma", mvlgamma},
    {"heaviside", heaviside},
    {"angle", angle, "", "complex64 too", Complex64::pairs},
    {"complex", make_complex, "", "complex64", Complex64::pairs},
    {"polar", polar, "", "complex64", Complex64::pairs},
    {"_conj_physical", conjugate, "", "complex64 too", Complex64::pairs},
};

}  // namespace

std::span<const Row> unary_rows() { return kRows; }

}  // namespace trn::torch_backend
