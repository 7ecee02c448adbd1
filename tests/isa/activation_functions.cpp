#include "isa/activation_functions.h"

#include <hwy/targets.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <vector>

using namespace trn;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The same functions from the C library's long double, whose 64-bit mantissa is exact enough to judge fp32.
using Real = long double;
constexpr Real kPi = std::numbers::pi_v<Real>;

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }
Real below(Real x) { return std::erfc(-x / std::sqrt(Real{2})) / 2; }
Real density(Real x) { return std::exp(-x * x / 2) / std::sqrt(2 * kPi); }

struct Reference {
  Activation function;
  Real (*exact)(Real);
  double ulps;  // allowed error in units of the result's last place
  Real least, most;
  Real absolute = 0;  // more, where the result crosses zero
};

const std::vector<Reference> kReferences = {
    {Activation::square, [](Real x) { return x * x; }, 0.51, -1e19L, 1e19L},
    {Activation::sigmoid, sigmoid, 0.51, -120, 120},
    {Activation::gelu, [](Real x) { return x * below(x); }, 0.51, -14, 100},
    {Activation::gelu_dx, [](Real x) { return below(x) + x * density(x); }, 0.51, -14, 20, 1e-11L},
    {Activation::gelu_apprx_tanh,
     [](Real x) { return x * sigmoid(2 * std::sqrt(2 / kPi) * (x + 0.044715L * x * x * x)); }, 0.51, -10, 100},
    {Activation::gelu_apprx_sigmoid, [](Real x) { return x * sigmoid(1.702L * x); }, 0.51, -50, 100},
    {Activation::gelu_apprx_sigmoid_dx,
     [](Real x) {
       const Real s = sigmoid(1.702L * x);
       return s + 1.702L * x * s * (1 - s);
     },
     0.51, -50, 60, 1e-11L},
    {Activation::silu, [](Real x) { return x * sigmoid(x); }, 0.51, -100, 100},
    {Activation::silu_dx, [](Real x) { return sigmoid(x) * (1 + x * (1 - sigmoid(x))); }, 0.51, -80, 80, 1e-11L},
    {Activation::tanh, [](Real x) { return std::tanh(x); }, 0.51, -20, 20},
    {Activation::softplus, [](Real x) { return std::log1p(std::exp(x)); }, 0.51, -100, 100},
    {Activation::mish, [](Real x) { return x * std::tanh(std::log1p(std::exp(x))); }, 0.51, -100, 100},
    {Activation::erf, [](Real x) { return std::erf(x); }, 0.51, -6, 6},
    {Activation::erf_dx, [](Real x) { return 2 / std::sqrt(kPi) * std::exp(-x * x); }, 0.51, -10, 10},
    {Activation::exp, [](Real x) { return std::exp(x); }, 0.51, -110, 88.7L},
    {Activation::log, [](Real x) { return std::log(x); }, 0.51, 0, 1e38L},
    {Activation::sin, [](Real x) { return std::sin(x); }, 0.51, -1e9L, 1e9L},
    {Activation::arctan, [](Real x) { return std::atan(x); }, 0.51, -1e6L, 1e6L},
    {Activation::sqrt, [](Real x) { return std::sqrt(x); }, 0.5, 0, 1e38L},
    {Activation::rsqrt, [](Real x) { return 1 / std::sqrt(x); }, 0.51, 1e-38L, 1e38L},
    {Activation::reciprocal, [](Real x) { return 1 / x; }, 0.5, -1e38L, 1e38L},
    {Activation::cos, [](Real x) { return std::cos(x); }, 0.51, -1e9L, 1e9L},
    {Activation::tan, [](Real x) { return std::tan(x); }, 0.51, -1e9L, 1e9L},
    {Activation::exp2, [](Real x) { return std::exp2(x); }, 0.51, -152, 127.9L},
    {Activation::expm1, [](Real x) { return std::expm1(x); }, 0.51, -100, 88.7L},
    {Activation::log2, [](Real x) { return std::log2(x); }, 0.51, 0, 1e38L},
    {Activation::log10, [](Real x) { return std::log10(x); }, 0.51, 0, 1e38L},
    {Activation::log1p, [](Real x) { return std::log1p(x); }, 0.51, -0.9999999L, 1e38L},
    {Activation::sinh, [](Real x) { return std::sinh(x); }, 0.51, -89, 89},
    {Activation::cosh, [](Real x) { return std::cosh(x); }, 0.51, -89, 89},
    {Activation::arcsin, [](Real x) { return std::asin(x); }, 0.51, -1, 1},
    {Activation::arccos, [](Real x) { return std::acos(x); }, 0.51, -1, 1},
    {Activation::arcsinh, [](Real x) { return std::asinh(x); }, 0.51, -1e30L, 1e30L},
    {Activation::arccosh, [](Real x) { return std::acosh(x); }, 0.51, 1, 1e30L},
    {Activation::arctanh, [](Real x) { return std::atanh(x); }, 0.51, -1, 1},
    {Activation::erfc, [](Real x) { return std::erfc(x); }, 0.51, -6, 10.2L},
    {Activation::lgamma, [](Real x) { return std::lgamma(x); }, 0.51, 1e-30L, 1e30L, 1e-11L},
};

// Floats spread evenly over the representable values of an interval: every magnitude gets its share.
std::vector<float> samples(Real least, Real most, size_t count) {
  const auto order = [](float f) {
    const auto u = std::bit_cast<int32_t>(f);
    return u < 0 ? -static_cast<int64_t>(u & 0x7FFFFFFF) : static_cast<int64_t>(u);
  };
  const int64_t low = order(static_cast<float>(least)), high = order(static_cast<float>(most));
  std::vector<float> out;
  for (size_t i = 0; i <= count; ++i) {
    const int64_t at = low + (high - low) / static_cast<int64_t>(count) * static_cast<int64_t>(i);
    const auto bits = at < 0 ? static_cast<uint32_t>(-at) | 0x80000000u : static_cast<uint32_t>(at);
    out.push_back(std::bit_cast<float>(bits));
  }
  return out;
}

// Half-range random values as well: the interesting region of most functions is around one.
void add_linear(std::vector<float>& out, Real least, Real most, size_t count) {
  const Real a = std::max<Real>(least, -12), b = std::min<Real>(most, 12);
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    out.push_back(static_cast<float>(a + (b - a) * (static_cast<Real>(state) / 4294967296.0L)));
  }
}

Real last_place(Real exact) {
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::ldexp(Real{1}, exponent - 23);
}

std::vector<float> evaluate(Activation f, const std::vector<float>& x, float slope = 0) {
  std::vector<float> y(x.size());
  apply_activation(f, y.data(), x.data(), x.size(), slope);
  return y;
}

void expect(Activation f, float x, float want) {
  INFO(name(f) << "(" << x << ") should be " << want);
  const float got = evaluate(f, {x})[0];
  if (std::isnan(want)) {
    CHECK(std::isnan(got));
  } else {
    CHECK(std::bit_cast<uint32_t>(got) == std::bit_cast<uint32_t>(want));
  }
}

}  // namespace

TEST_CASE("activation functions are within half an ulp and a hair of long double") {
  for (const Reference& r : kReferences) {
    std::vector<float> x = samples(r.least, r.most, 20011);
    add_linear(x, r.least, r.most, 20011);
    const std::vector<float> y = evaluate(r.function, x);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const Real exact = r.exact(x[i]);
      if (!(std::fabs(exact) <= std::numeric_limits<float>::max()) || exact == 0) continue;
      const double error = static_cast<double>((std::fabs(y[i] - exact) - r.absolute) / last_place(exact));
      if (error > worst) worst = error, where = x[i];
      if (std::isnan(y[i])) worst = 1e9, where = x[i];
    }
    INFO(name(r.function) << " is off by " << worst << " ulp at " << where);
    CHECK(worst <= r.ulps);
  }
}

TEST_CASE("rounding functions equal the C library's") {
  std::vector<float> x = samples(-kInf, kInf, 100003);
  add_linear(x, -12, 12, 10000);
  for (float half : {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 8388607.5f, -0.0f}) x.push_back(half);
  const auto same = [&](Activation f, float (*reference)(float)) {
    const auto y = evaluate(f, x);
    size_t wrong = 0;
    for (size_t i = 0; i < x.size(); ++i)
      wrong += std::bit_cast<uint32_t>(y[i]) != std::bit_cast<uint32_t>(reference(x[i]));
    INFO(name(f));
    CHECK(wrong == 0);
  };
  same(Activation::floor, std::floor);
  same(Activation::ceil, std::ceil);
  same(Activation::trunc, std::trunc);
  same(Activation::round, std::nearbyint);
  same(Activation::abs, std::fabs);
  same(Activation::copy, [](float v) { return v; });
}

TEST_CASE("special values are PyTorch's") {
  // Published behaviour of torch 2: nan in, nan out; limits where IEEE 754 has them.
  for (size_t i = 0; i < kActivations.size(); ++i) {
    const auto f = static_cast<Activation>(i);
    expect(f, kNan, f == Activation::sign ? 0 : kNan);
  }
  expect(Activation::exp, kInf, kInf);
  expect(Activation::exp, -kInf, 0);
  expect(Activation::exp, 89, kInf);
  expect(Activation::exp, -104, 0);
  expect(Activation::exp, 0, 1);
  expect(Activation::log, 0, -kInf);
  expect(Activation::log, -0.0f, -kInf);
  expect(Activation::log, -1, kNan);
  expect(Activation::log, kInf, kInf);
  expect(Activation::log, 1, 0);
  expect(Activation::log1p, -1, -kInf);
  expect(Activation::log1p, -2, kNan);
  expect(Activation::log1p, kInf, kInf);
  expect(Activation::log1p, -0.0f, -0.0f);
  expect(Activation::expm1, -kInf, -1);
  expect(Activation::expm1, kInf, kInf);
  expect(Activation::expm1, -0.0f, -0.0f);
  expect(Activation::tanh, kInf, 1);
  expect(Activation::tanh, -kInf, -1);
  expect(Activation::tanh, -0.0f, -0.0f);
  expect(Activation::erf, kInf, 1);
  expect(Activation::erf, -kInf, -1);
  expect(Activation::erf, -0.0f, -0.0f);
  expect(Activation::erfc, kInf, 0);
  expect(Activation::erfc, -kInf, 2);
  expect(Activation::sigmoid, kInf, 1);
  expect(Activation::sigmoid, -kInf, 0);
  expect(Activation::silu, kInf, kInf);
  expect(Activation::silu, -kInf, kNan);
  expect(Activation::gelu, kInf, kInf);
  expect(Activation::gelu, -kInf, kNan);
  expect(Activation::gelu_apprx_tanh, kInf, kInf);
  expect(Activation::gelu_apprx_tanh, -kInf, kNan);
  expect(Activation::softplus, kInf, kInf);
  expect(Activation::softplus, -kInf, 0);
  expect(Activation::mish, kInf, kInf);
  expect(Activation::mish, -kInf, kNan);
  expect(Activation::relu, -0.0f, -0.0f);
  expect(Activation::relu, -kInf, 0);
  expect(Activation::sqrt, -1, kNan);
  expect(Activation::sqrt, -0.0f, -0.0f);
  expect(Activation::rsqrt, 0, kInf);
  expect(Activation::rsqrt, kInf, 0);
  expect(Activation::rsqrt, -1, kNan);
  expect(Activation::reciprocal, 0, kInf);
  expect(Activation::reciprocal, -0.0f, -kInf);
  expect(Activation::sin, kInf, kNan);
  expect(Activation::sin, -0.0f, -0.0f);
  expect(Activation::cos, -kInf, kNan);
  expect(Activation::arctan, kInf, 1.57079632679f);
  expect(Activation::arctan, -0.0f, -0.0f);
  expect(Activation::sign, -3, -1);
  expect(Activation::sign, -0.0f, 0);
  expect(Activation::erfinv, 1, kInf);
  expect(Activation::erfinv, -1, -kInf);
  expect(Activation::erfinv, 1.5f, kNan);
  expect(Activation::digamma, 0, -kInf);
  expect(Activation::digamma, -0.0f, kInf);
  expect(Activation::digamma, -1, kNan);
  expect(Activation::lgamma, -1, kInf);
  expect(Activation::sinh, -kInf, -kInf);
  expect(Activation::cosh, -kInf, kInf);
  expect(Activation::exp2, 3, 8);
}

TEST_CASE("prelu has the slope it is given") {
  CHECK(evaluate(Activation::prelu, {-2, 3, -kInf}, 0.25f) == std::vector<float>{-0.5f, 3, -kInf});
}

TEST_CASE("erfinv inverts erf, digamma has its recurrence and known values") {
  for (double y : {-0.999999, -0.7, -1e-8, 1e-20, 0.3, 0.5, 0.97, 0.9999999}) {
    const auto f = static_cast<float>(y);
    const float x = evaluate(Activation::erfinv, {f})[0];
    // The derivative of erf tells how far y may be for an x that is right to half an ulp.
    const double slope = 2 / std::sqrt(std::numbers::pi) * std::exp(-static_cast<double>(x) * x);
    const double ulp = static_cast<double>(std::nextafter(std::fabs(x), kInf) - std::fabs(x));
    CHECK(std::fabs(std::erf(static_cast<double>(x)) - f) <= 0.51 * ulp * slope + 1e-17);
  }
  constexpr double kEuler = 0.57721566490153286;
  CHECK(evaluate(Activation::digamma, {1.0f})[0] == static_cast<float>(-kEuler));
  CHECK(evaluate(Activation::digamma, {0.5f})[0] == static_cast<float>(-kEuler - 2 * std::log(2.0)));
  CHECK(evaluate(Activation::digamma, {-0.5f})[0] == static_cast<float>(2 - kEuler - 2 * std::log(2.0)));
  CHECK(evaluate(Activation::digamma, {100.0f})[0] == 4.6001618527380874f);  // Abramowitz & Stegun, table 6.3
}

TEST_CASE("every CPU gives the same bits, any position in the array too") {
  std::vector<float> x = samples(-100, 100, 4099);
  add_linear(x, -12, 12, 3001);
  for (size_t i = 0; i < kActivations.size(); ++i) {
    const auto f = static_cast<Activation>(i);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const auto widest = evaluate(f, x, 0.1f);
    hwy::GetChosenTarget().Update(HWY_STATIC_TARGET);
    const auto narrowest = evaluate(f, x, 0.1f);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    size_t different = 0;
    for (size_t k = 0; k < x.size(); ++k) {
      float alone = 0;
      apply_activation(f, &alone, &x[k], 1, 0.1f);
      const auto bits = std::bit_cast<uint32_t>(widest[k]);
      if (std::isnan(widest[k])) continue;
      different += bits != std::bit_cast<uint32_t>(narrowest[k]) || bits != std::bit_cast<uint32_t>(alone);
    }
    INFO(name(f));
    CHECK(different == 0);
  }
}

TEST_CASE("names lead back to functions") {
  for (size_t i = 0; i < kActivations.size(); ++i) {
    const auto f = static_cast<Activation>(i);
    CHECK(activation_named(name(f)) == f);
  }
  CHECK_FALSE(activation_named("nothing"));
}
