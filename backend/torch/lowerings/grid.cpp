#include <algorithm>
#include <cmath>

#include "backend/torch/lowerings/lowering.h"

// grid_sample: an image read at places that a tensor holds. Along each dim a place is a few taps, each an index with a
// weight and the weight's slope in the grid's own coordinate; the image is gathered by row, gradients are scattered
// back.
namespace trn::torch_backend {
namespace {

enum Mode : int64_t { kLinear, kNearest, kCubic };
enum Padding : int64_t { kZeros, kBorder, kReflection };

struct Tap {
  Value index, weight, slope;  // int32 inside the dim; 0 where the tap is outside
};
struct Place {
  Value at, slope;
};

// Folds the line at its two ends (ATen/native/GridSampler.h, reflect_coordinates), in halves of pixels.
Place reflected(Place p, double twice_low, double twice_high) {
  if (twice_low == twice_high) return {like(p.at, 0), like(p.at, 0)};
  const double low = twice_low / 2, span = (twice_high - twice_low) / 2;
  const Value from = p.at - low, far = absolute(from);
  const Value extra = apply(AluOp::fmod, far, span), folds = floor(far / span);
  const Value odd = not_equal(apply(AluOp::fmod, folds, 2), 0);
  const Value slope = where(from < 0, -p.slope, p.slope);
  return {where(odd, span - extra, extra) + low, where(odd, -slope, slope)};
}
Place clipped(Place p, int64_t size) {
  const double last = static_cast<double>(size - 1);
  const Value inside = logical_and(p.at > 0, p.at < last);
  return {minimum(maximum(p.at, 0), last), where(inside, p.slope, 0)};
}
Place padded(Place p, int64_t size, int64_t padding, bool corners) {
  const double n = static_cast<double>(size);
  if (padding == kReflection) p = corners ? reflected(p, 0, 2 * (n - 1)) : reflected(p, -1, 2 * n - 1);
  return padding == kZeros ? p : clipped(p, size);
}

Tap tap(Value at, Value weight, Value slope, int64_t size) {
  const double last = static_cast<double>(size - 1);
  const Value inside = logical_and(at >= 0, at <= last);
  return {to_int(where(inside, at, 0)), where(inside, weight, 0), where(inside, slope, 0)};
}

// Keys' cubic kernel with A = -0.75 and its derivative, at distances t + 1, t, 1 - t, 2 - t.
constexpr double kA = -0.75;
Value near_weight(Value x) { return ((x * (kA + 2)) - (kA + 3)) * x * x + 1; }
Value near_slope(Value x) { return (x * (3 * (kA + 2)) - 2 * (kA + 3)) * x; }
Value far_weight(Value x) { return ((x - 5) * kA * x + 8 * kA) * x - 4 * kA; }
Value far_slope(Value x) { return (x * (3 * kA) - 10 * kA) * x + 8 * kA; }

// `grid` [places], from -1 to 1 over the dim.
std::vector<Tap> taps(Value grid, int64_t size, int64_t mode, int64_t padding, bool corners) {
  const double n = static_cast<double>(size), half = corners ? (n - 1) / 2 : n / 2;
  Place p{corners ? (grid + 1) * half : ((grid + 1) * n - 1) / 2, like(grid, half)};
  p.at = where(equal(p.at, p.at), p.at, -1e9);  // NaN is nowhere
  if (mode != kCubic) p = padded(p, size, padding, corners);
  if (mode == kNearest) return {tap(apply(Activation::round, p.at), like(grid, 1), like(grid, 0), size)};
  const Value low = floor(p.at), t = p.at - low;
  if (mode == kLinear) return {tap(low, 1.0 - t, -p.slope, size), tap(low + 1, t, p.slope, size)};
  const Value weights[] = {far_weight(t + 1), near_weight(t), near_weight(1.0 - t), far_weight(2.0 - t)};
  const Value slopes[] = {far_slope(t + 1), near_slope(t), -near_slope(1.0 - t), -far_slope(2.0 - t)};
  std::vector<Tap> all;
  for (int i = 0; i < 4; ++i) {
    const Place whole = padded({low + (i - 1.0), p.slope}, size, padding, corners);
    all.push_back(tap(whole.at, weights[i], slopes[i] * p.slope, size));
  }
  return all;
}

// One combination of taps, one from each dim.
struct Corner {
  Value row;                  // in the table of pixels
  Value weight;               // product of the taps' weights
  std::vector<Value> slopes;  // by dim: the product with that dim's slope instead of its weight
};
struct Sampling {
  Value pixels;  // [N * spatial, C]
  Dims image;    // of the input
  std::vector<Corner> corners;
};

// input [N, C, spatial...], grid [N, out..., dims]: the grid's last dim counts from the image's last dim.
Sampling sampling(Call& c, int input, int grid_at, int mode) {
  const Value x = c.arg_float(input), grid = c.arg_float(grid_at);
  const int dims = x.rank() - 2;
  Sampling s{move_dim(x, 1, -1), x.shape(), {}};
  const int64_t batch = x.size(0), channels = x.size(1), places = grid.numel() / (batch * dims);
  s.pixels = reshape(s.pixels, {x.numel() / channels, channels});
  const Value image = reshape(iota(c.g, Dims{batch, places}, 0), {batch * places});
  s.corners = {{image, c.constant_value(1), std::vector<Value>(dims, c.constant_value(1))}};
  const Value coordinates = reshape(grid, {batch * places, dims});
  for (int d = 0; d < dims; ++d) {
    const int64_t size = x.size(2 + d);
    const Value at = squeeze(slice(coordinates, 1, dims - 1 - d, dims - d), 1);
    std::vector<Corner> next;
    for (const Tap& t : taps(at, size, c.integer(mode), c.integer(mode + 1), c.flag(mode + 2)))
      for (const Corner& k : s.corners) {
        Corner joined{k.row * static_cast<double>(size) + t.index, k.weight * t.weight, {}};
        for (int e = 0; e < dims; ++e) joined.slopes.push_back(k.slopes[e] * (e == d ? t.slope : t.weight));
        next.push_back(joined);
      }
    s.corners = next;
  }
  return s;
}

// (input, grid, interpolation_mode, padding_mode, align_corners)
void grid_sampler(Call& c) {
  const Sampling s = sampling(c, 0, 1, 2);
  Value total{};
  for (const Corner& k : s.corners) {
    const Value part = gather_rows(s.pixels, k.row) * unsqueeze(k.weight, -1);
    total = total.g ? total + part : part;
  }
  Dims last = c.shape(0);  // [N, out..., C]
  last.erase(last.begin() + 1);
  last.push_back(c.shape(0)[1]);
  c.out(0, move_dim(reshape(total, last), -1, 1));
}

// (grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask)
void grid_sampler_backward(Call& c) {
  const Sampling s = sampling(c, 1, 2, 3);
  const int dims = static_cast<int>(s.image.size()) - 2;
  const Value grad = move_dim(c.arg_float(0), 1, -1);
  const Value rows = reshape(grad, {grad.numel() / s.image[1], s.image[1]});
  Value image = expand(c.constant_value(0), s.pixels.shape());
  std::vector<Value> by_dim(dims, expand(c.constant_value(0), {rows.size(0)}));
  for (const Corner& k : s.corners) {
    if (c.wanted(0)) image = {&c.g, c.g.scatter(AluOp::add, image.id, k.row.id, (rows * unsqueeze(k.weight, -1)).id)};
    if (!c.wanted(1) || c.integer(3) == kNearest) continue;
    const Value value = squeeze(sum(gather_rows(s.pixels, k.row) * rows, {1}), 1);
    for (int d = 0; d < dims; ++d) by_dim[d] = by_dim[d] + value * k.slopes[d];
  }
  if (c.wanted(0)) {
    Dims last = s.image;
    last.erase(last.begin() + 1);
    last.push_back(s.image[1]);
    c.out(0, move_dim(reshape(image, last), -1, 1));
  }
  if (!c.wanted(1)) return;
  std::vector<Value> columns;
  for (int d = dims - 1; d >= 0; --d) columns.push_back(unsqueeze(by_dim[d], -1));
  c.out(1, concat(columns, -1));
}

constexpr Row kRows[] = {
    {"grid_sampler_2d", grid_sampler},
    {"grid_sampler_3d", grid_sampler},
    {"grid_sampler_2d_backward", grid_sampler_backward},
    {"grid_sampler_3d_backward", grid_sampler_backward},
};

}  // namespace

std::span<const Row> grid_rows() { return kRows; }

}  // namespace trn::torch_backend
