#include <algorithm>
#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Windows of images that are neither pooled regularly nor convolved: adaptive and fractional maxima, unpooling, and
// patches as columns. Images are [N, C, spatial...] or [C, spatial...].
namespace trn::torch_backend {
namespace {

// A window's places along one dim: by tap, the index of each of `out` windows.
using Places = std::vector<Value>;

// [floor(i * in / out), ceil((i + 1) * in / out)): the last places of shorter windows repeat.
Places adaptive_places(Graph& g, int64_t in, int64_t out) {
  const Value i = iota(g, out), many = number(g, static_cast<double>(out), Dtype::int32);
  const Value first = integer_quotient(i * static_cast<double>(in), many, Rounding::down);
  const Value end =
      integer_quotient((i + 1) * static_cast<double>(in) + static_cast<double>(out - 1), many, Rounding::down);
  int64_t longest = 0;
  for (int64_t o = 0; o < out; ++o) longest = std::max(longest, ((o + 1) * in + out - 1) / out - o * in / out);
  Places p;
  for (int64_t tap = 0; tap < longest; ++tap) p.push_back(minimum(first + static_cast<double>(tap), end - 1));
  return p;
}

struct Best {
  Value value, index;  // index in the flattened plane
};

// The first largest of windows: `planes` [P, plane], `places` by spatial dim, each [P or 1, out of that dim].
Best largest(Value planes, const Dims& image, const std::vector<Places>& places, const Dims& out) {
  const auto spatial = static_cast<int>(image.size());
  std::vector<Value> rows{number(*planes.g, 0, Dtype::int32)};  // of all taps so far: [P or 1, out..., 1...]
  for (int d = 0; d < spatial; ++d) {
    std::vector<Value> next;
    for (const Value& row : rows)
      for (const Value& place : places[d]) {
        Dims along(spatial + 1, 1);
        along[0] = place.rank() == 2 ? place.size(0) : 1;
        along[d + 1] = out[d];
        next.push_back(row * static_cast<double>(image[d]) + reshape(place, along));
      }
    rows = next;
  }
  Dims shape{planes.size(0)};
  shape.insert(shape.end(), out.begin(), out.end());
  Best best{};
  for (const Value& row : rows) {
    const Value index = reshape(expand(row, shape), {shape[0], product(out)});
    const Value value = take_along(planes, index, 1);
    if (!best.value.g) {
      best = {value, index};
      continue;
    }
    const Value better = logical_or(value > best.value, not_equal(value, value));
    best = {where(better, value, best.value), where(better, index, best.index)};
  }
  return best;
}

template <int Spatial>
Dims image_of(const Dims& shape) {
  return {shape.end() - Spatial, shape.end()};
}
Value planes_of(Value x, const Dims& image) { return reshape(x, {x.numel() / product(image), product(image)}); }

// (self, output_size) -> values, indices
template <int Spatial>
void adaptive_max_pool(Call& c) {
  const Value x = c.arg_float(0);
  const Dims image = image_of<Spatial>(x.shape()), out = image_of<Spatial>(c.shape(0));
  std::vector<Places> places;
  for (int d = 0; d < Spatial; ++d) places.push_back(adaptive_places(c.g, image[d], out[d]));
  const Best best = largest(planes_of(x, image), image, places, out);
  c.out(0, best.value);
  c.out(1, best.index);
}

// (self, kernel_size, output_size, random_samples [N, C, dims]) -> values, indices. Windows start where
// ATen/native/FractionalMaxPool2d.cpp lets them; in two dims samples count from the last.
template <int Spatial>
void fractional_max_pool(Call& c) {
  const Value x = c.arg_float(0), samples = c.arg_float(3);
  const Dims image = image_of<Spatial>(x.shape()), out = image_of<Spatial>(c.shape(0)), kernel = c.integers(1);
  const Value planes = planes_of(x, image), by_plane = reshape(samples, {planes.size(0), Spatial});
  std::vector<Places> places;
  for (int d = 0; d < Spatial; ++d) {
    const int64_t size = kernel.size() == 1 ? kernel[0] : kernel[d];
    const double room = static_cast<double>(image[d] - size);
    const int column = Spatial == 2 ? 1 - d : d;
    const Value sample = slice(by_plane, 1, column, column + 1), i = iota(c.g, Dims{1, out[d]}, 1);
    Value start = i * 0.0 + room;
    if (out[d] > 1) {
      const double alpha = room / static_cast<double>(out[d] - 1);
      const Value inner = to_int(trunc((to_float(i) + sample) * alpha)) - to_int(trunc(sample * alpha));
      start = where(equal(i, static_cast<double>(out[d] - 1)), to_int(like(inner, room)), inner);
    }
    Places p;
    for (int64_t tap = 0; tap < size; ++tap) p.push_back(to_int(start) + static_cast<double>(tap));
    places.push_back(p);
  }
  const Best best = largest(planes, image, places, out);
  c.out(0, best.value);
  c.out(1, best.index);
}

Value put_planes(Call& c, AluOp op, Value index, Value rows, const Dims& image) {
  const int64_t planes = rows.numel() * product(image) == 0 ? 0 : product(c.shape(0)) / product(image);
  const Value base = expand(number(c.g, 0, rows.dtype()), {planes, product(image)});
  const Dims shape{planes, rows.numel() / planes};
  return {&c.g, c.g.put(op, base.id, reshape(to_index(index), shape).id, reshape(rows, shape).id, 1)};
}

// (grad_output, self, indices); for fractional pooling indices are argument 4.
template <int Spatial, int Indices>
void max_pool_gradient(Call& c) {
  c.out(0, put_planes(c, AluOp::add, c.in(Indices), c.arg_float(0), image_of<Spatial>(c.shape(0))));
}
// (self, indices, output_size...)
template <int Spatial>
void max_unpool(Call& c) {
  c.out(0, put_planes(c, AluOp::bypass, c.in(1), c.in(0), image_of<Spatial>(c.shape(0))));
}

// ---- patches as columns ----

struct Patches {
  Dims kernel, dilation, padding, stride, image, out;
};
Patches patches(Call& c, int first, Dims image) {
  Patches p{c.integers(first),     c.integers(first + 1), c.integers(first + 2),
            c.integers(first + 3), std::move(image),      {}};
  for (int d = 0; d < 2; ++d) {
    const int64_t reach = p.dilation[d] * (p.kernel[d] - 1) + 1;
    p.out.push_back((p.image[d] + 2 * p.padding[d] - reach) / p.stride[d] + 1);
  }
  return p;
}

// (self, kernel_size, dilation, padding, stride): [N, C, H, W] -> [N, C * taps, places]
void im2col(Call& c) {
  Value x = c.in(0);
  if (x.rank() == 3) x = unsqueeze(x, 0);
  const Patches p = patches(c, 1, image_of<2>(x.shape()));
  for (int d = 0; d < 2; ++d) x = pad(x, 2 + d, p.padding[d], p.padding[d]);
  std::vector<Value> taps;
  for (int64_t i = 0; i < p.kernel[0]; ++i)
    for (int64_t j = 0; j < p.kernel[1]; ++j) {
      const int64_t y = i * p.dilation[0], z = j * p.dilation[1];
      const Value rows = slice(x, 2, y, y + (p.out[0] - 1) * p.stride[0] + 1, p.stride[0]);
      const Value part = slice(rows, 3, z, z + (p.out[1] - 1) * p.stride[1] + 1, p.stride[1]);
      taps.push_back(reshape(part, {x.size(0), x.size(1), 1, product(p.out)}));
    }
  c.out(0, concat(taps, 2));
}

// (self, output_size, kernel_size, dilation, padding, stride): sums what im2col copied.
void col2im(Call& c) {
  const Value x = to_float(c.in(0));
  const Patches p = patches(c, 2, c.integers(1));
  const int64_t taps = product(p.kernel), planes = x.numel() / (taps * product(p.out));
  const Value columns = reshape(x, {planes, taps, p.out[0], p.out[1]});
  Value total{};
  for (int64_t tap = 0; tap < taps; ++tap) {
    Value part = squeeze(slice(columns, 1, tap, tap + 1), 1);
    const int64_t place[] = {tap / p.kernel[1], tap % p.kernel[1]};
    for (int d = 0; d < 2; ++d) {
      part = spread(part, 1 + d, p.stride[d]);
      const int64_t low = place[d] * p.dilation[d], whole = p.image[d] + 2 * p.padding[d];
      part = pad(part, 1 + d, low, whole - low - part.size(1 + d));
    }
    total = total.g ? total + part : part;
  }
  for (int d = 0; d < 2; ++d) total = slice(total, 1 + d, p.padding[d], p.padding[d] + p.image[d]);
  c.out(0, total);
}

constexpr Row kRows[] = {
    {"adaptive_max_pool2d", adaptive_max_pool<2>},
    {"adaptive_max_pool3d", adaptive_max_pool<3>},
    {"adaptive_max_pool2d_backward", max_pool_gradient<2, 2>},
    {"adaptive_max_pool3d_backward", max_pool_gradient<3, 2>},
    {"fractional_max_pool2d", fractional_max_pool<2>},
    {"fractional_max_pool3d", fractional_max_pool<3>},
    {"fractional_max_pool2d_backward", max_pool_gradient<2, 4>},
    {"fractional_max_pool3d_backward", max_pool_gradient<3, 4>},
    {"max_unpool2d", max_unpool<2>},
    {"max_unpool3d", max_unpool<3>},
    {"im2col", im2col},
    {"col2im", col2im},
};

}  // namespace

std::span<const Row> windows_rows() { return kRows; }

}  // namespace trn::torch_backend
