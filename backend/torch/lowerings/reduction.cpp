#include <cmath>
#include <limits>
#include <numbers>

#include "backend/torch/lowerings/lowering.h"

// aten reductions, running sums and norms.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// int[]? dim at argument `i`: None and [] mean all.
Dims axes_at(Call& c, int i, const Value& x) { return wrapped(c.integers(i), x.rank()); }

// sum and mean honour dtype=: the result's dtype tells.
Value summand(Call& c) { return convert(c.in(0), compute_dtype(c.dtype(0))); }

void sum_all(Call& c) { c.out(0, sum(summand(c), {})); }
void sum_dim(Call& c) {
  const Value x = summand(c);
  c.out(0, sum(x, axes_at(c, 1, x)));
}
void nansum(Call& c) {
  Value x = summand(c);
  if (x.is_float()) x = where(not_equal(x, x), 0, x);
  c.out(0, sum(x, axes_at(c, 1, x)));
}
void mean_all(Call& c) { c.out(0, mean(c.arg_float(0), {})); }
void mean_dim(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, mean(x, axes_at(c, 1, x)));
}
void prod_all(Call& c) { c.out(0, reduce(AluOp::multiply, summand(c), {})); }
void prod_dim(Call& c) {
  const Value x = summand(c);
  c.out(0, reduce(AluOp::multiply, x, {c.dim(1, x.rank())}));
}
void count_nonzero(Call& c) {
  const Value x = to_int(to_bool(c.in(0)));
  c.out(0, sum(x, axes_at(c, 1, x)));
}

// Engines compare booleans as integers.
Value ordered(Call& c, int i) {
  const Value x = c.arg(i);
  return x.dtype() == Dtype::boolean ? to_int(x) : x;
}

template <AluOp Op>
void extreme_all(Call& c) {
  c.out(0, reduce(Op, ordered(c, 0), {}));
}
template <AluOp Op>
void extreme_axes(Call& c) {
  const Value x = ordered(c, 0);
  c.out(0, reduce(Op, x, axes_at(c, 1, x)));
}
template <AluOp Op>
void extreme_dim(Call& c) {
  const Value x = ordered(c, 0);
  if (x.rank() == 0) {
    c.out(0, x);
    return c.out(1, c.constant_value(0, Dtype::int32));
  }
  const int dim = c.dim(1, x.rank());
  c.out(0, reduce(Op, x, {dim}));
  c.out(1, arg_reduce(Op, x, dim));
}
void aminmax(Call& c) {
  const Value x = ordered(c, 0);
  const Dims axes = c.present(1) ? Dims{c.dim(1, x.rank())} : all_axes(x);
  c.out(0, min(x, axes));
  c.out(1, max(x, axes));
}
template <AluOp Op>
void arg_extreme(Call& c) {
  const Value x = ordered(c, 0);
  if (x.rank() == 0) return c.out(0, c.constant_value(0, Dtype::int32));
  if (!c.present(1)) return c.out(0, arg_reduce(Op, flatten(x), 0));
  c.out(0, arg_reduce(Op, x, c.dim(1, x.rank())));
}

template <AluOp Op>
void truth_all(Call& c) {
  c.out(0, reduce(Op, to_bool(c.in(0)), {}));
}
template <AluOp Op>
void truth_dim(Call& c) {
  const Value x = to_bool(c.in(0));
  c.out(0, reduce(Op, x, x.rank() == 0 ? Dims{} : Dims{c.dim(1, x.rank())}));
}
template <AluOp Op>
void truth_dims(Call& c) {
  const Value x = to_bool(c.in(0));
  c.out(0, reduce(Op, x, axes_at(c, 1, x)));
}

struct Moments {
  Value variance, mean;
};
// Two passes, as exact as PyTorch's Welford: mean, then squared distances. correction >= n divides by 0.
Moments moments(Call& c) {
  const Value x = c.arg_float(0);
  const Dims axes = axes_at(c, 1, x);
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(x.shape()[axis]);
  const double correction = c.present(2) ? c.constant(2) : 1;
  const Value center = mean(x, axes);
  const Value squares = sum(square(x - center), axes);
  return {squares / std::max(count - correction, 0.0), center};
}
void var(Call& c) { c.out(0, moments(c).variance); }
void std_deviation(Call& c) { c.out(0, sqrt(moments(c).variance)); }
void var_mean(Call& c) {
  const Moments m = moments(c);
  c.out(0, m.variance);
  c.out(1, m.mean);
}
void std_mean(Call& c) {
  const Moments m = moments(c);
  c.out(0, sqrt(m.variance));
  c.out(1, m.mean);
}

Value norm_of(Value x, double order, const Dims& axes) {
  if (order == 0) return sum(to_float(not_equal(x, 0)), axes);
  if (order == kInf) return max(absolute(x), axes);
  if (order == -kInf) return min(absolute(x), axes);
  if (order == 1) return sum(absolute(x), axes);
  if (order == 2) return sqrt(sum(square(x), axes));
  return apply(AluOp::power, sum(apply(AluOp::power, absolute(x), order), axes), 1 / order);
}
void vector_norm(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, norm_of(x, c.constant(1), axes_at(c, 2, x)));
}
void norm_dim(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, norm_of(x, c.present(1) ? c.constant(1) : 2, axes_at(c, 2, x)));
}
void norm_scalar(Call& c) { c.out(0, norm_of(c.arg_float(0), c.constant(1), {})); }
void renorm(Call& c) {
  const Value x = c.arg_float(0);
  const int dim = c.dim(2, x.rank());
  Dims axes;
  for (int i = 0; i < x.rank(); ++i)
    if (i != dim) axes.push_back(i);
  const Value norm = norm_of(x, c.constant(1), axes);
  const double most = c.constant(3);
  c.out(0, where(norm > most, x * (most / (norm + 1e-7)), x));
}

// Differences of every pair of rows: [..., P, 1, M] and [..., 1, R, M].
Value pairwise(Call& c, int x, int y) { return unsqueeze(c.arg_float(x), -2) - unsqueeze(c.arg_float(y), -3); }

// (x1, x2, p, compute_mode?)
void cdist(Call& c) {
  const Value gap = pairwise(c, 0, 1);
  c.out(0, norm_of(gap, c.constant(2), {gap.rank() - 1}));
}
// (grad, x1, x2, p, cdist) -> d loss / d x1. Rows that are equal have no direction.
void cdist_backward(Call& c) {
  const Value gap = pairwise(c, 1, 2), grad = unsqueeze(c.arg_float(0), -1), far = unsqueeze(c.arg_float(4), -1);
  const double p = c.constant(3);
  Value slope = sign(gap);
  if (p == 0) slope = slope * 0;
  if (p == kInf) slope = where(equal(absolute(gap), far), slope, 0);
  if (p == 2) slope = gap / far;
  if (p != 0 && p != 1 && p != 2 && p != kInf) slope = slope * apply(AluOp::power, absolute(gap) / far, p - 1);
  const bool no_slope_at_zero = p < 1 && p != 0;
  slope = where(no_slope_at_zero ? logical_or(equal(far, 0), equal(gap, 0)) : equal(far, 0), 0, slope);
  c.out(0, unbroadcast(squeeze(sum(grad * slope, {gap.rank() - 2}), gap.rank() - 2), c.shape(0)));
}

void logsumexp(Call& c) {
  const Value x = c.arg_float(0);
  const Dims axes = axes_at(c, 1, x);
  const Value high = max(x, axes);
  const Value finite = where(equal(absolute(high), kInf), 0, high);
  c.out(0, log(sum(exp(x - finite), axes)) + finite);
}

void cumsum(Call& c) {
  const Value x = summand(c);
  c.out(0, scan(AluOp::add, x.dtype() == Dtype::boolean ? to_int(x) : x, c.dim(1, x.rank())));
}
void cumprod(Call& c) {
  const Value x = summand(c);
  c.out(0, scan(AluOp::multiply, x, c.dim(1, x.rank())));
}
// Index of the running winner: the newest position where the running extreme was (re)attained, as torch.cummax reports
// it; a NaN is an extreme that only a NaN attains.
template <AluOp Op>
void running_extreme(Call& c) {
  const Value x = ordered(c, 0);
  if (x.rank() == 0) {
    c.out(0, x);
    return c.out(1, c.constant_value(0, Dtype::int32));
  }
  const int dim = c.dim(1, x.rank());
  const Value best = scan(Op, x, dim);
  const Value position = iota(c.g, x.shape(), dim);
  c.out(0, best);
  const Value attained = x.is_float() ? logical_or(equal(x, best), not_equal(x, x)) : equal(x, best);
  c.out(1, scan(AluOp::maximum, where(attained, position, -1), dim));
}
// log(exp(a) + exp(b)).
Value log_sum(Value a, Value b) {
  const Value more = apply(Activation::log1p, exp(-absolute(a - b)));
  return where(equal(a, b), a + std::numbers::ln2, maximum(a, b) + more);
}
// Sums over 1, 2, 4... elements: every partial result is relative to its own largest term, so none underflows.
void logcumsumexp(Call& c) {
  Value x = c.arg_float(0);
  if (x.rank() == 0) return c.out(0, x);
  const int dim = c.dim(1, x.rank());
  const int64_t n = x.size(dim);
  for (int64_t reach = 1; reach < n; reach *= 2) x = log_sum(x, pad(slice(x, dim, 0, n - reach), dim, reach, 0, -kInf));
  c.out(0, x);
}

// Counts of `bins` equal intervals: each element's bin number against every bin.
void histc(Call& c) {
  const Value x = flatten(c.arg_float(0));
  const int64_t bins = c.integer(1);
  Value low = c.constant_value(c.constant(2)), high = c.constant_value(c.constant(3));
  if (c.constant(2) == c.constant(3)) {
    low = reshape(min(x, {}), {});
    high = reshape(max(x, {}), {});
    const Value same = equal(low, high);
    low = where(same, low - 1, low);
    high = where(same, high + 1, high);
  }
  Value bin = floor((x - low) * static_cast<double>(bins) / (high - low));
  bin = where(equal(x, high), static_cast<double>(bins - 1), bin);
  bin = where(logical_and(x >= low, x <= high), bin, -1);
  const Value hit = equal(reshape(to_int(bin), {1, x.numel()}), reshape(iota(c.g, bins), {bins, 1}));
  c.out(0, sum(to_float(hit), {1}));
}

void trace(Call& c) {
  const Value x = summand(c);
  const Value on_diagonal = equal(iota(c.g, x.shape(), 0), iota(c.g, x.shape(), 1));
  c.out(0, sum(where(on_diagonal, x, 0), {}));
}

constexpr Row kRows[] = {
    {"sum", sum_all, "", "complex64 too", Complex64::parts},
    {"sum.dim_IntList", sum_dim, "", "complex64 too", Complex64::parts},
    {"nansum", nansum},
    {"mean", mean_all, "", "complex64 too", Complex64::parts},
    {"mean.dim", mean_dim, "", "complex64 too", Complex64::parts},
    {"prod", prod_all},
    {"prod.dim_int", prod_dim},
    {"count_nonzero.dim_IntList", count_nonzero},
    {"max", extreme_all<AluOp::maximum>},
    {"min", extreme_all<AluOp::minimum>},
    {"max.dim", extreme_dim<AluOp::maximum>},
    {"min.dim", extreme_dim<AluOp::minimum>},
    {"amax", extreme_axes<AluOp::maximum>},
    {"amin", extreme_axes<AluOp::minimum>},
    {"aminmax", aminmax},
    {"argmax", arg_extreme<AluOp::maximum>},
    {"argmin", arg_extreme<AluOp::minimum>},
    {"all", truth_all<AluOp::logical_and>},
    {"any", truth_all<AluOp::logical_or>},
    {"all.dim", truth_dim<AluOp::logical_and>},
    {"any.dim", truth_dim<AluOp::logical_or>},
    {"all.dims", truth_dims<AluOp::logical_and>},
    {"any.dims", truth_dims<AluOp::logical_or>},
    {"_is_all_true", truth_all<AluOp::logical_and>},
    {"_is_any_true", truth_all<AluOp::logical_or>},
    {"var.correction", var},
    {"std.correction", std_deviation},
    {"var_mean.correction", var_mean},
    {"std_mean.correction", std_mean},
    {"linalg_vector_norm", vector_norm},
    {"norm.Scalar", norm_scalar},
    {"norm.ScalarOpt_dim", norm_dim},
    {"norm.ScalarOpt_dim_dtype", norm_dim},
    {"renorm", renorm},
    {"_cdist_forward", cdist},
    {"_cdist_backward", cdist_backward},
    {"logsumexp", logsumexp},
    {"cumsum", cumsum, "", "complex64 too", Complex64::parts},
    {"cumprod", cumprod},
    {"cummax", running_extreme<AluOp::maximum>},
    {"cummin", running_extreme<AluOp::minimum>},
    {"logcumsumexp", logcumsumexp},
    {"histc", histc},
    {"trace", trace, "", "complex64 too", Complex64::parts},
};

}  // namespace

std::span<const Row> reduction_rows() { return kRows; }

}  // namespace trn::torch_backend
