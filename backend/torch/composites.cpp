// Ops whose result size or side effects the table cannot say: written in terms of other ops on the device. Only a count
// comes to the host.
#include <ATen/ExpandUtils.h>
#include <ATen/SDPBackend.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <tuple>

namespace trn::torch_backend {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

at::TensorOptions indices_like(const Tensor& t) { return t.options().dtype(at::kLong); }

// Positions of the true elements of a vector: each goes to its rank, the rest to one place past the end.
Tensor true_positions(const Tensor& flat) {
  const int64_t n = flat.numel();
  if (n == 0) return at::empty({0}, indices_like(flat));
  const Tensor rank = flat.cumsum(0, at::kLong);
  const int64_t count = rank[n - 1].item<int64_t>();
  const Tensor place = at::where(flat, rank - 1, at::empty({}, indices_like(flat)).fill_(count));
  return at::empty({count + 1}, indices_like(flat))
      .fill_(0)
      .scatter_(0, place, at::arange(n, indices_like(flat)))
      .slice(0, 0, count);
}

Tensor nonzero(const Tensor& self) {
  Tensor position = true_positions(self.ne(0).reshape({-1}));
  if (self.dim() == 0) return position.new_empty({position.numel(), 0});
  std::vector<Tensor> columns(static_cast<size_t>(self.dim()));
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    columns[static_cast<size_t>(d)] = position.remainder(self.size(d));
    if (d > 0) position = position.floor_divide(self.size(d));
  }
  return at::stack(columns, 1);
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  const auto shape = at::infer_size(self.sizes(), mask.sizes());
  return self.expand(shape).reshape({-1}).index_select(0, true_positions(mask.expand(shape).reshape({-1})));
}

// Groups of equal neighbours of a vector: (values, group of each element, sizes).
std::tuple<Tensor, Tensor, Tensor> equal_runs(const Tensor& v) {
  const int64_t n = v.numel();
  if (n == 0) return {v, at::empty({0}, indices_like(v)), at::empty({0}, indices_like(v))};
  const Tensor first = at::cat({at::ones({1}, v.options().dtype(at::kBool)), v.slice(0, 1).ne(v.slice(0, 0, n - 1))});
  const Tensor start = true_positions(first);
  const Tensor edges = at::cat({start, at::empty({1}, indices_like(v)).fill_(n)});
  return {v.index_select(0, start), first.cumsum(0, at::kLong) - 1, edges.slice(0, 1) - start};
}

std::tuple<Tensor, Tensor, Tensor> unique2(const Tensor& self, bool /*sorted*/, bool inverse, bool counts) {
  const Tensor flat = self.reshape({-1});
  const auto [values, order] = at::sort(flat, 0);
  auto [unique, group, sizes] = equal_runs(values);
  const Tensor none = at::empty({0}, indices_like(self));
  const Tensor back =
      inverse ? at::empty({flat.numel()}, indices_like(self)).fill_(0).scatter_(0, order, group).reshape(self.sizes())
              : none;
  return {unique, back, counts ? sizes : none};
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool inverse, bool counts,
                                                      std::optional<int64_t> dim) {
  TORCH_CHECK_NOT_IMPLEMENTED(!dim || self.dim() == 1, "unique_consecutive along a dim is not implemented on neuron");
  auto [unique, group, sizes] = equal_runs(self.reshape({-1}));
  const Tensor none = at::empty({0}, indices_like(self));
  return {unique, inverse ? group.reshape(self.sizes()) : none, counts ? sizes : none};
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

// The lowering has no dropout; PyTorch's decomposition has.
int64_t attention_choice(const Tensor& query, const Tensor&, const Tensor&, const OptionalTensor&, double dropout, bool,
                         std::optional<double>, bool) {
  const bool ours = dropout == 0 && query.dim() == 4;
  return static_cast<int64_t>(ours ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("nonzero", nonzero);
  m.impl("masked_select", masked_select);
  m.impl("_unique2", unique2);
  m.impl("unique_consecutive", unique_consecutive);
  m.impl("bincount", bincount);
  m.impl("repeat_interleave.Tensor", repeat_interleave);
  m.impl("native_batch_norm", batch_norm);
  m.impl("_native_batch_norm_legit", batch_norm_legit);
  m.impl("_native_batch_norm_legit.no_stats", batch_norm_no_stats);
  m.impl("_fused_sdp_choice", attention_choice);
}

}  // namespace
}  // namespace trn::torch_backend

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &trn::torch_backend::attention_choice)
}  // namespace at::native
