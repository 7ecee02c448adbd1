#include <array>
#include <cmath>
#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Number theory and special functions that no engine has.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Euclid's steps at most: two Fibonacci neighbours are the worst.
int euclid_steps(Dtype d) { return size_of(d) == 1 ? 12 : size_of(d) == 2 ? 24 : 46; }

Value greatest_divisor(Value a, Value b, Dtype d) {
  a = absolute(a);
  b = absolute(b);
  for (int i = 0; i < euclid_steps(d); ++i) {
    const Value done = equal(b, 0), rest = apply(AluOp::fmod, a, where(done, 1, b));
    a = where(done, a, b);
    b = where(done, 0, rest);
  }
  return a;
}
void gcd(Call& c) { c.out(0, greatest_divisor(to_int(c.in(0)), to_int(c.in(1)), c.dtype(0))); }
void lcm(Call& c) {
  const Value a = to_int(c.in(0)), b = to_int(c.in(1)), g = greatest_divisor(a, b, c.dtype(0));
  const Value part = integer_quotient(a, where(equal(g, 0), 1, g), Rounding::to_zero);
  c.out(0, absolute(part * b));
}

Value polynomial(Value x, std::initializer_list<double> coefficients) {  // from the constant on
  Value y{};
  for (auto k = std::rbegin(coefficients); k != std::rend(coefficients); ++k) y = y.g ? y * x + *k : like(x, *k);
  return y;
}

// Modified Bessel functions times exp(-|x|): Abramowitz and Stegun 9.8.1 to 9.8.4, relative error below 5e-7.
Value bessel_i0e(Value x) {
  const Value far = absolute(x), near = minimum(far, 3.75) / 3.75;
  const Value small = polynomial(near * near, {1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813});
  const Value large = polynomial(
      3.75 / maximum(far, 3.75),
      {0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377});
  return where(far < 3.75, small * exp(-minimum(far, 3.75)), large * rsqrt(maximum(far, 3.75)));
}
Value bessel_i1e(Value x) {
  const Value far = absolute(x), near = minimum(far, 3.75) / 3.75;
  const Value small =
      polynomial(near * near, {0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411});
  const Value large =
      polynomial(3.75 / maximum(far, 3.75), {0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967,
                                             -0.02895312, 0.01787654, -0.00420059});
  const Value y = where(far < 3.75, small * far * exp(-minimum(far, 3.75)), large * rsqrt(maximum(far, 3.75)));
  return where(x < 0, -y, y);
}
void i0(Call& c) { c.out(0, bessel_i0e(c.arg_float(0)) * exp(absolute(c.arg_float(0)))); }
void i0e(Call& c) { c.out(0, bessel_i0e(c.arg_float(0))); }
void i1(Call& c) { c.out(0, bessel_i1e(c.arg_float(0)) * exp(absolute(c.arg_float(0)))); }
void i1e(Call& c) { c.out(0, bessel_i1e(c.arg_float(0))); }

// sum over k >= 0 of (x + k)^-s by Euler and Maclaurin: `kTerms` terms, the integral of the rest and three corrections
// (Abramowitz and Stegun 23.2.5). Below -kTerms + 8 the rest is no power series: not a number.
constexpr int kTerms = 40;
Value hurwitz_zeta(double s, Value x) {
  Value total = like(x, 0);
  for (int k = 0; k < kTerms; ++k) total = total + apply(AluOp::power, x + static_cast<double>(k), -s);
  const Value end = x + static_cast<double>(kTerms), power = apply(AluOp::power, end, -s);
  total = total + power * end / (s - 1) + power * 0.5;
  constexpr std::array bernoulli = {1.0 / 12, -1.0 / 720, 1.0 / 30240};
  Value falling = power / end;
  double factor = s;
  for (size_t j = 0; j < bernoulli.size(); ++j) {
    total = total + falling * (factor * bernoulli[j]);
    falling = falling / end / end;
    factor *= (s + 2 * static_cast<double>(j) + 1) * (s + 2 * static_cast<double>(j) + 2);
  }
  return where(end < 8, kNan, total);
}
void polygamma(Call& c) {
  const auto n = static_cast<int>(c.integer(0));
  const Value x = c.arg_float(1);
  if (n == 0) return c.out(0, apply(Activation::digamma, x));
  const double sign = n % 2 == 1 ? 1 : -1;
  const Value pole = logical_and(x <= 0, equal(x, apply(Activation::floor, x)));
  const Value y = hurwitz_zeta(n + 1, where(pole, 1, x)) * (sign * std::tgamma(n + 1.0));
  c.out(0, where(pole, sign * kInf, y));
}

void entropy(Call& c) {
  const Value x = c.arg_float(0);
  const Value y = where(equal(x, 0), 0, where(x < 0, -kInf, -x * log(where(x > 0, x, 1))));
  c.out(0, where(equal(x, x), y, x));
}

constexpr Row kRows[] = {
    {"gcd", gcd},
    {"lcm", lcm},
    {"i0", i0},
    {"special_i0e", i0e},
    {"special_i1", i1},
    {"special_i1e", i1e},
    {"special_modified_bessel_i0", i0},
    {"special_modified_bessel_i1", i1},
    {"special_entr", entropy},
    {"polygamma", polygamma, "", "not a number below -32"},
};

}  // namespace

std::span<const Row> special_rows() { return kRows; }

}  // namespace trn::torch_backend
