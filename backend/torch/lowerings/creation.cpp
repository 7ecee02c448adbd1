#include <algorithm>

#include "backend/torch/lowerings/lowering.h"
#include "memory/error.h"

// Tensors made from numbers. Sizes come from PyTorch; factories such as ones() and full() are empty() and fill_().
namespace trn::torch_backend {
namespace {

void fill(Call& c) { c.out(0, c.number(1, compute_dtype(c.dtype(0)))); }
void fill_tensor(Call& c) { c.out(0, c.in(1)); }
void zero(Call& c) { c.out(0, number(c.g, 0, c.dtype(0))); }

// (start, end, step, out): the size of out is already right, so end says nothing. Whole results have whole steps.
void arange(Call& c) {
  const Dtype work = compute_dtype(c.dtype(0));
  c.out(0, convert(iota(c.g, c.shape(0)[0]), work) * c.number(2, work) + c.number(0, work));
}

// Whole numbers: whole ends, and the place between them rounded towards zero.
Value spaced_whole(Call& c) {
  const int64_t n = c.shape(0)[0], steps = std::max<int64_t>(n - 1, 1);
  if (steps > 46340) throw Error(Fault::unsupported, "linspace of integers takes at most 46341 steps", c.g.name);
  const Value start = c.number(0, Dtype::int32), end = c.number(1, Dtype::int32), i = iota(c.g, n);
  const Value length = end - start, over = number(c.g, static_cast<double>(steps), Dtype::int32);
  const Value far = integer_quotient(length, over, Rounding::down);
  const Value share = (length - far * over) * i;  // below steps^2
  const Value near = integer_quotient(share, over, Rounding::down);
  const Value y = start + far * i + near;
  return y + to_int(logical_and(y < 0, not_equal(share, near * over)));
}

// From both ends, as PyTorch, so that the last element is `end`.
Value spaced(Call& c, Value start, Value end) {
  const int64_t n = c.shape(0)[0];
  if (n == 1) return start;
  const Value step = (end - start) / static_cast<double>(n - 1), i = to_float(iota(c.g, n));
  return where(i < static_cast<double>(n / 2), start + step * i, end - step * (static_cast<double>(n - 1) - i));
}
void linspace(Call& c) {
  if (is_integer(c.dtype(0))) return c.out(0, spaced_whole(c));
  c.out(0, spaced(c, c.number(0, Dtype::float32), c.number(1, Dtype::float32)));
}
// PyTorch's kernel takes the ends in the result's dtype, unless there is one only.
void logspace(Call& c) {
  const auto rounded = [&](int i) { return to_float(convert(c.number(i, Dtype::float32), c.dtype(0))); };
  const Value exponent = c.shape(0)[0] == 1 ? c.number(0, Dtype::float32) : spaced(c, rounded(0), rounded(1));
  c.out(0, apply(AluOp::power, c.constant_value(c.constant(3)), exponent));
}

void eye(Call& c) {
  const Dims& plane = c.shape(0);
  c.out(0, equal(iota(c.g, plane, 0), iota(c.g, plane, 1)));
}

constexpr Row kRows[] = {
    {"fill_.Scalar", fill, "value", "complex64 too", Complex64::parts},
    {"fill_.Tensor", fill_tensor, "", "complex64 too", Complex64::parts},
    {"zero_", zero, "", "complex64 too", Complex64::parts},
    {"arange.start_out", arange, "start end step"},
    {"linspace.out", linspace, "start end"},
    {"logspace.out", logspace, "start end"},
    {"eye.m_out", eye},
    {"eye.out", eye},
};

}  // namespace

std::span<const Row> creation_rows() { return kRows; }

}  // namespace trn::torch_backend
