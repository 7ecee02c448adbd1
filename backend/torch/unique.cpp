// unique and its kin: the size of the result comes to the host, the elements stay.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sort.h>
#include <torch/library.h>

#include <algorithm>
#include <tuple>

namespace trn::torch_backend {
namespace {

using at::Tensor;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

at::TensorOptions indices_like(const Tensor& t) { return t.options().dtype(at::kLong); }

struct Runs {
  Tensor values, group, sizes;  // one of each run; the run of each row; lengths of runs
};

// Runs of equal neighbours among rows [n, ...].
Runs equal_runs(const Tensor& rows) {
  const int64_t n = rows.size(0);
  if (n == 0) return {rows, at::empty({0}, indices_like(rows)), at::empty({0}, indices_like(rows))};
  Tensor differs = rows.slice(0, 1).ne(rows.slice(0, 0, n - 1));
  if (rows.dim() > 1) differs = differs.flatten(1).any(1);
  const Tensor first = at::cat({at::ones({1}, rows.options().dtype(at::kBool)), differs});
  const Tensor start = at::nonzero(first).squeeze(1);
  const Tensor edges = at::cat({start, at::full({1}, n, indices_like(rows))});
  return {rows.index_select(0, start), first.cumsum(0, at::kLong) - 1, edges.slice(0, 1) - start};
}

// `group` by row in the order `order`, put back to the rows' own places.
Tensor in_place_of(const Tensor& order, const Tensor& group) {
  return at::full({order.numel()}, 0, order.options()).scatter_(0, order, group);
}

ThreeTensors unique2(const Tensor& self, bool /*sorted*/, bool inverse, bool counts) {
  const auto [values, order] = at::sort(self.reshape({-1}), true, 0, false);
  const Runs runs = equal_runs(values);
  const Tensor none = at::empty({0}, indices_like(self));
  return {runs.values, inverse ? in_place_of(order, runs.group).reshape(self.sizes()) : none,
          counts ? runs.sizes : none};
}
std::tuple<Tensor, Tensor> unique(const Tensor& self, bool sorted, bool inverse) {
  auto [values, back, sizes] = unique2(self, sorted, inverse, false);
  return {values, back};
}

Tensor rows_of(const Tensor& self, int64_t dim) { return self.movedim(dim, 0).contiguous(); }

ThreeTensors unique_dim(const Tensor& self, int64_t dim, bool /*sorted*/, bool inverse, bool counts) {
  const auto empty_dims = std::count(self.sizes().begin(), self.sizes().end(), 0);
  const Tensor none = at::empty({0}, indices_like(self));
  if (self.size(dim) == 0) {
    TORCH_CHECK(empty_dims == 1, "Number of zero sized dimensions is more than one, so unique cannot be applied ");
    return {self.clone(), none, none};
  }
  TORCH_CHECK(empty_dims == 0, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Tensor rows = rows_of(self, dim);
  const int64_t n = rows.size(0);
  const Tensor columns = rows.reshape({n, -1});
  Tensor order = at::arange(n, indices_like(self));
  for (int64_t column = columns.size(1); column-- > 0;) {  // stable sorts, the most significant last
    const Tensor keys = columns.select(1, column).index_select(0, order);
    order = order.index_select(0, std::get<1>(at::sort(keys, true, 0, false)));
  }
  const Runs runs = equal_runs(rows.index_select(0, order));
  return {runs.values.movedim(0, dim), inverse ? in_place_of(order, runs.group) : none, counts ? runs.sizes : none};
}

ThreeTensors runs_of(const Tensor& self, bool inverse, bool counts, std::optional<int64_t> dim) {
  const Runs runs = equal_runs(dim ? rows_of(self, *dim) : self.reshape({-1}));
  const Tensor none = at::empty({0}, indices_like(self));
  const Tensor back = inverse ? (dim ? runs.group : runs.group.reshape(self.sizes())) : none;
  return {dim ? runs.values.movedim(0, *dim) : runs.values, back, counts ? runs.sizes : none};
}
ThreeTensors unique_dim_consecutive(const Tensor& self, int64_t dim, bool inverse, bool counts) {
  return runs_of(self, inverse, counts, dim);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_unique", unique);
  m.impl("_unique2", unique2);
  m.impl("unique_dim", unique_dim);
  m.impl("unique_consecutive", runs_of);
  m.impl("unique_dim_consecutive", unique_dim_consecutive);
}

}  // namespace
}  // namespace trn::torch_backend
