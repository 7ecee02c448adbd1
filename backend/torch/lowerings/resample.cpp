#include <algorithm>
#include <cmath>

#include "backend/torch/lowerings/lowering.h"

// Cubic and antialiased resampling: along each dim one product with the matrix of weights [places out, places in].
namespace trn::torch_backend {
namespace {

using Kernel = Value (*)(Value distance);

// Keys' cubic kernel.
Value cubic(Value distance, double a) {
  const Value x = absolute(distance);
  const Value near = ((x * (a + 2)) - (a + 3)) * x * x + 1, far = ((x - 5) * a * x + 8 * a) * x - 4 * a;
  return where(x <= 1, near, where(x < 2, far, 0));
}
Value cubic_kernel(Value distance) { return cubic(distance, -0.5); }
Value triangle_kernel(Value distance) { return maximum(1.0 - absolute(distance), 0); }

double step(int64_t in, int64_t out, bool corners, double given) {
  if (corners) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  return given > 0 ? 1 / given : static_cast<double>(in) / static_cast<double>(out);
}

// Four taps around each place; those outside are the edge's.
Value cubic_matrix(Graph& g, int64_t in, int64_t out, bool corners, double given) {
  const double scale = step(in, out, corners, given);
  const Value place = to_float(iota(g, Dims{out, 1}, 0)), source = to_float(iota(g, Dims{out, in}, 1));
  const Value at = corners ? place * scale : (place + 0.5) * scale - 0.5, low = floor(at);
  Value matrix{};
  for (int tap = -1; tap <= 2; ++tap) {
    const Value index = minimum(maximum(low + static_cast<double>(tap), 0), static_cast<double>(in - 1));
    const Value weight = cubic(at - low - static_cast<double>(tap), -0.75);
    const Value part = where(equal(source, index), weight, 0);
    matrix = matrix.g ? matrix + part : part;
  }
  return matrix;
}

// A kernel as wide as a place out, over the places in that it covers; weights sum to 1
// (ATen/native/cpu/UpSampleKernel.cpp).
template <Kernel F, int Taps>
Value smooth_matrix(Graph& g, int64_t in, int64_t out, bool corners, double given) {
  const double scale = step(in, out, corners, given), wide = std::max(scale, 1.0), support = Taps * 0.5 * wide;
  const Value center = (to_float(iota(g, Dims{out, 1}, 0)) + 0.5) * scale, source = to_float(iota(g, Dims{out, in}, 1));
  const Value first = maximum(trunc(center - support + 0.5), 0);
  const Value end = minimum(trunc(center + support + 0.5), static_cast<double>(in));
  const Value weight = where(logical_and(source >= first, source < end), F((source - center + 0.5) / wide), 0);
  const Value total = sum(weight, {1});
  return weight / where(equal(total, 0), 1, total);
}

using Matrix = Value (*)(Graph&, int64_t in, int64_t out, bool corners, double given);

// (self, output_size, align_corners, scales...); backward: (grad_output, output_size, input_size, align_corners,
// scales...), the product with the transposed matrix.
template <Matrix M, bool Backward>
void resample(Call& c) {
  constexpr int options = Backward ? 3 : 2;
  Value x = c.arg_float(0);
  const int rank = x.rank(), spatial = rank - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = 2 + i;
    const int64_t from = x.size(dim), to = c.shape(0)[dim];
    const double given = c.present(options + 1 + i) ? c.constant(options + 1 + i) : 0;
    const Value matrix =
        Backward ? M(c.g, to, from, c.flag(options), given) : transpose(M(c.g, from, to, c.flag(options), given));
    const Value rows = move_dim(x, dim, -1);
    Dims shape = rows.shape();
    shape.back() = to;
    x = move_dim(reshape(matmul(reshape(rows, {x.numel() / from, from}), matrix), shape), -1, dim);
  }
  c.out(0, x);
}

constexpr Matrix triangle_matrix = smooth_matrix<triangle_kernel, 2>, cubic_aa_matrix = smooth_matrix<cubic_kernel, 4>;

constexpr Row kRows[] = {
    {"upsample_bicubic2d", resample<cubic_matrix, false>},
    {"upsample_bicubic2d_backward", resample<cubic_matrix, true>},
    {"_upsample_bilinear2d_aa", resample<triangle_matrix, false>},
    {"_upsample_bilinear2d_aa_backward", resample<triangle_matrix, true>},
    {"_upsample_bicubic2d_aa", resample<cubic_aa_matrix, false>},
    {"_upsample_bicubic2d_aa_backward", resample<cubic_aa_matrix, true>},
};

}  // namespace

std::span<const Row> resample_rows() { return kRows; }

}  // namespace trn::torch_backend
