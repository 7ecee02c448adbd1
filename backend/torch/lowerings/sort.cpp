#include <limits>

#include "backend/torch/lowerings/lowering.h"
#include "memory/error.h"

// Order: sort, topk and searches.
namespace trn::torch_backend {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Sorted {
  Value values, indices;
};

Sorted sorted(Value x, int dim, bool descending) {
  if (x.rank() == 0) return {x, number(*x.g, 0, Dtype::int32)};
  return {{x.g, x.g->sort(x.id, dim, descending)}, {x.g, x.g->arg_sort(x.id, dim, descending)}};
}

Value ordered(Call& c, int i) {
  const Value x = c.arg(i);
  return x.dtype() == Dtype::boolean ? to_int(x) : x;
}

void give(Call& c, const Sorted& s) {
  c.out(0, s.values);
  c.out(1, s.indices);
}

void sort_at(Call& c, int dim_at) {
  const Value x = ordered(c, 0);
  give(c, sorted(x, c.dim(dim_at, x.rank()), c.flag(dim_at + 1)));
}
void sort(Call& c) { sort_at(c, 1); }
void sort_stable(Call& c) { sort_at(c, 2); }

Sorted ranked(const Sorted& s, int dim, int64_t start, int64_t stop) {
  if (s.values.rank() == 0) return s;
  return {slice(s.values, dim, start, stop), slice(s.indices, dim, start, stop)};
}

void topk(Call& c) {
  const Value x = ordered(c, 0);
  const int dim = c.dim(2, x.rank());
  give(c, ranked(sorted(x, dim, c.flag(3)), dim, 0, c.integer(1)));
}

void kthvalue(Call& c) {
  const Value x = ordered(c, 0);
  const int dim = c.dim(2, x.rank());
  give(c, ranked(sorted(x, dim, false), dim, c.integer(1) - 1, c.integer(1)));
}

// The lower of the two middles, as torch.median; NaN sorts last, so it is looked for.
Value lower_middle(Value x) {
  const int64_t n = x.numel();
  const Value middle = slice(sorted(x, 0, false).values, 0, (n - 1) / 2, (n - 1) / 2 + 1);
  if (!x.is_float()) return middle;
  return where(reduce(AluOp::logical_or, not_equal(x, x), {0}), kNan, middle);
}
void median(Call& c) {
  const Value x = flatten(ordered(c, 0));
  if (x.numel() > 0) return c.out(0, lower_middle(x));
  if (!x.is_float()) throw Error(Fault::unsupported, "no elements have no median among 32-bit integers", c.g.name);
  c.out(0, like(x, kNan));
}
void median_dim(Call& c) {
  const Value x = ordered(c, 0);
  const int dim = c.dim(1, x.rank());
  const int64_t middle = (x.size(dim) - 1) / 2;
  Sorted s = ranked(sorted(x, dim, false), dim, middle, middle + 1);
  if (x.is_float() && x.rank() > 0) {
    const Value none = reduce(AluOp::logical_or, not_equal(x, x), {dim});
    s = {where(none, kNan, s.values), where(none, arg_reduce(AluOp::maximum, x, dim), s.indices)};
  }
  give(c, s);
}

// The lower middle of those that are no NaN; NaN sorts last.
Sorted middle_number(Value x, int dim) {
  if (x.rank() == 0 || !x.is_float()) {
    const int64_t middle = (x.size(dim) - 1) / 2;
    return ranked(sorted(x, dim, false), dim, middle, middle + 1);
  }
  const Sorted s = sorted(x, dim, false);
  const Value count = sum(to_int(equal(x, x)), {dim});
  const Value place = shift_right_arithmetic(maximum(count - 1, 0), like(count, 1));
  return {take_along(s.values, place, dim), take_along(s.indices, place, dim)};
}
void nanmedian(Call& c) {
  const Value x = flatten(ordered(c, 0));
  if (x.numel() > 0) return c.out(0, middle_number(x, 0).values);
  if (!x.is_float()) throw Error(Fault::unsupported, "no elements have no median among 32-bit integers", c.g.name);
  c.out(0, like(x, kNan));
}
void nanmedian_dim(Call& c) {
  const Value x = ordered(c, 0);
  give(c, middle_number(x, c.dim(1, x.rank())));
}

// The smallest of the most frequent values, and the last place where it stands: every element against every other.
void mode(Call& c) {
  const Value x = ordered(c, 0);
  if (x.rank() == 0) return give(c, sorted(x, 0, false));
  const Value rows = move_dim(x, c.dim(1, x.rank()), -1);
  const int last = rows.rank() - 1;
  const Value times = squeeze(sum(to_int(equal(unsqueeze(rows, -1), unsqueeze(rows, -2))), {last + 1}), -1);
  const Value frequent = equal(times, max(times, {last}));
  const double none = x.is_float() ? std::numeric_limits<double>::infinity() : 2147483647.0;
  const Value value = min(where(frequent, rows, none), {last});
  c.out(0, value);
  c.out(1, max(where(equal(rows, value), iota(c.g, rows.shape(), last), 0), {last}));
}

// How many boundaries are below (right: not above) each value.
void search(Call& c, Value boundaries, Value values, bool right) {
  const Value v = unsqueeze(values, -1);
  c.out(0, squeeze(sum(to_int(right ? boundaries <= v : boundaries < v), {v.rank() - 1}), -1));
}
void bucketize(Call& c) { search(c, c.arg(1), c.arg(0), c.flag(3)); }
void bucketize_scalar(Call& c) {
  const Value edges = c.arg(1);
  search(c, edges, c.number(0, edges.dtype()), c.flag(3));
}
// The boundaries, in the order of `sorter` if there is one.
Value sorted_edges(Call& c) { return to_compute(c.present(5) ? take_along(c.in(0), c.in(5), -1) : c.in(0)); }

// Edges [..., n] with values [..., m] of the same leading dims, or edges [n] with any values.
void searchsorted(Call& c) {
  const Value edges = sorted_edges(c), values = c.arg(1);
  const bool right = c.flag(3) || c.text(4) == "right";
  search(c, edges.rank() > 1 ? unsqueeze(edges, -2) : edges, values, right);
}
void searchsorted_scalar(Call& c) {
  const Value edges = sorted_edges(c);
  search(c, edges, c.number(1, edges.dtype()), c.flag(3) || c.text(4) == "right");
}

void isin(Call& c) {
  const Value x = c.arg(0), test = flatten(c.arg(1));
  const Value hit = reduce(AluOp::logical_or, equal(unsqueeze(x, -1), test), {x.rank()});
  c.out(0, c.flag(3) ? logical_not(hit) : hit);
}

constexpr Row kRows[] = {
    {"sort", sort},
    {"sort.stable", sort_stable},
    {"topk", topk},
    {"kthvalue", kthvalue},
    {"median", median},
    {"median.dim", median_dim},
    {"nanmedian", nanmedian},
    {"nanmedian.dim", nanmedian_dim},
    {"mode", mode},
    {"bucketize.Tensor", bucketize},
    {"bucketize.Scalar", bucketize_scalar},
    {"searchsorted.Tensor", searchsorted},
    {"searchsorted.Scalar", searchsorted_scalar},
    {"isin.Tensor_Tensor", isin},
};

}  // namespace

std::span<const Row> sort_rows() { return kRows; }

}  // namespace trn::torch_backend
