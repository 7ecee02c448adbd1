#include "isa/activation_scalar.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace trn {

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
}  // namespace

double erfinv(double y) {
  const double a = std::fabs(y);
  if (!(a < 1)) return a == 1 ? std::copysign(kInfinity, y) : kNan;
  if (a == 0) return y;
  // S. Winitzki's closed form (2008) is within 0.2 %; Halley's method cubes the error at each step. Near 1 the
  // complement keeps the digits.
  const double w = std::log((1 - a) * (1 + a)), b = 2 / (std::numbers::pi * 0.147) + w / 2;
  double x = std::sqrt(std::sqrt(b * b - w / 0.147) - b);
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(x) - a : (1 - a) - std::erfc(x);
    const double step = error / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return std::copysign(x, y);
}

double lgamma_of(double x) {
  int sign = 0;  // the reentrant form: std::lgamma writes a global
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    const double r = x - std::floor(x);  // tan's argument, reduced exactly
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * r);
  }
  if (std::isinf(x)) return x;
  double shift = 0;
  for (; x < 10; ++x) shift -= 1 / x;
  // Asymptotic series with Bernoulli numbers.
  const double z = 1 / (x * x);
  const double series =
      z *
      (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return shift + std::log(x) - 0.5 / x - series;
}

}  // namespace trn
