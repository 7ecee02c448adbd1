#include <algorithm>

#include "backend/torch/lowerings/lowering.h"

// Indexing: embedding, advanced indexing, gather, scatter and their adjoints. Indices may be negative where PyTorch's
// may; one outside its dim is NRT 1006 at run time, which the DMA finds by the number of rows. Where several dims are
// joined into rows, an index outside its own dim is sent outside of all rows first.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Value zeros(Graph& g, Dims shape, Dtype d) { return expand(number(g, 0, d), std::move(shape)); }

Value scatter_rows(AluOp op, Value base, Value index, Value rows) {
  return {base.g, base.g->scatter(op, base.id, to_index(index).id, rows.id)};
}

// Rows of `x` along `dim`, by a vector of indices.
Value select_rows(Value x, int dim, Value index) {
  if (x.rank() == 0) return reshape(gather_rows(reshape(x, {1}), flatten(from_front(index, 1))), {});
  const Value table = move_dim(x, dim, 0);
  return move_dim(gather_rows(table, flatten(from_front(index, x.size(dim)))), 0, dim);
}

void index_select(Call& c) {
  const Value x = c.in(0);
  c.out(0, select_rows(x, c.dim(1, x.rank()), c.in(2)));
}

void embedding(Call& c) {
  const Value table = c.in(0), index = c.in(1);
  Dims shape = index.shape();
  shape.push_back(table.size(1));
  c.out(0, reshape(gather_rows(table, flatten(to_index(index))), shape));
}

void embedding_backward(Call& c) {
  const Value index = flatten(to_index(c.in(1)));
  const int64_t width = c.in(0).size(-1), rows = c.integer(2), padding = c.integer(3);
  Value grad = reshape(c.arg_float(0), {index.numel(), width});
  if (c.flag(4)) {  // scale_grad_by_freq
    const Value counts =
        scatter_rows(AluOp::add, zeros(c.g, {rows}, Dtype::float32), index, expand(c.constant_value(1), index.shape()));
    grad = grad / unsqueeze(gather_rows(counts, index), -1);
  }
  if (padding >= 0) grad = where(unsqueeze(equal(index, static_cast<double>(padding)), -1), 0, grad);
  c.out(0, scatter_rows(AluOp::add, zeros(c.g, {rows, width}, Dtype::float32), index, grad));
}

// self[indices]: the indexed dims moved to the front and joined into one, the indices joined into one vector of row
// numbers.
struct Indexed {
  Value table;       // [rows, rest...]
  Value index;       // vector
  Dims index_shape;  // of the broadcast index tensors
  Dims axes;         // permutation that brought the indexed dims to the front
  Dims rest;
  int place = 0;  // where the index dims stand in the result
};

Indexed indexed(Value x, const std::vector<std::optional<Value>>& indices) {
  Indexed r;
  Dims dims, others;
  for (int i = 0; i < x.rank(); ++i) (i < static_cast<int>(indices.size()) && indices[i] ? dims : others).push_back(i);
  for (int64_t d : dims) r.index_shape = broadcast(r.index_shape, indices[d]->shape());
  bool adjacent = true;
  for (size_t i = 1; i < dims.size(); ++i) adjacent = adjacent && dims[i] == dims[i - 1] + 1;
  r.place = adjacent && !dims.empty() ? static_cast<int>(dims[0]) : 0;

  r.axes = dims;
  r.axes.insert(r.axes.end(), others.begin(), others.end());
  for (int64_t d : others) r.rest.push_back(x.size(static_cast<int>(d)));
  int64_t rows = 1;
  Value inside{};
  for (int64_t d : dims) {
    const int64_t size = x.size(static_cast<int>(d));
    const Value part = from_front(*indices[d], size);
    const Value fits = logical_and(part >= 0, part < static_cast<double>(size));
    inside = inside.g ? logical_and(inside, fits) : fits;
    r.index = r.index.g ? r.index * static_cast<double>(size) + part : part;
    rows *= size;
  }
  if (dims.size() > 1) r.index = where(inside, r.index, -1);
  r.index = flatten(expand(r.index, r.index_shape));
  Dims shape{rows};
  shape.insert(shape.end(), r.rest.begin(), r.rest.end());
  r.table = reshape(permute(x, r.axes), shape);
  return r;
}

// [index dims..., rest...] to the result's order, or back.
Dims result_axes(const Indexed& r, bool back) {
  const int n = static_cast<int>(r.index_shape.size()), all = n + static_cast<int>(r.rest.size());
  Dims axes;
  for (int i = 0; i < r.place; ++i) axes.push_back(n + i);
  for (int i = 0; i < n; ++i) axes.push_back(i);
  for (int i = n + r.place; i < all; ++i) axes.push_back(i);
  if (!back) return axes;
  Dims inverse(all);
  for (int i = 0; i < all; ++i) inverse[axes[i]] = i;
  return inverse;
}

void index_tensor(Call& c) {
  const Indexed r = indexed(c.in(0), c.optional_list(1));
  Dims shape = r.index_shape;
  shape.insert(shape.end(), r.rest.begin(), r.rest.end());
  c.out(0, permute(reshape(gather_rows(r.table, r.index), shape), result_axes(r, false)));
}

void index_put(Call& c) {
  const Value x = c.in(0);
  const Indexed r = indexed(x, c.optional_list(1));
  const bool accumulate = c.flag(3);
  const Dtype d = accumulate ? compute_dtype(x.dtype()) : x.dtype();

  Dims whole = r.index_shape;
  whole.insert(whole.end(), r.rest.begin(), r.rest.end());
  Dims in_result;
  for (int64_t axis : result_axes(r, false)) in_result.push_back(whole[axis]);
  Dims rows{product(r.index_shape)};
  rows.insert(rows.end(), r.rest.begin(), r.rest.end());
  const Value values = reshape(permute(expand(convert(c.in(2), d), in_result), result_axes(r, true)), rows);

  const Value y = scatter_rows(accumulate ? AluOp::add : AluOp::bypass, convert(r.table, d), r.index, values);
  Dims moved, inverse(x.rank());
  for (int i = 0; i < x.rank(); ++i) {
    moved.push_back(x.shape()[r.axes[i]]);
    inverse[r.axes[i]] = i;
  }
  c.out(0, permute(reshape(y, moved), inverse));
}

// Rows of `source` put or added at `index` along dim.
void rows_into(Call& c, AluOp op, Value source) {
  Value x = c.in(0);
  const Dtype d = op == AluOp::bypass ? x.dtype() : compute_dtype(x.dtype());
  const int dim = c.dim(1, x.rank());
  const Value index = flatten(from_front(c.in(2), x.size(dim)));
  if (x.rank() == 0) {
    const Value base = reshape(convert(x, d), {1});
    return c.out(0, scatter_rows(op, base, index, expand(reshape(convert(source, d), {1}), index.shape())));
  }
  Dims shape = x.shape();
  shape[dim] = index.numel();
  const Value rows = move_dim(expand(convert(source, d), shape), dim, 0);
  const Value y = scatter_rows(op, move_dim(convert(x, d), dim, 0), index, rows);
  c.out(0, move_dim(y, 0, dim));
}
void index_add(Call& c) {
  const Value source = c.arg(3);
  rows_into(c, AluOp::add, c.known(4) && c.constant(4) == 1 ? source : source * c.number(4, source.dtype()));
}
void index_copy(Call& c) { rows_into(c, AluOp::bypass, c.in(3)); }
void index_fill(Call& c) { rows_into(c, AluOp::bypass, c.number(3, compute_dtype(c.in(0).dtype()))); }
void index_fill_tensor(Call& c) { rows_into(c, AluOp::bypass, c.in(3)); }

Value at_least_1d(Value x) { return x.rank() == 0 ? reshape(x, {1}) : x; }

void gather(Call& c) {
  const Value x = at_least_1d(c.in(0)), index = at_least_1d(to_index(c.in(2)));
  c.out(0, take_along(x, index, c.dim(1, x.rank())));
}

void put_along(Call& c, AluOp op, Value x, Value src) {
  x = at_least_1d(x);
  const Value index = at_least_1d(to_index(c.in(2)));
  const int dim = c.dim(1, x.rank());
  if (index.numel() == 0) return c.out(0, x);
  c.out(0, {x.g, x.g->put(op, x.id, index.id, at_least_1d(convert(src, x.dtype())).id, dim)});
}
void scatter_src(Call& c) { put_along(c, AluOp::bypass, c.in(0), c.in(3)); }
void scatter_value(Call& c) {
  const Value x = c.in(0);
  const Value value = convert(c.number(3, compute_dtype(x.dtype())), x.dtype());
  put_along(c, AluOp::bypass, x, expand(value, at_least_1d(c.in(2)).shape()));
}
void scatter_add(Call& c) { put_along(c, AluOp::add, c.arg(0), c.in(3)); }
void scatter_reduce(Call& c) { put_along(c, c.text(4) == "add" ? AluOp::add : AluOp::multiply, c.arg(0), c.in(3)); }

void scatter_value_reduce(Call& c) {
  const Value x = c.arg(0), value = convert(c.number(3, x.dtype()), x.dtype());
  put_along(c, c.text(4) == "add" ? AluOp::add : AluOp::multiply, x, expand(value, at_least_1d(c.in(2)).shape()));
}

// sum, prod, mean, amax, amin; include_self false starts targets from the operator's identity.
Value put_reduced(Value x, Value index, Value src, int dim, std::string_view mode, bool include_self) {
  const AluOp op = mode == "prod"   ? AluOp::multiply
                   : mode == "amax" ? AluOp::maximum
                   : mode == "amin" ? AluOp::minimum
                                    : AluOp::add;
  const auto put = [&](AluOp how, Value a, Value s) { return Value{a.g, a.g->put(how, a.id, index.id, s.id, dim)}; };
  const Value ones = expand(like(src, 1), src.shape());
  const Value counts = put(AluOp::add, expand(like(x, 0), x.shape()), ones);
  const bool integer_extreme = !x.is_float() && (op == AluOp::maximum || op == AluOp::minimum);
  const double start =
      integer_extreme ? (op == AluOp::maximum ? -2147483648.0 : 2147483647.0) : static_cast<double>(info(op).identity);
  Value base = x;
  if (!include_self) base = where(equal(counts, 0), x, expand(like(x, start), x.shape()));
  const Value y = put(op, base, src);
  if (mode != "mean") return y;
  const Value n = include_self ? counts + 1 : maximum(counts, 1);
  return x.is_float() ? y / n : integer_quotient(y, n, Rounding::down);
}
Value summable(Value v) { return at_least_1d(v.dtype() == Dtype::boolean ? to_int(v) : v); }

void scatter_reduce_two(Call& c) {
  const Value x = summable(c.arg(0)), index = at_least_1d(to_index(c.in(2)));
  if (index.numel() == 0) return c.out(0, x);
  const Value src = convert(at_least_1d(c.in(3)), x.dtype());
  c.out(0, put_reduced(x, index, src, c.dim(1, x.rank()), c.text(4), c.flag(5)));
}
// (self, dim, index, source, reduce, include_self): rows by a vector of indices.
void index_reduce(Call& c) {
  const Value x = summable(c.arg(0)), source = convert(at_least_1d(c.in(3)), x.dtype());
  if (source.numel() == 0) return c.out(0, x);
  const int dim = c.dim(1, x.rank());
  Dims along(x.rank(), 1);
  along[dim] = source.size(dim);
  const Value index = expand(reshape(flatten(from_front(c.in(2), x.size(dim))), along), source.shape());
  c.out(0, put_reduced(x, index, source, dim, c.text(4), c.flag(5)));
}

// (self, indices, max_norm, norm_type): rows that are named and too long are shortened.
void embedding_renorm(Call& c) {
  const Value table = c.arg_float(0), index = flatten(to_index(c.in(1)));
  const double most = c.constant(2), order = c.constant(3);
  const Value powers = order == 2 ? square(table) : apply(AluOp::power, absolute(table), order);
  const Value size = order == kInf ? max(absolute(table), {1})
                     : order == 1  ? sum(absolute(table), {1})
                     : order == 2  ? sqrt(sum(powers, {1}))
                                   : apply(AluOp::power, sum(powers, {1}), 1 / order);
  const Value none = zeros(c.g, {table.size(0)}, Dtype::float32);
  const Value named = scatter_rows(AluOp::bypass, none, index, expand(c.constant_value(1), index.shape()));
  const Value shorten = logical_and(equal(unsqueeze(named, -1), 1), size > most);
  c.out(0, where(shorten, table * (most / (size + 1e-7)), table));
}

void take(Call& c) {
  const Value x = flatten(c.in(0)), index = c.in(1);
  c.out(0, gather_rows(x, flatten(from_front(index, x.numel()))));
}
void put(Call& c) {
  const Value x = c.in(0);
  const bool accumulate = c.flag(3);
  const Dtype d = accumulate ? compute_dtype(x.dtype()) : x.dtype();
  const Value index = flatten(from_front(c.in(1), x.numel()));
  const Value y = scatter_rows(accumulate ? AluOp::add : AluOp::bypass, flatten(convert(x, d)), index,
                               flatten(convert(c.in(2), d)));
  c.out(0, reshape(y, x.shape()));
}

// The n-th true element takes the n-th of source; a source that is too short is NRT 1006.
void masked_scatter(Call& c) {
  const Value x = c.in(0);
  Value source = flatten(c.in(2));
  const int64_t missing = source.numel() == 0;  // the rows that a gather needs at least
  source = pad(source, 0, 0, missing);
  const Value mask = flatten(expand(to_bool(c.in(1)), c.shape(0)));
  const Value order = scan(AluOp::add, to_int(mask), 0) - 1.0 + static_cast<double>(missing);
  c.out(0, where(mask, gather_rows(source, where(mask, order, 0)), flatten(expand(x, c.shape(0)))));
}

constexpr Row kRows[] = {
    {"embedding", embedding, "", "complex64 too", Complex64::parts},
    {"embedding_dense_backward", embedding_backward, "", "complex64 too", Complex64::parts},
    {"index_select", index_select, "", "complex64 too", Complex64::parts},
    {"index.Tensor", index_tensor, "", "complex64 too", Complex64::parts},
    {"index_put", index_put, "", "complex64 too", Complex64::parts},
    {"_index_put_impl_", index_put, "", "complex64 too", Complex64::parts},
    {"index_add", index_add, "=alpha", "complex64 too", Complex64::parts},
    {"index_copy", index_copy, "", "complex64 too", Complex64::parts},
    {"index_fill.int_Scalar", index_fill, "value", "complex64 too", Complex64::parts},
    {"index_fill.int_Tensor", index_fill_tensor, "", "complex64 too", Complex64::parts},
    {"gather", gather, "", "complex64 too", Complex64::parts},
    {"scatter.src", scatter_src, "", "complex64 too", Complex64::parts},
    {"scatter.value", scatter_value, "value", "complex64 too", Complex64::parts},
    {"scatter.reduce", scatter_reduce},
    {"scatter_add", scatter_add, "", "complex64 too", Complex64::parts},
    {"scatter_reduce.two", scatter_reduce_two},
    {"scatter.value_reduce", scatter_value_reduce},
    {"index_reduce", index_reduce},
    {"embedding_renorm_", embedding_renorm},
    {"take", take, "", "complex64 too", Complex64::parts},
    {"put", put, "", "complex64 too", Complex64::parts},
    {"masked_scatter", masked_scatter, "", "complex64 too", Complex64::parts},
};

}  // namespace

std::span<const Row> index_rows() { return kRows; }

}  // namespace trn::torch_backend
