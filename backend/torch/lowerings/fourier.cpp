#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/torch/lowerings/complex.h"
#include "memory/error.h"

// Discrete Fourier transforms: along each dim one product with the matrix of roots of unity.
namespace trn::torch_backend {
namespace {

enum Normalization : int64_t { kNone, kByRootN, kByN };

struct Roots {
  Value cosine, sine;  // [rows, columns] of 2 pi row column / n
};

// The angle is reduced as a whole number of n-ths of a turn, so that it is exact to the last rounding.
Roots roots(Graph& g, int64_t rows, int64_t columns, int64_t n) {
  if (n > 46340) throw Error(Fault::unsupported, "a Fourier transform takes at most 46340 places along a dim", g.name);
  const Value turn = apply(AluOp::mod, iota(g, Dims{rows, columns}, 0) * iota(g, Dims{rows, columns}, 1),
                           number(g, static_cast<double>(n), Dtype::int32));
  const Value centred = to_float(where(turn > static_cast<double>(n / 2), turn - static_cast<double>(n), turn));
  const Value angle = centred * (2 * std::numbers::pi / static_cast<double>(n));
  return {apply(Activation::cos, angle), apply(Activation::sin, angle)};
}

// x [..., n, ...] times matrix [n, m] along `dim`.
Value along(Value x, int dim, Value matrix) {
  const Value rows = move_dim(x, dim, -1);
  Dims shape = rows.shape();
  const int64_t n = shape.back();
  shape.back() = matrix.size(1);
  return move_dim(reshape(matmul(reshape(rows, {x.numel() / n, n}), matrix), shape), -1, dim);
}

// Forward: sum of z exp(-i angle). `columns` of the spectrum, from 0.
Complex transformed(Complex z, int dim, bool forward, int64_t columns) {
  const int64_t n = z.re.size(dim);
  const Roots r = roots(*z.re.g, n, columns, n);
  const Value sine = forward ? r.sine : -r.sine;
  return {along(z.re, dim, r.cosine) + along(z.im, dim, sine), along(z.im, dim, r.cosine) - along(z.re, dim, sine)};
}
Complex transformed(Complex z, int dim, bool forward) { return transformed(z, dim, forward, z.re.size(dim)); }

double scale(double n, int64_t normalization) {
  return normalization == kByN ? 1 / n : normalization == kByRootN ? 1 / std::sqrt(n) : 1;
}
double places(const Dims& shape, const Dims& dims) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(shape[d]);
  return n;
}
Complex scaled(Complex z, double factor) { return factor == 1 ? z : Complex{z.re * factor, z.im * factor}; }

Dims transformed_dims(Call& c, int rank) {
  Dims dims = c.integers(1);
  for (int64_t& d : dims) d = wrap(d, rank);
  return dims;
}

// (self, dim, normalization, onesided)
void real_to_complex(Call& c) {
  const Value x = c.arg_float(0);
  const Dims dims = transformed_dims(c, x.rank());
  const auto last = static_cast<int>(dims.back());
  const int64_t n = x.size(last), columns = c.flag(3) ? n / 2 + 1 : n;
  const Roots r = roots(c.g, n, columns, n);
  Complex z{along(x, last, r.cosine), -along(x, last, r.sine)};
  for (size_t i = 0; i + 1 < dims.size(); ++i) z = transformed(z, static_cast<int>(dims[i]), true);
  give(c, 0, scaled(z, scale(places(x.shape(), dims), c.integer(2))));
}

// (self, dim, normalization, forward)
void complex_to_complex(Call& c) {
  Complex z = complex_arg(c, 0);
  const Dims dims = transformed_dims(c, z.re.rank());
  for (int64_t d : dims) z = transformed(z, static_cast<int>(d), c.flag(3));
  give(c, 0, scaled(z, scale(places(z.re.shape(), dims), c.integer(2))));
}

// (self, dim, normalization, last_dim_size): the spectrum is its own mirror image, so that every place but the first
// and the middle one counts twice.
void complex_to_real(Call& c) {
  Complex z = complex_arg(c, 0);
  const Dims dims = transformed_dims(c, z.re.rank());
  for (size_t i = 0; i + 1 < dims.size(); ++i) z = transformed(z, static_cast<int>(dims[i]), false);
  const auto last = static_cast<int>(dims.back());
  const int64_t n = c.integer(3), half = n / 2 + 1;
  z = {slice(z.re, last, 0, half), slice(z.im, last, 0, half)};
  const Roots r = roots(c.g, half, n, n);
  const Value place = iota(c.g, Dims{half, 1}, 0);
  const Value once = logical_or(equal(place, 0), equal(place * 2.0, static_cast<double>(n)));
  const Value twice = where(once, c.constant_value(1), c.constant_value(2));
  // The middle's sine is 0, also where a rounded pi has another.
  const Value x = along(z.re, last, r.cosine * twice) - along(z.im, last, where(once, 0, r.sine * twice));
  c.out(0, x * scale(places(x.shape(), dims), c.integer(2)));
}

constexpr Row kRows[] = {
    {"_fft_r2c", real_to_complex, "", "complex64", Complex64::pairs},
    {"_fft_c2c", complex_to_complex, "", "complex64", Complex64::pairs},
    {"_fft_c2r", complex_to_real, "", "complex64", Complex64::pairs},
};

}  // namespace

std::span<const Row> fourier_rows() { return kRows; }

}  // namespace trn::torch_backend
