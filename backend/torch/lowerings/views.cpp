#include <algorithm>

#include "backend/torch/lowerings/lowering.h"
#include "backend/torch/registry.h"
#include "memory/error.h"

// What eager PyTorch does without a kernel of the device and a compiled graph has as nodes: views, factories, copies.
// complex64 has a last dim of 2 here, which dims do not count.
namespace trn::torch_backend {
namespace {

int own_rank(Call& c) { return c.in(0).rank() - (c.complex(0) ? 1 : 0); }

// The elements in their order, in the result's shape and dtype: view, unsqueeze, squeeze, clone, view_as_real...
// expand.
void same(Call& c) {
  if (c.wanted(0)) c.out(0, c.in(0));
}

void copy(Call& c) { c.out(0, c.in(1)); }

// To complex64 from a real tensor, or back from one, as copy_.
void to_copy(Call& c) {
  const bool pairs = c.shape(0).size() == c.in(0).shape().size() + 1;
  if (!pairs || c.complex(0)) return c.out(0, c.in(0));
  c.out(0, pad(unsqueeze(to_float(c.in(0)), -1), -1, 0, 1));
}

void permute_dims(Call& c) {
  const int rank = own_rank(c);
  Dims axes = c.integers(1);
  for (int64_t& a : axes) a = wrap(a, rank);
  if (c.complex(0)) axes.push_back(rank);
  c.out(0, permute(c.in(0), axes));
}
void transpose_dims(Call& c) {
  const int rank = own_rank(c);
  if (rank == 0) return same(c);
  c.out(0, transpose(c.in(0), c.dim(1, rank), c.dim(2, rank)));
}
void t(Call& c) {
  if (own_rank(c) < 2) return same(c);
  c.out(0, transpose(c.in(0), 0, 1));
}

// start and stop as Python counts them, inside the dim.
std::pair<int64_t, int64_t> bounds(Call& c, int start, int stop, int64_t size) {
  const auto inside = [&](int arg, int64_t otherwise) {
    const int64_t v = c.present(arg) ? c.integer(arg) : otherwise;
    return std::clamp<int64_t>(v < 0 ? v + size : v, 0, size);
  };
  const int64_t first = inside(start, 0);
  return {first, std::max(first, inside(stop, size))};
}
void slice_dim(Call& c) {
  if (!c.wanted(0)) return;
  const Value x = c.in(0);
  const int dim = c.dim(1, own_rank(c));
  const auto [first, last] = bounds(c, 2, 3, x.size(dim));
  c.out(0, slice(x, dim, first, last, c.integer(4)));
}
void select(Call& c) {
  if (!c.wanted(0)) return;
  const Value x = c.in(0);
  const int dim = c.dim(1, own_rank(c));
  const int64_t at = c.integer(2) < 0 ? c.integer(2) + x.size(dim) : c.integer(2);
  c.out(0, squeeze(slice(x, dim, at, at + 1), dim));
}

// Results follow each other along the dim that argument `dim_arg` names; out() drops it for unbind.
void parts(Call& c, int dim_arg, bool drops) {
  const Value x = c.in(0);
  const int dim = c.dim(dim_arg, own_rank(c));
  int64_t at = 0;
  for (int r = 0; r < c.results(); ++r) {
    const int64_t size = drops ? 1 : c.shape(r)[dim];
    if (c.wanted(r)) c.out(r, slice(x, dim, at, at + size));
    at += size;
  }
}
void split(Call& c) { parts(c, 2, false); }
void unbind(Call& c) { parts(c, 1, true); }

// (self, offset, dim1, dim2): every (columns + 1)-th element of the planes.
void diagonal(Call& c) {
  if (!c.wanted(0)) return;
  const int rank = own_rank(c);
  const int row = c.dim(2, rank), column = c.dim(3, rank);
  const int64_t offset = c.integer(1), n = c.shape(0)[rank - 2];
  Value x = slice(c.in(0), row, std::max<int64_t>(-offset, 0), std::max<int64_t>(-offset, 0) + n);
  x = slice(x, column, std::max<int64_t>(offset, 0), std::max<int64_t>(offset, 0) + n);
  Dims axes, flat;
  for (int i = 0; i < rank; ++i)
    if (i != row && i != column) axes.push_back(i);
  for (int64_t a : axes) flat.push_back(x.size(static_cast<int>(a)));
  axes.insert(axes.end(), {row, column});
  flat.push_back(n * n);
  if (c.complex(0)) {
    axes.push_back(rank);
    flat.push_back(2);
  }
  x = reshape(permute(x, axes), flat);
  c.out(0, slice(x, rank - 2, 0, n * n, n + 1));
}

// (self, dim, size, step): windows along dim, their elements last.
void unfold(Call& c) {
  if (!c.wanted(0)) return;
  const Value x = c.in(0);
  if (x.rank() == 0) return same(c);
  const int dim = c.dim(1, x.rank());
  const int64_t size = c.integer(2), step = c.integer(3), windows = c.shape(0)[dim];
  std::vector<Value> taps;
  for (int64_t k = 0; k < size; ++k)
    taps.push_back(unsqueeze(slice(x, dim, k, k + (windows - 1) * step + 1, step), x.rank()));
  c.out(0, concat(taps, x.rank()));
}

// self with src at [first, last) step along dim.
void embed(Call& c, Value src, int dim, int64_t first, int64_t last, int64_t step) {
  const Value x = c.in(0), whole = convert(src, x.dtype());
  if (last <= first) return c.out(0, x);
  if (step == 1) return c.out(0, concat({slice(x, dim, 0, first), whole, slice(x, dim, last, x.size(dim))}, dim));
  const int64_t covered = (whole.size(dim) - 1) * step + 1;
  const auto spaced = [&](Value v) { return pad(spread(v, dim, step), dim, first, x.size(dim) - first - covered); };
  const Value ones = expand(number(c.g, 1, Dtype::int32), whole.shape());
  c.out(0, where(equal(spaced(ones), 1), spaced(whole), x));
}
void slice_scatter(Call& c) {
  const int rank = c.in(0).rank(), dim = c.dim(2, rank);
  const auto [first, last] = bounds(c, 3, 4, c.in(0).size(dim));
  embed(c, c.in(1), dim, first, last, c.integer(5));
}
void select_scatter(Call& c) {
  const int rank = c.in(0).rank(), dim = c.dim(2, rank);
  const int64_t at = c.integer(3) < 0 ? c.integer(3) + c.in(0).size(dim) : c.integer(3);
  embed(c, unsqueeze(c.in(1), dim), dim, at, at + 1, 1);
}

// ---- factories: the shape is the result's ----

template <int argument>
void full(Call& c) {
  c.out(0, c.number(argument, compute_dtype(c.dtype(0))));
}
template <int value>
void filled(Call& c) {
  if (c.wanted(0)) c.out(0, number(c.g, value, c.dtype(0)));
}

// (end), (start, end), (start, end, step)
template <int start, int step>
void arange(Call& c) {
  if (!c.wanted(0)) return;
  const Dtype work = compute_dtype(c.dtype(0));
  Value v = convert(iota(c.g, c.shape(0)[0]), work);
  if constexpr (step >= 0) v = v * c.number(step, work);
  if constexpr (start >= 0) v = v + c.number(start, work);
  c.out(0, v);
}
void eye(Call& c) { c.out(0, equal(iota(c.g, c.shape(0), 0), iota(c.g, c.shape(0), 1))); }

// ---- functional forms of what eager calls otherwise ----

// x[mask] = one value needs no look at the mask; what needs one is not a node of a Program.
void index_put(Call& c) {
  const auto indices = c.optional_list(1);
  const bool masked = std::any_of(indices.begin(), indices.end(), [](const auto& i) {
    return i && (i->dtype() == Dtype::boolean || i->dtype() == Dtype::uint8);
  });
  if (!masked) return row_named("index_put")->lower(c);
  const Value x = c.in(0), value = c.in(2);
  if (indices.size() != 1 || value.numel() != 1 || c.flag(3))
    throw Error(Fault::unsupported, "a boolean index makes a size that depends on data", c.g.name);
  Dims shape = indices[0]->shape();
  shape.resize(x.rank(), 1);
  c.out(0, where(reshape(to_bool(*indices[0]), shape), reshape(convert(value, x.dtype()), {}), x));
}
void index(Call& c) {
  for (const auto& i : c.optional_list(1))
    if (i && (i->dtype() == Dtype::boolean || i->dtype() == Dtype::uint8))
      throw Error(Fault::unsupported, "a boolean index makes a size that depends on data", c.g.name);
  row_named("index.Tensor")->lower(c);
}

// With a dropout they run by themselves: their seed is another tensor than PyTorch's shape functions say. Without one,
// those functions give seed and offset all the same.
void require_no_dropout(Call& c, int p) {
  if (c.constant(p) > 0) throw Error(Fault::unsupported, "attention with a dropout is not part of a graph", c.g.name);
}
void attention(Call& c) {
  require_no_dropout(c, 4);
  row_named("_scaled_dot_product_fused_attention_overrideable")->lower(c);
  for (int r = 2; r < c.results(); ++r)
    if (c.wanted(r)) c.out(r, number(c.g, 0, c.dtype(r)));
}
void attention_backward(Call& c) {
  require_no_dropout(c, 12);
  row_named("_scaled_dot_product_fused_attention_overrideable_backward")->lower(c);
}

constexpr Row kRows[] = {
    {"view", same, "", "", Complex64::pairs},
    {"_unsafe_view", same, "", "", Complex64::pairs},
    {"_reshape_alias", same, "", "", Complex64::pairs},
    {"unsqueeze", same, "", "", Complex64::pairs},
    {"squeeze", same, "", "", Complex64::pairs},
    {"squeeze.dim", same, "", "", Complex64::pairs},
    {"squeeze.dims", same, "", "", Complex64::pairs},
    {"alias", same, "", "", Complex64::pairs},
    {"detach", same, "", "", Complex64::pairs},
    {"lift_fresh", same, "", "", Complex64::pairs},
    {"lift_fresh_copy", same, "", "", Complex64::pairs},
    {"clone", same, "", "", Complex64::pairs},
    {"view_as_real", same, "", "", Complex64::pairs},
    {"view_as_complex", same, "", "", Complex64::pairs},
    {"expand", same},
    {"_to_copy", to_copy, "", "", Complex64::pairs},
    {"copy", copy},
    {"permute", permute_dims, "", "", Complex64::pairs},
    {"transpose.int", transpose_dims, "", "", Complex64::pairs},
    {"t", t, "", "", Complex64::pairs},
    {"slice.Tensor", slice_dim, "", "", Complex64::pairs},
    {"select.int", select, "", "", Complex64::pairs},
    {"split.Tensor", split, "", "", Complex64::pairs},
    {"split_with_sizes", split, "", "", Complex64::pairs},
    {"unbind.int", unbind, "", "", Complex64::pairs},
    {"diagonal", diagonal, "", "", Complex64::pairs},
    {"unfold", unfold},
    {"slice_scatter", slice_scatter},
    {"select_scatter", select_scatter},
    {"full", full<1>},
    {"full_like", full<1>},
    {"new_full", full<2>},
    {"scalar_tensor", full<0>},
    {"fill.Scalar", full<1>},
    {"zeros", filled<0>},
    {"zeros_like", filled<0>},
    {"new_zeros", filled<0>},
    {"ones", filled<1>},
    {"ones_like", filled<1>},
    {"new_ones", filled<1>},
    {"empty.memory_format", filled<0>},
    {"empty_strided", filled<0>},
    {"empty_like", filled<0>},
    {"empty_permuted", filled<0>},
    {"new_empty", filled<0>},
    {"new_empty_strided", filled<0>},
    {"arange", arange<-1, -1>},
    {"arange.start", arange<0, -1>},
    {"arange.start_step", arange<0, 2>},
    {"eye", eye},
    {"eye.m", eye},
    {"_scaled_dot_product_fused_attention_overrideable", attention},
    {"_scaled_dot_product_fused_attention_overrideable_backward", attention_backward},
    {"index_put", index_put},
    {"_unsafe_index_put", index_put},
    {"index.Tensor", index},
    {"_unsafe_index.Tensor", index},
};

}  // namespace

std::span<const Row> graph_rows() { return kRows; }

}  // namespace trn::torch_backend
