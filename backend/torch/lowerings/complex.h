#pragma once
#include "backend/torch/lowerings/lowering.h"

namespace trn::torch_backend {

// complex64 as lowerings that take pairs compute with it: two float32 values of the same shape.
struct Complex {
  Value re, im;
};

// Argument `i`, complex or not.
inline Complex complex_arg(Call& c, int i) {
  const Value x = c.arg_float(i);
  if (!c.complex(i)) return {x, expand(like(x, 0), x.shape())};
  return {squeeze(slice(x, -1, 0, 1), -1), squeeze(slice(x, -1, 1, 2), -1)};
}
inline void give(Call& c, int result, Complex z) {
  const Dims shape = broadcast(z.re.shape(), z.im.shape());
  c.out(result, concat({unsqueeze(expand(z.re, shape), -1), unsqueeze(expand(z.im, shape), -1)}, -1));
}

inline Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
inline Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
inline Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Complex operator*(Complex a, Value factor) { return {a.re * factor, a.im * factor}; }

// Without overflow of intermediate squares.
inline Value magnitude(Complex z) {
  const Value a = absolute(z.re), b = absolute(z.im), high = maximum(a, b), low = minimum(a, b);
  const Value ratio = where(equal(high, 0), 0, low / high);
  return high * sqrt(ratio * ratio + 1);
}
inline Complex reciprocal(Complex z) {
  const Value size = magnitude(z);
  return {z.re / size / size, -z.im / size / size};
}
inline Complex operator/(Complex a, Complex b) { return a * reciprocal(b); }

}  // namespace trn::torch_backend
