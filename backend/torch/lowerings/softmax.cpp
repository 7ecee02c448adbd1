#include <limits>

#include "backend/torch/lowerings/lowering.h"

// softmax and log_softmax along one dim, forward and backward.
namespace trn::torch_backend {
namespace {

Value softmax_of(Value x, int dim) {
  if (x.rank() == 0) return like(x, 1);
  const Value e = exp(x - max(x, {dim}));
  return e / sum(e, {dim});
}

void softmax(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, softmax_of(x, c.dim(1, x.rank())));
}

// Rows of -inf give zeros instead of NaN.
void safe_softmax(Call& c) {
  const Value x = c.arg_float(0);
  const int dim = c.dim(1, x.rank());
  const Value empty = equal(x.rank() ? max(x, {dim}) : x, -std::numeric_limits<double>::infinity());
  c.out(0, where(empty, 0, softmax_of(x, dim)));
}

void log_softmax(Call& c) {
  const Value x = c.arg_float(0);
  if (x.rank() == 0) return c.out(0, like(x, 0));
  const int dim = c.dim(1, x.rank());
  const Value moved = x - max(x, {dim});
  c.out(0, moved - log(sum(exp(moved), {dim})));
}

void softmax_backward(Call& c) {
  const Value grad = c.arg_float(0), y = c.arg_float(1);
  const Dims axes = y.rank() ? Dims{c.dim(2, y.rank())} : Dims{};
  c.out(0, (grad - sum(grad * y, axes)) * y);
}

void log_softmax_backward(Call& c) {
  const Value grad = c.arg_float(0), y = c.arg_float(1);
  const Dims axes = y.rank() ? Dims{c.dim(2, y.rank())} : Dims{};
  c.out(0, grad - exp(y) * sum(grad, axes));
}

constexpr Row kRows[] = {
    {"_softmax", softmax},
    {"_safe_softmax", safe_softmax},
    {"_log_softmax", log_softmax},
    {"_softmax_backward_data", softmax_backward},
    {"_log_softmax_backward_data", log_softmax_backward},
};

}  // namespace

std::span<const Row> softmax_rows() { return kRows; }

}  // namespace trn::torch_backend
