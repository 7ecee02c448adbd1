#include <algorithm>
#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Pooling, resampling and padding of images. Images are [N, C, spatial...] or [C, spatial...].
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Value rows_along(Value x, int dim, Value index) { return move_dim(gather_rows(move_dim(x, dim, 0), index), 0, dim); }

// ---- nearest and linear resampling ----

// Source position of each of `out` places: floor((i + shift) * scale), not past the end.
Value nearest_index(Graph& g, int64_t in, int64_t out, double scale, double shift) {
  const Value at = floor((to_float(iota(g, out)) + shift) * scale);
  return to_int(minimum(at, static_cast<double>(in - 1)));
}
double nearest_scale(int64_t in, int64_t out, double given) {
  return given > 0 ? 1 / given : static_cast<double>(in) / static_cast<double>(out);
}

// (self, output_size, scales...)
void upsample_nearest(Call& c, double shift) {
  Value x = c.in(0);
  const int spatial = static_cast<int>(c.shape(0).size()) - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = x.rank() - spatial + i;
    const int64_t in = x.size(dim), out = c.shape(0)[dim];
    if (in == out) continue;
    const double given = c.present(2 + i) ? c.constant(2 + i) : 0;
    x = rows_along(x, dim, nearest_index(c.g, in, out, nearest_scale(in, out, given), shift));
  }
  c.out(0, x);
}
// (grad_output, output_size, input_size, scales...)
void upsample_nearest_backward(Call& c, double shift) {
  Value grad = c.arg_float(0);
  const int spatial = static_cast<int>(c.shape(0).size()) - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = grad.rank() - spatial + i;
    const int64_t in = c.shape(0)[dim], out = grad.size(dim);
    if (in == out) continue;
    const double given = c.present(3 + i) ? c.constant(3 + i) : 0;
    const Value index = nearest_index(c.g, in, out, nearest_scale(in, out, given), shift);
    const Value rows = move_dim(grad, dim, 0);
    Dims shape = rows.shape();
    shape[0] = in;
    const Value base = expand(c.constant_value(0), shape);
    grad = move_dim({&c.g, c.g.scatter(AluOp::add, base.id, index.id, rows.id)}, 0, dim);
  }
  c.out(0, grad);
}
void nearest(Call& c) { upsample_nearest(c, 0); }
void nearest_exact(Call& c) { upsample_nearest(c, 0.5); }
void nearest_backward(Call& c) { upsample_nearest_backward(c, 0); }
void nearest_exact_backward(Call& c) { upsample_nearest_backward(c, 0.5); }

// Linear resampling along one dim: each of `out` places lies `weight` of the way from source `low` to source `high`.
struct Between {
  Value low, high, weight;
};
Between between(Graph& g, int64_t in, int64_t out, bool corners, double given) {
  const double scale = corners ? (out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0)
                               : nearest_scale(in, out, given);
  const double last = static_cast<double>(in - 1);
  const Value place = to_float(iota(g, out));
  const Value at = corners ? place * scale : maximum((place + 0.5) * scale - 0.5, 0);
  const Value low = minimum(floor(at), last);
  return {low, minimum(low + 1, last), at - low};
}

// (self, output_size, align_corners, scales...)
void upsample_linear(Call& c) {
  Value x = c.arg_float(0);
  const int spatial = static_cast<int>(c.shape(0).size()) - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = x.rank() - spatial + i;
    const int64_t in = x.size(dim), out = c.shape(0)[dim];
    if (in == out) continue;
    const Between b = between(c.g, in, out, c.flag(2), c.present(3 + i) ? c.constant(3 + i) : 0);
    Dims along(x.rank(), 1);
    along[dim] = out;
    const Value weight = reshape(b.weight, along);
    x = rows_along(x, dim, to_int(b.low)) * (1.0 - weight) + rows_along(x, dim, to_int(b.high)) * weight;
  }
  c.out(0, x);
}
// (grad_output, output_size, input_size, align_corners, scales...): a product with the matrix of weights for each dim.
void upsample_linear_backward(Call& c) {
  Value grad = c.arg_float(0);
  const int spatial = static_cast<int>(c.shape(0).size()) - 2;
  for (int i = 0; i < spatial; ++i) {
    const int dim = grad.rank() - spatial + i;
    const int64_t in = c.shape(0)[dim], out = grad.size(dim);
    if (in == out) continue;
    const Between b = between(c.g, in, out, c.flag(3), c.present(4 + i) ? c.constant(4 + i) : 0);
    const Value source = to_float(iota(c.g, {out, in}, 1)), weight = unsqueeze(b.weight, -1);
    const Value matrix = where(equal(source, unsqueeze(b.low, -1)), 1.0 - weight, 0) +
                         where(equal(source, unsqueeze(b.high, -1)), weight, 0);
    const Value rows = move_dim(grad, dim, -1);
    Dims shape = rows.shape();
    shape.back() = in;
    grad = move_dim(reshape(matmul(reshape(rows, {grad.numel() / out, out}), matrix), shape), -1, dim);
  }
  c.out(0, grad);
}

// ---- padding ----

Value reversed_part(Value x, int dim, int64_t start, int64_t stop) { return flip(slice(x, dim, start, stop), dim); }

Value edge_padded(Value x, int dim, int64_t low, int64_t high, bool reflect) {
  const int64_t n = x.size(dim);
  std::vector<Value> parts;
  const auto repeated = [&](int64_t at, int64_t count) {
    Dims shape = x.shape();
    shape[dim] = count;
    return expand(slice(x, dim, at, at + 1), shape);
  };
  if (low > 0) parts.push_back(reflect ? reversed_part(x, dim, 1, low + 1) : repeated(0, low));
  parts.push_back(slice(x, dim, std::max<int64_t>(-low, 0), n - std::max<int64_t>(-high, 0)));
  if (high > 0) parts.push_back(reflect ? reversed_part(x, dim, n - 1 - high, n - 1) : repeated(n - 1, high));
  return concat(parts, dim);
}
template <bool Reflect>
void edge_pad(Call& c) {
  Value x = c.in(0);
  const Dims amounts = c.integers(1);
  for (size_t i = 0; i < amounts.size() / 2; ++i)
    x = edge_padded(x, x.rank() - 1 - static_cast<int>(i), amounts[2 * i], amounts[2 * i + 1], Reflect);
  c.out(0, x);
}

// The adjoint: the padding's gradients go back to where their values came from.
Value edge_gradient(Value grad, int dim, int64_t low, int64_t high, bool reflect) {
  const int64_t n = grad.size(dim) - low - high, total = grad.size(dim);
  Value inner = slice(grad, dim, std::max<int64_t>(low, 0), total - std::max<int64_t>(high, 0));
  inner = pad(inner, dim, std::max<int64_t>(-low, 0), std::max<int64_t>(-high, 0));
  const auto add = [&](Value part, int64_t at) { inner = inner + pad(part, dim, at, n - at - part.size(dim)); };
  if (low > 0) {
    const Value part = slice(grad, dim, 0, low);
    if (reflect) add(flip(part, dim), 1);
    if (!reflect) add(sum(part, {dim}), 0);
  }
  if (high > 0) {
    const Value part = slice(grad, dim, total - high, total);
    if (reflect) add(flip(part, dim), n - 1 - high);
    if (!reflect) add(sum(part, {dim}), n - 1);
  }
  return inner;
}
template <bool Reflect>
void edge_pad_backward(Call& c) {
  Value grad = c.arg_float(0);
  const Dims amounts = c.integers(2);
  for (size_t i = 0; i < amounts.size() / 2; ++i)
    grad = edge_gradient(grad, grad.rank() - 1 - static_cast<int>(i), amounts[2 * i], amounts[2 * i + 1], Reflect);
  c.out(0, grad);
}

// ---- pooling ----

int64_t at(const Dims& d, int i, int64_t otherwise) { return d.empty() ? otherwise : d.size() == 1 ? d[0] : d[i]; }

// One strided slice of the padded image for each place of the window, with the place's number.
struct Windows {
  std::vector<Value> taps;
  std::vector<Dims> offsets;
  Dims out;
};
Windows windows(Value padded, const Dims& kernel, const Dims& stride, const Dims& dilation, const Dims& out) {
  Windows w;
  w.out = out;
  const int spatial = static_cast<int>(kernel.size()), first = padded.rank() - spatial;
  for (int64_t tap = 0; tap < product(kernel); ++tap) {
    Value part = padded;
    Dims offset(spatial);
    int64_t rest = tap;
    for (int i = spatial - 1; i >= 0; --i) {
      offset[i] = rest % kernel[i] * dilation[i];
      rest /= kernel[i];
      part = slice(part, first + i, offset[i], offset[i] + (out[i] - 1) * stride[i] + 1, stride[i]);
    }
    w.taps.push_back(part);
    w.offsets.push_back(offset);
  }
  return w;
}

struct Pool {
  Dims kernel, stride, padding, dilation, out;
};
Pool pool(Call& c, int spatial, int kernel, int dilation) {
  Pool p;
  const Dims k = c.integers(kernel), s = c.integers(kernel + 1), pad = c.integers(kernel + 2),
             d = dilation >= 0 ? c.integers(dilation) : Dims{};
  const Dims& shape = c.shape(0);
  for (int i = 0; i < spatial; ++i) {
    p.kernel.push_back(at(k, i, 1));
    p.stride.push_back(at(s, i, p.kernel.back()));
    p.padding.push_back(at(pad, i, 0));
    p.dilation.push_back(at(d, i, 1));
    p.out.push_back(shape[shape.size() - spatial + i]);
  }
  return p;
}

// Padded on both sides, and further where ceil_mode lets the last window reach outside.
Value window_padded(Value x, const Pool& p, double value) {
  const int spatial = static_cast<int>(p.kernel.size());
  for (int i = 0; i < spatial; ++i) {
    const int dim = x.rank() - spatial + i;
    const int64_t reach = (p.out[i] - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] + 1;
    const int64_t size = x.size(dim) + p.padding[i];
    x = pad(x, dim, p.padding[i], std::max<int64_t>(reach - size, 0), value);
  }
  return x;
}

// (self, kernel, stride, padding, dilation, ceil_mode) -> values, indices into the flattened plane
template <int Spatial>
void max_pool(Call& c) {
  const Value x = c.arg_float(0);
  const Pool p = pool(c, Spatial, 1, 4);
  const Windows w = windows(window_padded(x, p, -kInf), p.kernel, p.stride, p.dilation, p.out);
  Value best = w.taps[0], winner = expand(number(c.g, 0, Dtype::int32), best.shape());
  for (size_t t = 1; t < w.taps.size(); ++t) {
    const Value better = logical_or(w.taps[t] > best, not_equal(w.taps[t], w.taps[t]));
    best = where(better, w.taps[t], best);
    winner = where(better, static_cast<double>(t), winner);
  }
  c.out(0, best);
  // Window number -> plane index.
  Value index{};
  Value rest = winner;
  Value plane_stride = number(c.g, 1, Dtype::int32);
  for (int i = Spatial - 1; i >= 0; --i) {
    const int dim = x.rank() - Spatial + i;
    const double k = static_cast<double>(p.kernel[i]);
    const Value place = apply(AluOp::mod, rest, k);
    const Value start =
        iota(c.g, best.shape(), dim) * static_cast<double>(p.stride[i]) - static_cast<double>(p.padding[i]);
    const Value here = (start + place * static_cast<double>(p.dilation[i])) * plane_stride;
    index = index.g ? index + here : here;
    rest = to_int(floor((to_float(rest - place) + 0.5) / k));
    plane_stride = plane_stride * static_cast<double>(x.size(dim));
  }
  c.out(1, index);
}

// (grad_output, self, kernel, stride, padding, dilation, ceil_mode, indices)
template <int Spatial>
void max_pool_backward(Call& c) {
  const Value grad = c.arg_float(0), index = to_int(c.in(7));
  const Dims& shape = c.shape(0);
  const int64_t plane = product({shape.end() - Spatial, shape.end()}), planes = product(shape) / plane;
  const Value base = expand(c.constant_value(0), {planes, plane});
  const Value rows = reshape(grad, {planes, grad.numel() / planes}),
              at_index = reshape(index, {planes, index.numel() / planes});
  c.out(0, {&c.g, c.g.put(AluOp::add, base.id, at_index.id, rows.id, 1)});
}

// How many places of each window are inside: the divisor of an average.
Value window_counts(Call& c, const Dims& image, const Pool& p, bool include_pad) {
  const int spatial = static_cast<int>(p.kernel.size());
  Value total{};
  for (int i = 0; i < spatial; ++i) {
    const int64_t size = image[image.size() - spatial + i];
    const Value start = iota(c.g, p.out[i]) * static_cast<double>(p.stride[i]) - static_cast<double>(p.padding[i]);
    Value stop = minimum(start + static_cast<double>(p.kernel[i]), static_cast<double>(size + p.padding[i]));
    Value from = start;
    if (!include_pad) {
      from = maximum(start, 0);
      stop = minimum(stop, static_cast<double>(size));
    }
    Dims along(spatial, 1);
    along[i] = p.out[i];
    const Value count = reshape(to_float(stop - from), along);
    total = total.g ? total * count : count;
  }
  return total;
}

// (self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override?)
template <int Spatial>
void avg_pool(Call& c) {
  const Value x = c.arg_float(0);
  const Pool p = pool(c, Spatial, 1, -1);
  const Windows w = windows(window_padded(x, p, 0), p.kernel, p.stride, p.dilation, p.out);
  Value total = w.taps[0];
  for (size_t t = 1; t < w.taps.size(); ++t) total = total + w.taps[t];
  c.out(0, c.present(6) ? total / c.constant(6) : total / window_counts(c, x.shape(), p, c.flag(5)));
}

// (grad_output, self, kernel, stride, padding, ceil_mode, count_include_pad, divisor_override?)
template <int Spatial>
void avg_pool_backward(Call& c) {
  const Dims& image = c.shape(0);
  Value grad = c.arg_float(0);
  const int first = grad.rank() - Spatial;
  Pool p = pool(c, Spatial, 2, -1);
  for (int i = 0; i < Spatial; ++i) p.out[i] = grad.size(first + i);
  grad = c.present(7) ? grad / c.constant(7) : grad / window_counts(c, image, p, c.flag(6));
  for (int i = 0; i < Spatial; ++i) grad = spread(grad, first + i, p.stride[i]);
  // Every place of the window gets the window's share, cut to what is inside the image.
  Value total{};
  for (int64_t tap = 0; tap < product(p.kernel); ++tap) {
    Value part = grad;
    int64_t rest = tap;
    bool outside = false;  // in every window
    for (int i = Spatial - 1; i >= 0 && !outside; --i) {
      const int64_t low = rest % p.kernel[i] - p.padding[i], size = part.size(first + i);
      rest /= p.kernel[i];
      outside = low >= image[first + i] || low + size <= 0;
      if (!outside) part = pad(part, first + i, low, image[first + i] - low - size);
    }
    if (!outside) total = total.g ? total + part : part;
  }
  c.out(0, total);
}

// (self, output_size): windows [floor(i * in / out), ceil((i + 1) * in / out)), one averaging matrix a dim.
template <int Spatial>
void adaptive_avg_pool(Call& c) {
  Value x = c.arg_float(0);
  for (int i = 0; i < Spatial; ++i) {
    const int dim = x.rank() - Spatial + i;
    const int64_t in = x.size(dim), out = c.shape(0)[dim];
    std::vector<Value> parts;
    for (int64_t o = 0; o < out; ++o) {
      const int64_t start = o * in / out, stop = ((o + 1) * in + out - 1) / out;
      parts.push_back(mean(slice(x, dim, start, stop), {dim}));
    }
    x = concat(parts, dim);
  }
  c.out(0, x);
}
// (grad_output, self)
template <int Spatial>
void adaptive_avg_pool_backward(Call& c) {
  Value grad = c.arg_float(0);
  const Dims& shape = c.shape(0);
  for (int i = 0; i < Spatial; ++i) {
    const int dim = grad.rank() - Spatial + i;
    const int64_t in = shape[dim], out = grad.size(dim);
    Value total{};
    for (int64_t o = 0; o < out; ++o) {
      const int64_t start = o * in / out, stop = ((o + 1) * in + out - 1) / out;
      Dims wide = grad.shape();
      wide[dim] = stop - start;
      const Value part =
          pad(expand(slice(grad, dim, o, o + 1) / static_cast<double>(stop - start), wide), dim, start, in - stop);
      total = total.g ? total + part : part;
    }
    grad = total;
  }
  c.out(0, grad);
}

constexpr Row kRows[] = {
    {"upsample_nearest1d", nearest},
    {"upsample_nearest2d", nearest},
    {"upsample_nearest3d", nearest},
    {"upsample_nearest1d_backward", nearest_backward},
    {"upsample_nearest2d_backward", nearest_backward},
    {"upsample_nearest3d_backward", nearest_backward},
    {"_upsample_nearest_exact1d", nearest_exact},
    {"_upsample_nearest_exact2d", nearest_exact},
    {"_upsample_nearest_exact3d", nearest_exact},
    {"_upsample_nearest_exact1d_backward", nearest_exact_backward},
    {"_upsample_nearest_exact2d_backward", nearest_exact_backward},
    {"_upsample_nearest_exact3d_backward", nearest_exact_backward},
    {"upsample_linear1d", upsample_linear},
    {"upsample_linear1d_backward", upsample_linear_backward},
    {"upsample_bilinear2d", upsample_linear},
    {"upsample_bilinear2d_backward", upsample_linear_backward},
    {"upsample_trilinear3d", upsample_linear},
    {"upsample_trilinear3d_backward", upsample_linear_backward},
    {"reflection_pad1d", edge_pad<true>},
    {"reflection_pad2d", edge_pad<true>},
    {"reflection_pad3d", edge_pad<true>},
    {"replication_pad1d", edge_pad<false>},
    {"replication_pad2d", edge_pad<false>},
    {"replication_pad3d", edge_pad<false>},
    {"reflection_pad1d_backward", edge_pad_backward<true>},
    {"reflection_pad2d_backward", edge_pad_backward<true>},
    {"reflection_pad3d_backward", edge_pad_backward<true>},
    {"replication_pad1d_backward", edge_pad_backward<false>},
    {"replication_pad2d_backward", edge_pad_backward<false>},
    {"replication_pad3d_backward", edge_pad_backward<false>},
    {"max_pool2d_with_indices", max_pool<2>},
    {"max_pool2d_with_indices_backward", max_pool_backward<2>},
    {"max_pool3d_with_indices", max_pool<3>},
    {"max_pool3d_with_indices_backward", max_pool_backward<3>},
    {"avg_pool2d", avg_pool<2>},
    {"avg_pool2d_backward", avg_pool_backward<2>},
    {"avg_pool3d", avg_pool<3>},
    {"avg_pool3d_backward", avg_pool_backward<3>},
    {"_adaptive_avg_pool2d", adaptive_avg_pool<2>},
    {"_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>},
    {"_adaptive_avg_pool3d", adaptive_avg_pool<3>},
    {"_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>},
};

}  // namespace

std::span<const Row> image_rows() { return kRows; }

}  // namespace trn::torch_backend
