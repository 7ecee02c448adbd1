// embedding_bag: rows of a table, summed, averaged or maximised over bags of indices.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <limits>
#include <tuple>

namespace trn::torch_backend {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using FourTensors = std::tuple<Tensor, Tensor, Tensor, Tensor>;

enum Mode : int64_t { kSum, kMean, kMax };

bool has(const OptionalTensor& t) { return t && t->defined(); }

// Which indices count: all but the padding.
Tensor counted(const Tensor& indices, int64_t padding) {
  return padding >= 0 ? indices.ne(padding) : indices.eq(indices);
}

Tensor zeros(int64_t rows, int64_t width, const Tensor& like) {
  return at::zeros({rows, width}, like.options().dtype(at::kFloat));
}

// (weight, indices, offsets, ...) -> output, bag of each index, sizes of bags, index of each maximum or -1
FourTensors embedding_bag(const Tensor& weight, const Tensor& given, const Tensor& offsets, bool /*scale_by_freq*/,
                          int64_t mode, bool /*sparse*/, const OptionalTensor& weights, bool include_last_offset,
                          int64_t padding) {
  const Tensor indices = given.to(at::kLong), edges = offsets.to(at::kLong);
  const int64_t n = indices.numel(), width = weight.size(1), bags = edges.numel() - (include_last_offset ? 1 : 0);
  const Tensor position = at::arange(n, indices.options());
  const Tensor bag = at::searchsorted(edges.slice(0, 0, bags), position, false, true) - 1;
  const Tensor real = counted(indices, padding);
  const Tensor sizes = at::zeros({bags}, indices.options()).index_add_(0, bag, real.to(at::kLong));
  Tensor rows = weight.index_select(0, indices).to(at::kFloat);
  const Tensor none = at::zeros({0}, indices.options());
  if (mode != kMax) {
    if (has(weights)) rows = rows * weights->to(at::kFloat).unsqueeze(1);
    rows = at::where(real.unsqueeze(1), rows, at::zeros({}, rows.options()));
    Tensor sum = zeros(bags, width, weight).index_add_(0, bag, rows);
    if (mode == kMean) sum = sum / sizes.clamp_min(1).unsqueeze(1);
    return {sum.to(weight.scalar_type()), bag, sizes, none};
  }
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  rows = rows.masked_fill(real.logical_not().unsqueeze(1), lowest);
  const Tensor by_bag = bag.unsqueeze(1).expand({n, width});
  const Tensor most = at::full({bags, width}, lowest, rows.options()).scatter_reduce_(0, by_bag, rows, "amax");
  const Tensor wins = rows.eq(most.index_select(0, bag)).logical_and(real.unsqueeze(1));
  const Tensor place = at::where(wins, position.unsqueeze(1), at::full({}, n, indices.options()));
  const Tensor first = at::full({bags, width}, n, indices.options()).scatter_reduce_(0, by_bag, place, "amin");
  const Tensor found = first.lt(n), nowhere = at::full({}, -1, indices.options());
  const Tensor winner =
      at::where(found, indices.index_select(0, first.clamp_max(n - 1).reshape({-1})).view_as(first), nowhere);
  return {at::where(found, most, at::zeros({}, most.options())).to(weight.scalar_type()), bag, sizes, winner};
}

Tensor embedding_bag_backward(const Tensor& grad, const Tensor& given, const Tensor& /*offsets*/, const Tensor& bag,
                              const Tensor& sizes, const Tensor& winner, c10::SymInt num_weights, bool scale_by_freq,
                              int64_t mode, bool sparse, const OptionalTensor& weights, int64_t padding) {
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "embedding_bag with sparse gradients is not implemented on neuron");
  const Tensor indices = given.to(at::kLong), wide = grad.to(at::kFloat);
  const int64_t rows = num_weights.expect_int(), width = grad.size(1);
  if (mode == kMax) {
    const Tensor share = at::where(winner.ge(0), wide, at::zeros({}, wide.options()));
    return zeros(rows, width, grad).scatter_add_(0, winner.clamp_min(0), share).to(grad.scalar_type());
  }
  Tensor each = wide.index_select(0, bag);
  if (mode == kMean) each = each / sizes.clamp_min(1).index_select(0, bag).unsqueeze(1);
  if (has(weights)) each = each * weights->to(at::kFloat).unsqueeze(1);
  if (scale_by_freq) {
    const Tensor ones = at::full({indices.numel()}, 1.0, wide.options());
    const Tensor often = at::zeros({rows}, wide.options()).index_add_(0, indices, ones);
    each = each / often.index_select(0, indices).unsqueeze(1);
  }
  each = each.masked_fill(counted(indices, padding).logical_not().unsqueeze(1), 0);
  return zeros(rows, width, grad).index_add_(0, indices, each).to(grad.scalar_type());
}

Tensor per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& given,
                                   const Tensor& /*offsets*/, const Tensor& bag, int64_t mode, int64_t padding) {
  TORCH_CHECK(mode == kSum, "embedding_bag: per_sample_weights only works with mode='sum'");
  const Tensor indices = given.to(at::kLong);
  const Tensor rows = weight.index_select(0, indices).to(at::kFloat), each = grad.to(at::kFloat).index_select(0, bag);
  return (rows * each).sum(1).masked_fill(counted(indices, padding).logical_not(), 0).to(grad.scalar_type());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_embedding_bag", embedding_bag);
  m.impl("_embedding_bag_forward_only", embedding_bag);
  m.impl("_embedding_bag_backward", embedding_bag_backward);
  m.impl("_embedding_bag_per_sample_weights_backward", per_sample_weights_backward);
}

}  // namespace
}  // namespace trn::torch_backend
