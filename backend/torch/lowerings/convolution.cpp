#include "backend/torch/lowerings/lowering.h"

// Convolution of any rank as one matrix product over patches. PyTorch hands them to out-of-tree devices as
// convolution_overrideable.
namespace trn::torch_backend {
namespace {

struct Geometry {
  Dims stride, padding, dilation, output_padding;
  int64_t groups = 1;
};

Dims spatial_size(const Dims& shape) { return {shape.begin() + 2, shape.end()}; }

int64_t at(const Dims& d, int i) { return d.size() == 1 ? d[0] : d[i]; }

Value padded(Value x, const Geometry& k, int spatial) {
  for (int i = 0; i < spatial; ++i) x = pad(x, 2 + i, at(k.padding, i), at(k.padding, i));
  return x;
}

// Patches of x [N, C, spatial...] as [N, groups, taps * C/groups, outputs]: every kernel tap is a strided slice.
Value patches(Value x, const Dims& kernel, const Dims& out, const Geometry& k) {
  const auto spatial = static_cast<int>(kernel.size());
  const int64_t n = x.size(0), per_group = x.size(1) / k.groups;
  const Value full = padded(x, k, spatial);
  std::vector<Value> taps;
  for (int64_t tap = 0; tap < product(kernel); ++tap) {
    Value part = full;
    int64_t rest = tap;
    for (int i = spatial - 1; i >= 0; --i) {
      const int64_t first = rest % kernel[i] * at(k.dilation, i), step = at(k.stride, i);
      rest /= kernel[i];
      part = slice(part, 2 + i, first, first + (out[i] - 1) * step + 1, step);
    }
    taps.push_back(reshape(part, {n, k.groups, per_group, product(out)}));
  }
  return concat(taps, 2);
}

// w [O, C/groups, kernel...] as [groups, O/groups, taps * C/groups], in the order of patches().
Value weight_matrix(Value w, int64_t groups) {
  const int64_t outputs = w.size(0), inputs = w.size(1), taps = w.numel() / (outputs * inputs);
  return reshape(transpose(reshape(w, {groups, outputs / groups, inputs, taps}), 2, 3),
                 {groups, outputs / groups, taps * inputs});
}

// `out`: the spatial size of the result; the last places of a larger one are left out.
Value convolve(Value x, Value w, const Geometry& k, const Dims& out) {
  const Dims kernel = spatial_size(w.shape());
  const Value y = matmul(unsqueeze(weight_matrix(w, k.groups), 0), patches(x, kernel, out, k));
  Dims shape{x.size(0), w.size(0)};
  shape.insert(shape.end(), out.begin(), out.end());
  return reshape(y, shape);
}

// The adjoint of convolve: x [N, O, spatial...], w [O, C/groups, kernel...] -> [N, C, size...].
Value convolve_transposed(Value x, Value w, const Geometry& k, const Dims& size) {
  const auto spatial = static_cast<int>(w.rank() - 2);
  for (int i = 0; i < spatial; ++i) {
    const int64_t reach = at(k.dilation, i) * (w.size(2 + i) - 1);
    x = spread(x, 2 + i, at(k.stride, i));
    const int64_t low = reach - at(k.padding, i);
    x = pad(x, 2 + i, low, size[i] - (x.size(2 + i) + low - reach));
    w = flip(w, 2 + i);
  }
  // Swap inputs and outputs inside each group.
  const int64_t outputs = w.size(0), inputs = w.size(1);
  const Dims kernel = spatial_size(w.shape());
  Dims swapped{k.groups * inputs, outputs / k.groups};
  swapped.insert(swapped.end(), kernel.begin(), kernel.end());
  w = reshape(transpose(reshape(w, {k.groups, outputs / k.groups, inputs, product(kernel)}), 1, 2), swapped);
  Geometry inner;
  inner.stride = Dims(spatial, 1);
  inner.padding = Dims(spatial, 0);
  inner.dilation = k.dilation;
  inner.groups = k.groups;
  return convolve(x, w, inner, size);
}

// d loss / d w for y = convolve(x, w): gradients times patches, summed over batch and outputs.
Value weight_gradient(Value x, Value grad, const Dims& weight, const Geometry& k) {
  const Dims kernel = spatial_size(weight), out = spatial_size(grad.shape());
  const int64_t n = x.size(0), outputs = weight[0], inputs = weight[1], taps = product(kernel), places = product(out);
  Value columns = permute(patches(x, kernel, out, k), {1, 0, 3, 2});  // [groups, N, places, taps * inputs]
  columns = reshape(columns, {k.groups, n * places, taps * inputs});
  Value rows = permute(reshape(grad, {n, k.groups, outputs / k.groups, places}), {1, 2, 0, 3});
  rows = reshape(rows, {k.groups, outputs / k.groups, n * places});
  const Value g = matmul(rows, columns);
  return reshape(transpose(reshape(g, {outputs, taps, inputs}), 1, 2), weight);
}

Value operand(Call& c, int i) {
  const Value x = c.in(i);
  return x.is_float() && size_of(x.dtype()) <= 4 ? x : to_float(x);
}

Geometry geometry(Call& c, int first) {
  return {c.integers(first), c.integers(first + 1), c.integers(first + 2), c.integers(first + 4), c.integer(first + 5)};
}

// (input, weight, bias?, stride, padding, dilation, transposed, output_padding, groups)
void convolution(Call& c) {
  const Value x = operand(c, 0), w = operand(c, 1);
  const Geometry k = geometry(c, 3);
  Value y =
      c.flag(6) ? convolve_transposed(x, w, k, spatial_size(c.shape(0))) : convolve(x, w, k, spatial_size(c.shape(0)));
  if (c.present(2)) {
    Dims shape(y.rank(), 1);
    shape[1] = y.size(1);
    y = y + reshape(c.arg_float(2), shape);
  }
  c.out(0, y);
}

// (grad_output, input, weight, stride, padding, dilation, transposed, output_padding, groups, output_mask)
void convolution_backward(Call& c) {
  const Value grad = operand(c, 0), x = operand(c, 1), w = operand(c, 2);
  const Geometry k = geometry(c, 3);
  const bool transposed = c.flag(6);
  if (c.wanted(0))
    c.out(0, transposed ? convolve(grad, w, k, spatial_size(x.shape()))
                        : convolve_transposed(grad, w, k, spatial_size(x.shape())));
  if (c.wanted(1))
    c.out(1, transposed ? weight_gradient(grad, x, w.shape(), k) : weight_gradient(x, grad, w.shape(), k));
  if (!c.wanted(2)) return;
  Dims axes{0};
  for (int i = 2; i < grad.rank(); ++i) axes.push_back(i);
  c.out(2, sum(to_float(grad), axes));
}

constexpr Row kRows[] = {
    {"convolution_overrideable", convolution},
    {"convolution_backward_overrideable", convolution_backward},
};

}  // namespace

std::span<const Row> convolution_rows() { return kRows; }

}  // namespace trn::torch_backend
