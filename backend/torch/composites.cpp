// Ops whose result size or side effects the table cannot say: written in terms of other ops on the device. Only a count
// comes to the host.
#include <ATen/ExpandUtils.h>
#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_cdist_backward.h>
#include <ATen/ops/_cdist_forward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <array>
#include <tuple>

namespace trn::torch_backend {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

at::TensorOptions indices_like(const Tensor& t) { return t.options().dtype(at::kLong); }

// [size]: element i goes to `place[i]`, where there may be one place past the end for what is not wanted.
Tensor at_places(const Tensor& place, int64_t size, int64_t fill) {
  return at::empty({size + 1}, place.options())
      .fill_(fill)
      .scatter_(0, place, at::arange(place.numel(), place.options()))
      .slice(0, 0, size);
}

// Positions of the true elements of a vector: each goes to its rank, the rest to one place past the end.
Tensor true_positions(const Tensor& flat) {
  const int64_t n = flat.numel();
  if (n == 0) return at::empty({0}, indices_like(flat));
  const Tensor rank = flat.cumsum(0, at::kLong);
  const int64_t count = rank[n - 1].item<int64_t>();
  const Tensor place = at::where(flat, rank - 1, at::empty({}, indices_like(flat)).fill_(count));
  return at_places(place, count, 0);
}

// Coordinates of flat positions in a tensor of shape `sizes`, one column for each dim.
std::vector<Tensor> coordinates(Tensor position, c10::IntArrayRef sizes) {
  std::vector<Tensor> columns(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    columns[d] = position.remainder(sizes[d]);
    if (d > 0) position = position.floor_divide(sizes[d]);
  }
  return columns;
}

Tensor nonzero_positions(const Tensor& self) {
  const Tensor position = true_positions(self.ne(0).reshape({-1}));
  if (self.dim() == 0) return position.new_empty({position.numel(), 0});
  return at::stack(coordinates(position, self.sizes()), 1);
}

// As many rows as asked for, known without a look at the data.
Tensor nonzero_static(const Tensor& self, c10::SymInt given, int64_t fill) {
  const int64_t size = given.expect_int(), n = self.numel();
  TORCH_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer");
  const auto options = indices_like(self);
  if (n == 0 || size == 0 || self.dim() == 0) {
    const Tensor found = nonzero_positions(self).slice(0, 0, size);
    return at::cat({found, at::empty({size - found.size(0), self.dim()}, options).fill_(fill)});
  }
  const Tensor flat = self.ne(0).reshape({-1}), rank = flat.cumsum(0, at::kLong);
  const Tensor place = at::where(flat, rank - 1, at::empty({}, options).fill_(size)).clamp_max(size);
  const Tensor position = at_places(place, size, -1);
  return at::stack(coordinates(position.clamp_min(0), self.sizes()), 1).masked_fill(position.lt(0).unsqueeze(1), fill);
}

// [2, count] coordinates of a triangle of a matrix.
Tensor triangle(int64_t rows, int64_t columns, int64_t offset, bool lower, at::TensorOptions options) {
  const Tensor ones = at::ones({rows, columns}, options.dtype(at::kBool));
  return nonzero_positions(lower ? ones.tril(offset) : ones.triu(offset)).t().contiguous().to(options.dtype());
}
template <bool Lower>
Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, std::optional<c10::ScalarType> dtype,
                        std::optional<c10::Layout>, std::optional<c10::Device> device, std::optional<bool>) {
  const auto options =
      at::TensorOptions().dtype(dtype.value_or(at::kLong)).device(device.value_or(c10::Device(c10::kPrivateUse1)));
  return triangle(rows, columns, offset, Lower, options);
}

// `noise` is the slope of each element, which backward takes.
Tensor& rrelu_out(const Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper, bool training,
                  std::optional<at::Generator> generator, Tensor& out) {
  if (!training) return at::leaky_relu_out(out, self, (lower.toDouble() + upper.toDouble()) / 2);
  const Tensor slope = at::empty_like(self).uniform_(lower.toDouble(), upper.toDouble(), std::move(generator));
  noise.copy_(at::where(self.le(0), slope, at::ones({}, self.options())));
  return at::mul_out(out, self, noise);
}
Tensor rrelu(const Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper, bool training,
             std::optional<at::Generator> generator) {
  Tensor out = at::empty_like(self);
  return rrelu_out(self, noise, lower, upper, training, std::move(generator), out);
}
Tensor& rrelu_(Tensor& self, Tensor& noise, const at::Scalar& lower, const at::Scalar& upper, bool training,
               std::optional<at::Generator> generator) {
  return rrelu_out(self, noise, lower, upper, training, std::move(generator), self);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  const auto shape = at::infer_size(self.sizes(), mask.sizes());
  return self.expand(shape).reshape({-1}).index_select(0, true_positions(mask.expand(shape).reshape({-1})));
}

Tensor bincount(const Tensor& self, const OptionalTensor& weights, int64_t minlength) {
  TORCH_CHECK(self.dim() == 1 && at::isIntegralType(self.scalar_type(), false),
              "bincount only supports 1-d non-negative integral inputs.");
  int64_t size = minlength;
  if (self.numel() > 0) {
    TORCH_CHECK(self.min().item<int64_t>() >= 0, "bincount only supports 1-d non-negative integral inputs.");
    size = std::max(size, self.max().item<int64_t>() + 1);
  }
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  const bool weighted = weights && weights->defined();
  TORCH_CHECK(!weighted || weights->sizes() == self.sizes(), "weights should be 1-d and have the same length as input");
  const auto weight_dtype = weighted && weights->scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  const Tensor each = weighted ? weights->to(weight_dtype) : at::ones({self.numel()}, indices_like(self));
  return at::zeros({size}, each.options()).index_add_(0, self, each);
}

Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> output_size) {
  const Tensor ends = repeats.cumsum(0, at::kLong);
  const int64_t total = output_size ? *output_size : repeats.numel() == 0 ? 0 : ends[-1].item<int64_t>();
  return at::searchsorted(ends, at::arange(total, indices_like(repeats)), false, true).to(repeats.scalar_type());
}

// Distances of every pair of rows, each pair once: those above the diagonal of all distances.
Tensor above_diagonal(int64_t n, const at::TensorOptions& options) {
  return true_positions(at::ones({n, n}, options.dtype(at::kBool)).triu(1).reshape({-1}));
}
Tensor pdist(const Tensor& self, double p) {
  TORCH_CHECK(self.dim() == 2, "_pdist_forward: a matrix is needed");
  if (self.size(0) < 2) return at::empty({0}, self.options());
  return at::_cdist_forward(self, self, p, std::nullopt)
      .reshape({-1})
      .index_select(0, above_diagonal(self.size(0), self.options()));
}
Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& distances) {
  const int64_t n = self.size(0);
  if (n < 2 || self.size(1) == 0) return at::zeros_like(self);
  const Tensor place = above_diagonal(n, self.options());
  const auto whole = [&](const Tensor& pairs) {
    const Tensor half = at::zeros({n * n}, self.options()).index_copy_(0, place, pairs.contiguous()).reshape({n, n});
    return (half + half.t()).contiguous();
  };
  return at::_cdist_backward(whole(grad), self, self, p, whole(distances));
}

// ---- batch norm: the running statistics are side effects that the schema does not show ----

using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

ThreeTensors batch_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                        const OptionalTensor& given_mean, const OptionalTensor& given_var, bool training,
                        double momentum, double eps) {
  const Tensor running_mean = given_mean.value_or(Tensor()), running_var = given_var.value_or(Tensor());
  using Training =
      std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>(const Tensor&, const OptionalTensor&, const OptionalTensor&,
                                                         const OptionalTensor&, const OptionalTensor&, double, double);
  using Inference =
      Tensor(const Tensor&, const OptionalTensor&, const OptionalTensor&, const Tensor&, const Tensor&, double);
  static const auto train =
      c10::Dispatcher::singleton().findSchemaOrThrow("neuron::batch_norm_training", "").typed<Training>();
  static const auto infer =
      c10::Dispatcher::singleton().findSchemaOrThrow("neuron::batch_norm_inference", "").typed<Inference>();
  if (!training) {
    TORCH_CHECK(running_mean.defined() && running_var.defined(),
                "batch_norm: running statistics are needed in evaluation");
    const Tensor none = at::empty({0}, input.options());
    return {infer.call(input, weight, bias, running_mean, running_var, eps), none, none};
  }
  const auto [out, mean, rstd, new_mean, new_var] =
      train.call(input, weight, bias, running_mean, running_var, momentum, eps);
  if (running_mean.defined()) running_mean.copy_(new_mean);
  if (running_var.defined()) running_var.copy_(new_var);
  return {out, mean, rstd};
}

ThreeTensors batch_norm_legit(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                              Tensor& running_mean, Tensor& running_var, bool training, double momentum, double eps) {
  return batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}
ThreeTensors batch_norm_no_stats(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias,
                                 bool training, double momentum, double eps) {
  return batch_norm(input, weight, bias, std::nullopt, std::nullopt, training, momentum, eps);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_with_update(const Tensor& input, const OptionalTensor& weight,
                                                                  const OptionalTensor& bias, Tensor& running_mean,
                                                                  Tensor& running_var, double momentum, double eps) {
  auto [out, mean, rstd] = batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {out, mean, rstd, at::empty({0}, input.options().dtype(at::kByte))};
}
ThreeTensors batch_norm_backward(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                 const OptionalTensor& running_mean, const OptionalTensor& running_var,
                                 const OptionalTensor& mean, const OptionalTensor& rstd, bool update, double eps,
                                 std::array<bool, 3> mask, const Tensor& /*reserve*/) {
  return at::native_batch_norm_backward(grad, input, weight, running_mean, running_var, mean, rstd, update, eps, mask);
}

// Everything but what broadcasts between query, key and value.
int64_t attention_choice(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor&, double,
                         bool, std::optional<double>, bool grouped) {
  const int64_t dims = query.dim();
  bool ours = dims >= 2 && key.dim() == dims && value.dim() == dims && query.numel() > 0 && value.numel() > 0;
  for (int64_t d = 0; ours && d < dims - 2; ++d) {
    const bool shared = grouped && d == dims - 3 && query.size(d) % key.size(d) == 0;
    ours = key.size(d) == value.size(d) && (shared || query.size(d) == key.size(d));
  }
  return static_cast<int64_t>(ours ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

Tensor zeros(c10::SymIntArrayRef sizes, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout,
             std::optional<c10::Device> device, std::optional<bool> pinned) {
  return at::zeros_symint(sizes, dtype, layout, device, pinned);
}

// Waits for the value: what is asserted is told at the assertion.
void assert_async(const Tensor& self, std::string_view message) {
  TORCH_CHECK(self.numel() == 1, "Boolean value of Tensor with ", self.numel() == 0 ? "no" : "more than one", " value",
              self.numel() == 0 ? "" : "s", " is ambiguous");
  TORCH_CHECK(self.item().toDouble() != 0, message);
}
void assert_async_plain(const Tensor& self) { assert_async(self, "Expected Tensor with single nonzero value"); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_efficientzerotensor", zeros);
  m.impl("nonzero", nonzero_positions);
  m.impl("nonzero_static", nonzero_static);
  m.impl("_assert_async", assert_async_plain);
  m.impl("_assert_async.msg", assert_async);
  m.impl("masked_select", masked_select);
  m.impl("tril_indices", triangle_indices<true>);
  m.impl("triu_indices", triangle_indices<false>);
  m.impl("rrelu_with_noise", rrelu);
  m.impl("rrelu_with_noise_", rrelu_);
  m.impl("rrelu_with_noise.out", rrelu_out);
  m.impl("bincount", bincount);
  m.impl("repeat_interleave.Tensor", repeat_interleave);
  m.impl("_pdist_forward", pdist);
  m.impl("_pdist_backward", pdist_backward);
  m.impl("native_batch_norm", batch_norm);
  m.impl("_native_batch_norm_legit", batch_norm_legit);
  m.impl("_native_batch_norm_legit.no_stats", batch_norm_no_stats);
  m.impl("_batch_norm_with_update", batch_norm_with_update);
  m.impl("batch_norm_backward", batch_norm_backward);
  m.impl("_fused_sdp_choice", attention_choice);
}

}  // namespace
}  // namespace trn::torch_backend

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &trn::torch_backend::attention_choice)
}  // namespace at::native
