// Histograms: every element looks its bin up among the edges; sums of weights by bin.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace trn::torch_backend {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using Range = std::optional<c10::ArrayRef<double>>;

// Elements [n, dims] with weights [n], counted between `edges`, one vector of bins + 1 for each dim. The last bin has
// both of its edges.
Tensor counted(const Tensor& points, const std::vector<Tensor>& edges, const OptionalTensor& weight, bool density) {
  const auto dims = static_cast<int64_t>(edges.size());
  Tensor place = at::zeros({points.size(0)}, points.options().dtype(at::kLong));
  Tensor inside = at::ones({points.size(0)}, points.options().dtype(at::kBool));
  std::vector<int64_t> bins;
  for (int64_t d = 0; d < dims; ++d) {
    const Tensor x = points.select(1, d).contiguous(), last = edges[d][-1];
    bins.push_back(edges[d].numel() - 1);
    const Tensor bin = at::searchsorted(edges[d], x, false, true) - 1;
    place = place * bins.back() + at::where(x.eq(last), bin.clamp_max(bins.back() - 1), bin);
    inside = inside.logical_and(x.ge(edges[d][0])).logical_and(x.le(last));
  }
  const bool weighted = weight && weight->defined();
  const Tensor each =
      weighted ? weight->reshape({-1}).to(points.scalar_type()) : at::ones_like(inside, points.options());
  int64_t all = 1;
  for (const int64_t n : bins) all *= n;
  Tensor hist =
      at::zeros({all}, points.options())
          .index_add_(0, place.masked_fill(inside.logical_not(), 0), each.masked_fill(inside.logical_not(), 0))
          .reshape(bins);
  if (!density) return hist;
  hist = hist / hist.sum();
  for (int64_t d = 0; d < dims; ++d) {
    std::vector<int64_t> along(static_cast<size_t>(dims), 1);
    along[static_cast<size_t>(d)] = bins[static_cast<size_t>(d)];
    hist = hist / edges[d].diff().reshape(along);
  }
  return hist;
}

Tensor as_points(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions, but got ",
              self.dim());
  return self.reshape({-1, self.size(-1)});
}
void check_weight(const Tensor& self, c10::IntArrayRef sizes, const OptionalTensor& weight, const char* name) {
  TORCH_CHECK(c10::isFloatingType(self.scalar_type()), "\"histogramdd\" not implemented for '", self.scalar_type(),
              "'");
  if (!weight || !weight->defined()) return;
  TORCH_CHECK(
      weight->sizes() == sizes, name,
      ": if weight tensor is provided it should have the same shape as the input tensor excluding its innermost "
      "dimension, got input with shape ",
      self.sizes(), " and weight with shape ", weight->sizes());
  TORCH_CHECK(
      weight->scalar_type() == self.scalar_type(), name,
      ": if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input(",
      self.scalar_type(), "), and weight(", weight->scalar_type(), ")");
}

// Of the given ends; of all elements if there are none given, widened by half to both sides if they are all equal.
std::vector<Tensor> edges_of(const Tensor& points, c10::IntArrayRef bins, const Range& range) {
  const int64_t dims = points.size(1);
  TORCH_CHECK(static_cast<int64_t>(bins.size()) == dims, "torch.histogramdd: expected ", dims,
              " sequences of bin edges for a ", dims, "-dimensional histogram but got ", bins.size());
  TORCH_CHECK(!range || static_cast<int64_t>(range->size()) == 2 * dims, "torch.histogramdd: for a ", dims,
              "-dimensional histogram range should have ", 2 * dims, " elements, but got ", range ? range->size() : 0);
  std::vector<Tensor> edges;
  for (int64_t d = 0; d < dims; ++d) {
    double low = 0, high = 1;
    if (range) {
      low = (*range)[static_cast<size_t>(2 * d)];
      high = (*range)[static_cast<size_t>(2 * d + 1)];
    } else if (points.numel() > 0) {
      low = points.select(1, d).min().item<double>();
      high = points.select(1, d).max().item<double>();
    }
    TORCH_CHECK(low <= high, "torch.histogramdd: min should not exceed max, but got min ", low, " max ", high,
                " for dimension ", d);
    if (low == high) {
      low -= 0.5;
      high += 0.5;
    }
    edges.push_back(at::linspace(low, high, bins[static_cast<size_t>(d)] + 1, points.options()));
  }
  return edges;
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins, Range range, const OptionalTensor& weight,
                                     bool density) {
  check_weight(self, self.sizes(), weight, "histogram");
  const Tensor points = self.reshape({-1, 1});
  const std::vector<Tensor> edges = edges_of(points, bins, range);
  return {counted(points, edges, weight, density), edges[0]};
}
std::tuple<Tensor, Tensor> histogram_between(const Tensor& self, const Tensor& bins, const OptionalTensor& weight,
                                             bool density) {
  check_weight(self, self.sizes(), weight, "histogram");
  return {counted(self.reshape({-1, 1}), {bins}, weight, density), bins.clone()};
}

std::vector<Tensor> histogramdd_edges(const Tensor& self, c10::IntArrayRef bins, Range range, const OptionalTensor&,
                                      bool) {
  return edges_of(as_points(self), bins, range);
}
Tensor histogramdd(const Tensor& self, c10::IntArrayRef bins, Range range, const OptionalTensor& weight, bool density) {
  check_weight(self, self.sizes().slice(0, self.dim() - 1), weight, "torch.histogramdd");
  const Tensor points = as_points(self);
  return counted(points, edges_of(points, bins, range), weight, density);
}
Tensor histogramdd_between(const Tensor& self, at::TensorList bins, const OptionalTensor& weight, bool density) {
  check_weight(self, self.sizes().slice(0, self.dim() - 1), weight, "torch.histogramdd");
  return counted(as_points(self), bins.vec(), weight, density);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("histogram.bin_ct", histogram);
  m.impl("histogram.bins_tensor", histogram_between);
  m.impl("_histogramdd_bin_edges", histogramdd_edges);
  m.impl("_histogramdd_from_bin_cts", histogramdd);
  m.impl("_histogramdd_from_bin_tensors", histogramdd_between);
}

}  // namespace
}  // namespace trn::torch_backend
