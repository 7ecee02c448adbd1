#include "backend/torch/lowerings/lowering.h"

// Layer, group and batch norm, forward and backward.
namespace trn::torch_backend {
namespace {

Dims last_axes(int rank, int64_t count) {
  Dims axes;
  for (int64_t i = rank - count; i < rank; ++i) axes.push_back(i);
  return axes;
}

struct Normalised {
  Value values, mean, rstd;
};
Normalised normalised(Value x, const Dims& axes, double eps) {
  const Value center = mean(x, axes), moved = x - center;
  const Value rstd = rsqrt(mean(square(moved), axes) + eps);
  return {moved * rstd, center, rstd};
}

// d loss / d x for y = (x - mean) * rstd, `grad` = d loss / d y, `y` the normalised values.
Value normalised_gradient(Value grad, Value y, Value rstd, const Dims& axes) {
  return (grad - mean(grad, axes) - y * mean(grad * y, axes)) * rstd;
}

// (input, normalized_shape, weight?, bias?, eps) -> out, mean, rstd
void layer_norm(Call& c) {
  const Value x = c.arg_float(0);
  const Normalised n = normalised(x, last_axes(x.rank(), static_cast<int64_t>(c.integers(1).size())), c.constant(4));
  Value y = n.values;
  if (c.present(2)) y = y * c.arg_float(2);
  if (c.present(3)) y = y + c.arg_float(3);
  c.out(0, y);
  c.out(1, n.mean);
  c.out(2, n.rstd);
}

// (grad_out, input, normalized_shape, mean, rstd, weight?, bias?, output_mask)
void layer_norm_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1), center = c.arg_float(3), rstd = c.arg_float(4);
  const auto count = static_cast<int64_t>(c.integers(2).size());
  const Dims axes = last_axes(x.rank(), count);
  const Value y = (x - center) * rstd;
  Dims batch;
  for (int64_t i = 0; i < x.rank() - count; ++i) batch.push_back(i);
  const auto over_batch = [&](Value v) { return batch.empty() ? v : sum(v, batch); };
  if (c.wanted(0)) c.out(0, normalised_gradient(c.present(5) ? grad * c.arg_float(5) : grad, y, rstd, axes));
  if (c.wanted(1)) c.out(1, over_batch(grad * y));
  if (c.wanted(2)) c.out(2, over_batch(grad));
}

// Group norm's tensors as [N, groups, channels of a group, places]; its weights as [1, groups, channels of a group, 1].
struct Groups {
  int64_t n, channels, places, groups;
  Dims image() const { return {n, groups, channels / groups, places}; }
  Dims weights() const { return {1, groups, channels / groups, 1}; }
  Dims statistics() const { return {n, groups, 1, 1}; }
};
Groups groups_at(Call& c, int first) {
  return {c.integer(first), c.integer(first + 1), c.integer(first + 2), c.integer(first + 3)};
}

// (input, weight?, bias?, N, C, HxW, group, eps) -> out, mean, rstd
void group_norm(Call& c) {
  const Groups k = groups_at(c, 3);
  const Normalised r = normalised(reshape(c.arg_float(0), k.image()), {2, 3}, c.constant(7));
  Value y = r.values;
  if (c.present(1)) y = y * reshape(c.arg_float(1), k.weights());
  if (c.present(2)) y = y + reshape(c.arg_float(2), k.weights());
  c.out(0, y);
  c.out(1, r.mean);
  c.out(2, r.rstd);
}

// (grad_out, input, mean, rstd, weight?, N, C, HxW, group, output_mask)
void group_norm_backward(Call& c) {
  const Groups k = groups_at(c, 5);
  const Value grad = reshape(c.arg_float(0), k.image()), x = reshape(c.arg_float(1), k.image());
  const Value center = reshape(c.arg_float(2), k.statistics()), rstd = reshape(c.arg_float(3), k.statistics());
  const Value y = (x - center) * rstd;
  if (c.wanted(0))
    c.out(0, normalised_gradient(c.present(4) ? grad * reshape(c.arg_float(4), k.weights()) : grad, y, rstd, {2, 3}));
  if (c.wanted(1)) c.out(1, sum(grad * y, {0, 3}));
  if (c.wanted(2)) c.out(2, sum(grad, {0, 3}));
}

Value per_channel(Value v, int rank) {
  Dims shape(rank, 1);
  shape[1] = v.numel();
  return reshape(v, shape);
}

Dims all_but_channels(int rank) {
  Dims axes;
  for (int i = 0; i < rank; ++i)
    if (i != 1) axes.push_back(i);
  return axes;
}

Value affine(Call& c, Value y) {
  if (c.present(1)) y = y * per_channel(c.arg_float(1), y.rank());
  if (c.present(2)) y = y + per_channel(c.arg_float(2), y.rank());
  return y;
}

// (input, weight?, bias?, running_mean!, running_var!, momentum, eps) -> out, mean, rstd, new running_mean, new
// running_var
void batch_norm_training(Call& c) {
  const Value x = c.arg_float(0);
  const Dims axes = all_but_channels(x.rank());
  const Normalised r = normalised(x, axes, c.constant(6));
  const double momentum = c.constant(5), count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
  c.out(0, affine(c, r.values));
  c.out(1, r.mean);
  c.out(2, r.rstd);
  if (!c.present(3)) return;
  const Value variance = sum(square(x - r.mean), axes) / (count - 1);
  c.out(3, c.arg_float(3) * (1 - momentum) + flatten(r.mean) * momentum);
  c.out(4, c.arg_float(4) * (1 - momentum) + flatten(variance) * momentum);
}

// (input, weight?, bias?, running_mean, running_var, eps) -> out
void batch_norm_inference(Call& c) {
  const Value x = c.arg_float(0);
  const Value center = per_channel(c.arg_float(3), x.rank()), variance = per_channel(c.arg_float(4), x.rank());
  c.out(0, affine(c, (x - center) * rsqrt(variance + c.constant(5))));
}

// (grad_out, input, weight?, running_mean?, running_var?, save_mean?, save_invstd?, train, eps, output_mask)
void batch_norm_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  const Dims axes = all_but_channels(x.rank());
  const bool train = c.flag(7);
  const Value center = per_channel(c.arg_float(train ? 5 : 3), x.rank());
  const Value rstd =
      train ? per_channel(c.arg_float(6), x.rank()) : rsqrt(per_channel(c.arg_float(4), x.rank()) + c.constant(8));
  const Value y = (x - center) * rstd;
  const Value g = c.present(2) ? grad * per_channel(c.arg_float(2), x.rank()) : grad;
  if (c.wanted(0)) c.out(0, train ? normalised_gradient(g, y, rstd, axes) : g * rstd);
  if (c.wanted(1)) c.out(1, sum(grad * y, axes));
  if (c.wanted(2)) c.out(2, sum(grad, axes));
}

// (v, g, dim) -> w, norms
void weight_norm(Call& c) {
  const Value v = c.arg_float(0), g = c.arg_float(1);
  const int dim = c.dim(2, v.rank());
  Dims axes;
  for (int i = 0; i < v.rank(); ++i)
    if (i != dim) axes.push_back(i);
  const Value norms = sqrt(sum(square(v), axes));
  c.out(0, v * (g / norms));
  c.out(1, norms);
}

// (grad_w, saved_v, saved_g, saved_norms, dim) -> grad_v, grad_g
void weight_norm_backward(Call& c) {
  const Value grad = c.arg_float(0), v = c.arg_float(1), g = c.arg_float(2), norms = c.arg_float(3);
  const int dim = c.dim(4, v.rank());
  Dims axes;
  for (int i = 0; i < v.rank(); ++i)
    if (i != dim) axes.push_back(i);
  const Value along = sum(grad * v, axes);
  c.out(0, grad * (g / norms) - v * (g * along / (norms * norms * norms)));
  c.out(1, along / norms);
}

// (input, normalized_shape, weight?, eps?) -> out, rstd
void rms_norm(Call& c) {
  const Value x = c.arg_float(0);
  const Dims axes = last_axes(x.rank(), static_cast<int64_t>(c.integers(1).size()));
  const double eps = c.present(3) ? c.constant(3)
                                  : (c.dtype(0) == Dtype::bfloat16  ? 0x1p-7
                                     : c.dtype(0) == Dtype::float16 ? 0x1p-10
                                                                    : 0x1p-23);
  const Value rstd = rsqrt(mean(square(x), axes) + eps);
  c.out(0, c.present(2) ? x * rstd * c.arg_float(2) : x * rstd);
  c.out(1, rstd);
}

// (grad_out, input, normalized_shape, rstd, weight?, output_mask) -> grad_input, grad_weight
void rms_norm_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1), rstd = c.arg_float(3);
  const auto count = static_cast<int64_t>(c.integers(2).size());
  const Value y = x * rstd, g = c.present(4) ? grad * c.arg_float(4) : grad;
  if (c.wanted(0)) c.out(0, (g - y * mean(g * y, last_axes(x.rank(), count))) * rstd);
  if (!c.wanted(1)) return;
  Dims batch;
  for (int64_t i = 0; i < x.rank() - count; ++i) batch.push_back(i);
  c.out(1, batch.empty() ? grad * y : sum(grad * y, batch));
}

constexpr Row kRows[] = {
    {"native_layer_norm", layer_norm},
    {"native_layer_norm_backward", layer_norm_backward},
    {"native_group_norm", group_norm},
    {"native_group_norm_backward", group_norm_backward},
    {"neuron::batch_norm_training", batch_norm_training},
    {"neuron::batch_norm_inference", batch_norm_inference},
    {"native_batch_norm_backward", batch_norm_backward},
    {"_weight_norm_interface", weight_norm},
    {"_weight_norm_interface_backward", weight_norm_backward},
    {"_fused_rms_norm", rms_norm},
    {"_fused_rms_norm_backward", rms_norm_backward},
};

}  // namespace

std::span<const Row> normalisation_rows() { return kRows; }

}  // namespace trn::torch_backend
