// Sparse COO tensors. What they are made of (indices, values and their bookkeeping) PyTorch keeps in code that knows no
// device; what computes is written in operators of dense tensors.
#include <ATen/ExpandUtils.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_sparse_coo_tensor_unsafe.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

namespace trn::torch_backend {
namespace {

using at::Scalar;
using at::Tensor;

constexpr c10::DispatchKeySet kCpuKeys(c10::DispatchKey::SparseCPU);

void same_on_any_device(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
  op.redispatchBoxed(kCpuKeys, stack);
}
constexpr const char* kBookkeeping[] = {"_sparse_coo_tensor_with_dims",
                                        "_sparse_coo_tensor_with_dims_and_tensors",
                                        "_indices",
                                        "_values",
                                        "indices",
                                        "values",
                                        "sparse_dim",
                                        "dense_dim",
                                        "_nnz",
                                        "is_coalesced",
                                        "_coalesced_",
                                        "clone",
                                        "copy_",
                                        "copy_sparse_to_sparse_",
                                        "sparse_resize_",
                                        "sparse_resize_and_clear_",
                                        "resize_as_sparse_",
                                        "empty.memory_format",
                                        "zero_",
                                        "_to_dense"};

Tensor coo(const Tensor& indices, const Tensor& values, at::IntArrayRef sizes, bool coalesced = false) {
  return at::_sparse_coo_tensor_unsafe(indices, values, sizes, {}, {}, {}, {}, coalesced);
}
Tensor with_values(const Tensor& x, const Tensor& values) {
  return coo(x._indices(), values, x.sizes(), x.is_coalesced());
}

// The place of each element among the sparse dims, row-major.
Tensor flat_indices(const Tensor& x) {
  const Tensor indices = x._indices();
  Tensor flat = indices.select(0, 0);
  for (int64_t d = 1; d < x.sparse_dim(); ++d) flat = flat * x.size(d) + indices.select(0, d);
  return flat;
}

std::vector<Tensor> rows(const Tensor& indices) { return indices.unbind(0); }
c10::List<std::optional<Tensor>> places(const Tensor& x) {
  c10::List<std::optional<Tensor>> list;
  for (const Tensor& row : rows(x._indices())) list.push_back(row);
  return list;
}

Tensor coalesce(const Tensor& x) {
  if (x._nnz() < 2 || x.sparse_dim() == 0) return coo(x._indices(), x._values(), x.sizes(), x._nnz() < 2);
  const auto [place, group, counts] = at::unique_dim(flat_indices(x), 0, true, true, false);
  at::DimVector shape(x._values().sizes());
  shape[0] = place.size(0);
  const Tensor values = at::zeros(shape, x._values().options()).index_add_(0, group, x._values());
  std::vector<Tensor> indices(x.sparse_dim());
  Tensor left = place;
  for (int64_t d = x.sparse_dim(); d-- > 0;) {
    indices[d] = left.remainder(x.size(d));
    left = left.div(x.size(d), "floor");
  }
  return coo(at::stack(indices), values, x.sizes(), true);
}

void require_same_shape(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.sizes() == b.sizes(), "add: expected sizes of 'self' and 'other' to match, but ", a.sizes(),
              " != ", b.sizes());
}

Tensor& add_to_dense(Tensor& self, const Tensor& other, const Scalar& alpha) {
  require_same_shape(self, other);
  const Tensor values = (other._values() * alpha).to(self.scalar_type());
  if (other.sparse_dim() == 0) return self.add_(values.sum(0));
  return self.index_put_(places(other), values, true);
}

Tensor sum_of_both(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  require_same_shape(a, b);
  TORCH_CHECK(a.sparse_dim() == b.sparse_dim(), "add: tensors of ", a.sparse_dim(), " and ", b.sparse_dim(),
              " sparse dimensions");
  const auto dtype = at::result_type(a, b);
  const Tensor values = at::cat({a._values().to(dtype), (b._values() * alpha).to(dtype)});
  return coo(at::cat({a._indices(), b._indices()}, 1), values, a.sizes());
}

Tensor sum(const Tensor& a, const Tensor& b, const Scalar& alpha) {
  if (a.is_sparse() && b.is_sparse()) return sum_of_both(a, b, alpha);
  Tensor whole = (a.is_sparse() ? b * alpha : a).to(at::result_type(a, b), false, true);
  return add_to_dense(whole, a.is_sparse() ? a : b, a.is_sparse() ? Scalar(1) : alpha);
}
Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (!self.is_sparse()) return add_to_dense(self, other, alpha);
  TORCH_CHECK(other.is_sparse(), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  return self.copy_(sum_of_both(self, other, alpha).to(self.scalar_type()));
}
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha) { return sum(a, b, -alpha); }
Tensor& sub_(Tensor& self, const Tensor& other, const Scalar& alpha) { return add_(self, other, -alpha); }

// One number for all values.
Tensor factor(const Tensor& x, const char* op) {
  TORCH_CHECK(!x.is_sparse() && x.dim() == 0, op, " of a sparse tensor on neuron takes a number, not a tensor of ",
              x.sizes());
  return x;
}
Tensor mul(const Tensor& a, const Tensor& b) {
  const Tensor& x = a.is_sparse() ? a : b;
  return with_values(x, x._values() * factor(a.is_sparse() ? b : a, "mul"));
}
Tensor& mul_(Tensor& self, const Tensor& other) {
  self._values().mul_(factor(other, "mul_"));
  return self;
}
Tensor div(const Tensor& a, const Tensor& b) { return with_values(a, a._values() / factor(b, "div")); }
Tensor& div_(Tensor& self, const Tensor& other) {
  self._values().div_(factor(other, "div_"));
  return self;
}
Tensor neg(const Tensor& x) { return with_values(x, -x._values()); }

// sparse [n, k] x dense [k, m]
Tensor product(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  TORCH_CHECK(a.is_sparse() && !b.is_sparse() && a.sparse_dim() == 2 && a.dense_dim() == 0,
              "addmm on neuron: a sparse matrix times a dense one");
  TORCH_CHECK(b.dim() == 2 && a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), "mat1 and mat2 must have the same dtype");
  const auto at = rows(a._indices());
  const Tensor products = a._values().unsqueeze(1) * b.index_select(0, at[1]);
  const Tensor both = at::zeros({a.size(0), b.size(1)}, b.options()).index_add_(0, at[0], products);
  if (beta.toDouble() == 0) return both * alpha;
  return self * beta + both * alpha;
}
Tensor mm(const Tensor& a, const Tensor& b) { return product(b, a, b, 0, 1); }

Tensor masked(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has size ",
              self.sizes(), " but mask has size ", mask.sizes());
  const Tensor dense = self.is_sparse() ? self.to_dense() : self;
  return with_values(mask, dense.index(places(mask)));
}

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  for (const char* name : kBookkeeping) m.impl(name, torch::CppFunction::makeFromBoxedFunction<&same_on_any_device>());
  m.impl("_coalesce", coalesce);
  m.impl("add.Tensor", sum);
  m.impl("add_.Tensor", add_);
  m.impl("sub.Tensor", sub);
  m.impl("sub_.Tensor", sub_);
  m.impl("mul.Tensor", mul);
  m.impl("mul_.Tensor", mul_);
  m.impl("div.Tensor", div);
  m.impl("div_.Tensor", div_);
  m.impl("neg", neg);
  m.impl("addmm", product);
  m.impl("mm", mm);
  m.impl("sparse_mask", masked);
}

}  // namespace
}  // namespace trn::torch_backend
