#include <limits>
#include <string_view>

#include "backend/torch/lowerings/approximation.h"
#include "backend/torch/lowerings/lowering.h"

// Orthogonal polynomials of a degree that a tensor holds: Chebyshev's in closed form, the others by their recurrences.
namespace trn::torch_backend {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kHighestDegree = 128;  // Hermite's polynomials end there in PyTorch, too

enum class Kind : uint8_t { first, second, third, fourth };
enum class On : uint8_t { minus_one_to_one, zero_to_one };

// Of x >= 0: cosines and sines of the angle whose cosine x is; above 1, where the angle is imaginary, their hyperbolic
// kin. The second and fourth kinds are quotients of sines, which at 1 are the multiples of the angle.
template <Kind K>
Value chebyshev_above_zero(Value x, Value n) {
  const Value angle = apply(Activation::arccos, minimum(x, 1)), wide = apply(Activation::arccosh, maximum(x, 1));
  const auto cosine = [&](Value k) {
    return where(x < 1, apply(Activation::cos, reduced_angle(angle * k)), apply(Activation::cosh, wide * k));
  };
  const auto sine = [&](Value k) {
    return where(x < 1, apply(Activation::sin, reduced_angle(angle * k)), apply(Activation::sinh, wide * k));
  };
  if constexpr (K == Kind::first) return cosine(n);
  if constexpr (K == Kind::third) return cosine(n + 0.5) / cosine(like(x, 0.5));
  constexpr double part = K == Kind::second ? 1 : 0.5;
  const Value edge = equal(x, 1);
  return where(edge, n / part + 1, sine(n + part) / where(edge, 1, sine(like(x, part))));
}

Value degree(Call& c) { return trunc(c.arg_float(1)); }

template <Kind K, On Interval>
void chebyshev(Call& c) {
  Value x = c.arg_float(0);
  if (Interval == On::zero_to_one) x = x * 2 - 1;
  const Value n = degree(c), size = absolute(x);
  // At -x each is itself or, the third and the fourth, the other, times (-1)^n.
  constexpr Kind mirrored = K == Kind::third ? Kind::fourth : K == Kind::fourth ? Kind::third : K;
  Value below = chebyshev_above_zero<mirrored>(size, n);
  below = where(equal(apply(AluOp::fmod, n, 2), 0), below, -below);
  const Value y = where(x < 0, below, chebyshev_above_zero<K>(size, n));
  c.out(0, where(n < 0, 0, where(equal(x, x), y, x)));
}

// p(0) = 1, p(1) = `first`, p(k + 1) = next(k, p(k), p(k - 1)).
template <class Next>
void by_recurrence(Call& c, Value n, Value first, Next next) {
  Value before = like(first, 1), now = first, y = where(n < 1, 1, first);
  for (int k = 1; k < kHighestDegree; ++k) {
    const Value after = next(static_cast<double>(k), now, before);
    before = now;
    now = after;
    y = where(n > k, after, y);
  }
  y = where(n > kHighestDegree, kNan, y);
  c.out(0, where(n < 0, 0, y));
}

void hermite_h(Call& c) {
  const Value x = c.arg_float(0) * 2;
  by_recurrence(c, degree(c), x, [&](double k, Value p, Value before) { return x * p - before * (2 * k); });
}
void hermite_he(Call& c) {
  const Value x = c.arg_float(0);
  by_recurrence(c, degree(c), x, [&](double k, Value p, Value before) { return x * p - before * k; });
}
void laguerre(Call& c) {
  const Value x = c.arg_float(0);
  by_recurrence(c, degree(c), 1.0 - x,
                [&](double k, Value p, Value before) { return ((2 * k + 1 - x) * p - before * k) / (k + 1); });
}
void legendre(Call& c) {
  const Value x = c.arg_float(0);
  by_recurrence(c, degree(c), x,
                [&](double k, Value p, Value before) { return (x * p * (2 * k + 1) - before * k) / (k + 1); });
}

constexpr std::string_view kLimit = "not a number above degree 128";
constexpr Row kRows[] = {
    {"special_chebyshev_polynomial_t", chebyshev<Kind::first, On::minus_one_to_one>},
    {"special_chebyshev_polynomial_u", chebyshev<Kind::second, On::minus_one_to_one>},
    {"special_chebyshev_polynomial_v", chebyshev<Kind::third, On::minus_one_to_one>},
    {"special_chebyshev_polynomial_w", chebyshev<Kind::fourth, On::minus_one_to_one>},
    {"special_shifted_chebyshev_polynomial_t", chebyshev<Kind::first, On::zero_to_one>},
    {"special_shifted_chebyshev_polynomial_u", chebyshev<Kind::second, On::zero_to_one>},
    {"special_shifted_chebyshev_polynomial_v", chebyshev<Kind::third, On::zero_to_one>},
    {"special_shifted_chebyshev_polynomial_w", chebyshev<Kind::fourth, On::zero_to_one>},
    {"special_hermite_polynomial_h", hermite_h, "", kLimit},
    {"special_hermite_polynomial_he", hermite_he, "", kLimit},
    {"special_laguerre_polynomial_l", laguerre, "", kLimit},
    {"special_legendre_polynomial_p", legendre, "", kLimit},
};

}  // namespace

std::span<const Row> polynomial_rows() { return kRows; }

}  // namespace trn::torch_backend
