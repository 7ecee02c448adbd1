#include <cmath>
#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Number theory, entropy, and what floating numbers are made of.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

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

// |x| = mantissa * 2^exponent, the mantissa from 1/2 to below 1; of 0, infinities and NaN: themselves and 0. By powers
// of two, which round nothing.
struct FloatParts {
  Value mantissa, exponent;  // the exponent as a float
};
FloatParts parts_of(Value size) {
  Value m = size, e = expand(like(size, 0), size.shape());
  for (const int k : {64, 32, 16, 8, 4, 2, 1, 1}) {
    const Value large = k == 1 ? m >= 1 : m >= std::exp2(k);
    m = where(large, m * std::exp2(-k), m);
    e = where(large, e + k, e);
  }
  for (const int k : {64, 64, 32, 16, 8, 4, 2, 1}) {
    const Value small = m < std::exp2(-k);
    m = where(small, m * std::exp2(k), m);
    e = where(small, e - k, e);
  }
  const Value whole = logical_or(equal(size, 0), not_equal(size - size, 0));
  return {where(whole, size, m), where(whole, 0, e)};
}
void frexp(Call& c) {
  const Value x = c.arg_float(0);
  const FloatParts parts = parts_of(absolute(x));
  c.out(0, where(equal(x, 0), x, where(x < 0, -parts.mantissa, parts.mantissa)));
  c.out(1, to_int(parts.exponent));
}

// Widths of floating dtypes: bits of the mantissa, the exponent (as above) of the least normal number.
struct FloatFormat {
  int digits, least;
};
FloatFormat format_of(Dtype d) {
  return d == Dtype::bfloat16  ? FloatFormat{8, -125}
         : d == Dtype::float16 ? FloatFormat{11, -13}
                               : FloatFormat{24, -125};
}
// One step of x's own spacing, which below a power of two is half of that above it.
void nextafter(Call& c) {
  const Value x = c.arg_float(0), y = c.arg_float(1);
  const FloatFormat f = format_of(c.dtype(0));
  const FloatParts parts = parts_of(absolute(x));
  const Value up = y > x, inwards = logical_and(not_equal(x, 0), not_equal(up, x > 0));
  const Value exponent = parts.exponent - to_float(logical_and(inwards, equal(parts.mantissa, 0.5)));
  const Value place = where(equal(x, 0), f.least, maximum(exponent, f.least)) - f.digits;
  const Value half = floor(place * 0.5);  // in two factors: the least is no normal number
  const Value step = apply(Activation::exp2, half) * apply(Activation::exp2, place - half);
  Value z = where(up, x + step, x - step);
  const double largest = (1 - std::exp2(-f.digits)) * (f.least < -13 ? 0x1p128 : 0x1p16);
  z = where(equal(absolute(x), kInf), where(x > 0, like(x, largest), like(x, -largest)), z);
  z = where(equal(x, y), y, z);
  c.out(0, where(equal(x, x), where(equal(y, y), z, y), x));
}

void entropy(Call& c) {
  const Value x = c.arg_float(0);
  const Value y = where(equal(x, 0), 0, where(x < 0, -kInf, -x * log(where(x > 0, x, 1))));
  c.out(0, where(equal(x, x), y, x));
}

constexpr Row kRows[] = {
    {"gcd", gcd}, {"lcm", lcm}, {"special_entr", entropy}, {"frexp.Tensor_out", frexp}, {"nextafter", nextafter},
};

}  // namespace

std::span<const Row> special_rows() { return kRows; }

}  // namespace trn::torch_backend
