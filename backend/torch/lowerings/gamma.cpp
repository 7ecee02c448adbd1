#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "backend/torch/lowerings/approximation.h"
#include "backend/torch/lowerings/lowering.h"

// Polygamma, Hurwitz's zeta, the incomplete gamma functions, and what belongs to the normal distribution.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// sum over k >= 0 of (x + k)^-s by Euler and Maclaurin: `kTerms` terms, the integral of the rest and three corrections
// (Abramowitz and Stegun 23.2.5). Below -kTerms + 8 the rest is no power series: not a number.
constexpr int kTerms = 40;
Value hurwitz_zeta(Value s, Value x) {
  Value total = like(x, 0);
  const Value exponent = -s;
  for (int k = 0; k < kTerms; ++k) total = total + apply(AluOp::power, x + static_cast<double>(k), exponent);
  const Value end = x + static_cast<double>(kTerms), power = apply(AluOp::power, end, exponent);
  total = total + power * end / (s - 1) + power * 0.5;
  constexpr std::array bernoulli = {1.0 / 12, -1.0 / 720, 1.0 / 30240};
  Value falling = power / end, factor = s;
  for (size_t j = 0; j < bernoulli.size(); ++j) {
    total = total + falling * factor * bernoulli[j];
    falling = falling / end / end;
    factor = factor * (s + (2.0 * static_cast<double>(j) + 1)) * (s + (2.0 * static_cast<double>(j) + 2));
  }
  return where(end < 8, kNan, total);
}
Value is_pole(Value x) { return logical_and(x <= 0, equal(x, floor(x))); }
void zeta(Call& c) {
  const Value s = c.arg_float(0), x = c.arg_float(1), pole = is_pole(x);
  const Value y = hurwitz_zeta(where(s > 1, s, 2), where(pole, 1, x));
  const Value no_power = logical_and(x < 0, not_equal(s, floor(s)));
  const Value sum = s + x, inner = where(logical_or(no_power, not_equal(sum, sum)), kNan, y);
  c.out(0, where(equal(s, 1), kInf, where(s < 1, kNan, where(pole, kInf, inner))));
}
void polygamma(Call& c) {
  const auto n = static_cast<int>(c.integer(0));
  const Value x = c.arg_float(1);
  if (n == 0) return c.out(0, apply(Activation::digamma, x));
  const double sign = n % 2 == 1 ? 1 : -1;
  const Value pole = is_pole(x);
  const Value y = hurwitz_zeta(like(x, n + 1), where(pole, 1, x)) * (sign * std::tgamma(n + 1.0));
  c.out(0, where(pole, sign * kInf, y));
}

// ---- incomplete gamma functions, regularised: P(a, x) and Q = 1 - P ----

struct Incomplete {
  Value p, q;
};
constexpr int kDepth = 40;           // of the series and of the continued fraction, for a up to
constexpr double kUniformFrom = 32;  // from which Temme's expansion is exact to fp32

// x^a exp(-x) / gamma(a + 1)
Value front(Value a, Value x) { return exp(a * log(x) - x - apply(Activation::lgamma, a + 1)); }
// x < a + 1: the series of Abramowitz and Stegun 6.5.29.
Value lower_series(Value a, Value x) {
  Value term = like(x, 1), total = term;
  for (int n = 1; n <= kDepth; ++n) {
    term = term * x / (a + static_cast<double>(n));
    total = total + term;
  }
  return front(a, x) * total;
}
// x >= a + 1: Legendre's continued fraction, 6.5.31 contracted.
Value upper_fraction(Value a, Value x) {
  const Value base = x - a;
  Value f = base + (2.0 * kDepth + 1);
  for (int i = kDepth; i > 0; --i) f = base + (2.0 * i - 1) - (static_cast<double>(i) - a) * static_cast<double>(i) / f;
  return front(a, x) * a / f;
}
// Temme's uniform expansion (DLMF 8.12.3), with the first two of its coefficients: below kNear, where their closed
// forms cancel, as power series (DLMF 8.12.11; Temme 1979).
Incomplete uniform(Value a, Value x) {
  constexpr double kNear = 0.3;
  const Value mu = (x - a) / a, size = absolute(mu), near = size < kNear;
  const Value small = where(near, mu, 0), large = where(near, 1, mu);
  const Value near_phi = small * small *
                         polynomial(small, {1.0 / 2, -1.0 / 3, 1.0 / 4, -1.0 / 5, 1.0 / 6, -1.0 / 7, 1.0 / 8, -1.0 / 9,
                                            1.0 / 10, -1.0 / 11, 1.0 / 12, -1.0 / 13});
  const Value phi = where(near, near_phi, large - apply(Activation::log1p, large));
  const Value root = sqrt(phi * 2), eta = where(mu < 0, -root, root);
  const Value near_eta = where(near, eta, 0), far_eta = where(near, 1, eta);
  const Value c0 = where(near,
                         polynomial(near_eta, {-1.0 / 3, 1.0 / 12, -2.0 / 135, 1.0 / 864, 1.0 / 2835, -139.0 / 777600,
                                               1.0 / 25515, -571.0 / 261273600}),
                         1.0 / large - 1.0 / far_eta);
  const Value by = 1.0 / large;
  const Value c1 = where(near, polynomial(near_eta, {-1.0 / 540, -1.0 / 288, 1.0 / 378, -77.0 / 77760, 1.0 / 4860}),
                         1.0 / (far_eta * far_eta * far_eta) - by * by * by - by * by - by / 12);
  const Value rest = exp(-a * phi) * rsqrt(a * (2 * std::numbers::pi)) * (c0 + c1 / a);
  const Value z = eta * sqrt(a / 2);
  return {apply(Activation::erfc, -z) * 0.5 - rest, apply(Activation::erfc, z) * 0.5 + rest};
}

Incomplete incomplete_gamma(Call& c) {
  const Value a = c.arg_float(0), x = c.arg_float(1);
  const Value inside = logical_and(logical_and(a > 0, x > 0), logical_and(a < kInf, x < kInf));
  const Value is_small = a < kUniformFrom;
  const Value some_a = where(inside, a, 1), some_x = where(inside, x, 1);
  const Value below = where(is_small, some_a, 1), x_below = where(is_small, some_x, 1);
  const Value by_series = x_below < below + 1;
  const Value p = lower_series(below, where(by_series, x_below, 1));
  const Value q = upper_fraction(below, where(by_series, below + 1, x_below));
  const Incomplete wide = uniform(where(is_small, kUniformFrom, some_a), where(is_small, kUniformFrom, some_x));
  Incomplete y{where(is_small, where(by_series, p, 1.0 - q), wide.p),
               where(is_small, where(by_series, 1.0 - p, q), wide.q)};
  const Value sum = a + x;  // not a number if one is none; what follows goes before that, as in PyTorch
  const auto with_edges = [&](Value v, double all, double none) {
    v = where(equal(sum, sum), v, kNan);
    v = where(equal(x, kInf), all, v);
    v = where(equal(a, kInf), where(equal(x, kInf), kNan, like(v, none)), v);
    v = where(equal(x, 0), none, v);
    v = where(equal(a, 0), where(x > 0, all, like(v, kNan)), v);
    return where(logical_or(x < 0, a < 0), kNan, v);
  };
  return {with_edges(y.p, 1, 0), with_edges(y.q, 0, 1)};
}
void igamma(Call& c) { c.out(0, incomplete_gamma(c).p); }
void igammac(Call& c) { c.out(0, incomplete_gamma(c).q); }

// ---- the normal distribution ----

// exp(x^2) erfc(x) of x >= 0: a Chebyshev fit in 1 / (1 + x / 2), relative error 1.2e-7 (Press et al., Numerical
// Recipes, erfcc).
Value erfcx_above_zero(Value x) {
  const Value t = 1.0 / (x * 0.5 + 1);
  return t * exp(polynomial(t, {-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398,
                                1.48851587, -0.82215223, 0.17087277}));
}
void erfcx(Call& c) {
  const Value x = c.arg_float(0), y = erfcx_above_zero(absolute(x));
  c.out(0, where(x < 0, exp(x * x) * 2 - y, y));
}
// log of the normal distribution function at -y, y >= 0.
Value log_lower_tail(Value y) { return log(erfcx_above_zero(y / std::numbers::sqrt2) * 0.5) - y * y * 0.5; }
void log_ndtr(Call& c) {
  const Value x = c.arg_float(0);
  const Value upper = apply(Activation::log1p, apply(Activation::erfc, x / std::numbers::sqrt2) * -0.5);
  c.out(0, where(x < -1, log_lower_tail(maximum(-x, 1)), upper));
}
// Towards the ends Newton's method on the logarithm, which falls like -y^2 / 2.
void ndtri(Call& c) {
  constexpr double kTail = 0.02;
  const Value p = c.arg_float(0), tail = minimum(p, 1.0 - p);
  const Value center = apply(Activation::erfinv, p * 2 - 1) * std::numbers::sqrt2;
  const Value target = log(minimum(where(tail > 0, tail, kTail), kTail)), twice = target * -2;
  Value y = sqrt(twice - std::log(2 * std::numbers::pi) - log(twice));
  for (int i = 0; i < 3; ++i) {
    const Value slope = std::sqrt(2 / std::numbers::pi) / erfcx_above_zero(y / std::numbers::sqrt2);
    y = y + (log_lower_tail(y) - target) / slope;
  }
  const Value inner = where(tail < kTail, where(p < 0.5, -y, y), center);
  const Value ends = where(equal(p, 0), -kInf, where(equal(p, 1), kInf, inner));
  c.out(0, where(logical_and(p >= 0, p <= 1), ends, kNan));
}

constexpr Row kRows[] = {
    {"polygamma", polygamma, "", "not a number below -32"},
    {"special_zeta", zeta, "", "not a number of places below -32"},
    {"igamma", igamma},
    {"igammac", igammac},
    {"special_erfcx", erfcx},
    {"special_log_ndtr", log_ndtr},
    {"special_ndtri", ndtri},
};

}  // namespace

std::span<const Row> gamma_rows() { return kRows; }

}  // namespace trn::torch_backend
