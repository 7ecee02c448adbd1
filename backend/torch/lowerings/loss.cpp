#include <cmath>

#include "backend/torch/lowerings/lowering.h"

// Losses and their gradients. Reduction: 0 none, 1 mean, 2 sum.
namespace trn::torch_backend {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Value reduced(Value loss, int64_t reduction) {
  if (reduction == kMean) return mean(loss, {});
  return reduction == kSum ? sum(loss, {}) : loss;
}
// The factor that a mean puts on every element's gradient.
double share(const Value& x, int64_t reduction) {
  return reduction == kMean ? 1.0 / static_cast<double>(x.numel()) : 1.0;
}

// Class scores as [N, C, places], targets as [N, 1, places].
struct Classes {
  Value scores, target, weight, counted;  // weight of each target, 0 where ignored
};
Classes classes(Call& c, int scores, int target, int weight, int ignore) {
  Value x = c.arg_float(scores);
  if (x.rank() == 1) x = unsqueeze(x, 0);
  const int64_t n = x.size(0), kinds = x.size(1), places = x.numel() / (n * kinds);
  Classes k;
  k.scores = reshape(x, {n, kinds, places});
  const Value t = reshape(to_index(c.in(target)), {n, 1, places});
  k.counted = not_equal(t, static_cast<double>(c.integer(ignore)));
  k.target = where(k.counted, t, 0);
  k.weight = to_float(k.counted);
  if (c.present(weight)) {
    const Value w = gather_rows(c.arg_float(weight), flatten(k.target));
    k.weight = where(k.counted, reshape(w, k.target.shape()), 0);
  }
  return k;
}

// (self, target, weight?, reduction, ignore_index) -> output, total_weight
void nll_loss(Call& c) {
  const Classes k = classes(c, 0, 1, 2, 4);
  const int64_t reduction = c.integer(3);
  const Value picked = take_along(k.scores, k.target, 1);
  const Value loss = where(k.counted, -picked * k.weight, 0);
  const Value total = sum(k.weight, {});
  if (reduction == kNone) {
    c.out(0, loss);
    return c.out(1, c.constant_value(0));
  }
  c.out(0, reduction == kMean ? sum(loss, {}) / total : sum(loss, {}));
  c.out(1, total);
}

// (grad_output, self, target, weight?, reduction, ignore_index, total_weight)
void nll_loss_backward(Call& c) {
  const Classes k = classes(c, 1, 2, 3, 5);
  const int64_t reduction = c.integer(4);
  Value grad = c.arg_float(0);
  if (reduction == kNone) grad = reshape(grad, k.target.shape());
  Value each = -(grad * k.weight);
  if (reduction == kMean) each = each / c.arg_float(6);
  const Value hit = equal(iota(c.g, k.scores.shape(), 1), k.target);
  c.out(0, where(hit, each, 0));
}

void mse_loss(Call& c) { c.out(0, reduced(square(c.arg_float(0) - c.arg_float(1)), c.integer(2))); }
void mse_loss_backward(Call& c) {
  const Value gap = c.arg_float(1) - c.arg_float(2);
  c.out(0, c.arg_float(0) * gap * (2 * share(gap, c.integer(3))));
}

void smooth_l1_loss(Call& c) {
  const Value gap = absolute(c.arg_float(0) - c.arg_float(1));
  const double beta = c.constant(3);
  const Value loss = beta == 0 ? gap : where(gap < beta, gap * gap * (0.5 / beta), gap - 0.5 * beta);
  c.out(0, reduced(loss, c.integer(2)));
}
void smooth_l1_loss_backward(Call& c) {
  const Value gap = c.arg_float(1) - c.arg_float(2);
  const double beta = c.constant(4);
  const Value slope = beta == 0 ? sign(gap) : minimum(maximum(gap / beta, -1), 1);
  c.out(0, c.arg_float(0) * slope * share(gap, c.integer(3)));
}

void huber_loss(Call& c) {
  const Value gap = absolute(c.arg_float(0) - c.arg_float(1));
  const double delta = c.constant(3);
  c.out(0, reduced(where(gap <= delta, gap * gap * 0.5, (gap - 0.5 * delta) * delta), c.integer(2)));
}
void huber_loss_backward(Call& c) {
  const Value gap = c.arg_float(1) - c.arg_float(2);
  const double delta = c.constant(4);
  c.out(0, c.arg_float(0) * minimum(maximum(gap, -delta), delta) * share(gap, c.integer(3)));
}

// log is held above -100, as in PyTorch.
void binary_cross_entropy(Call& c) {
  const Value p = c.arg_float(0), target = c.arg_float(1);
  Value loss = (target - 1) * maximum(log(1.0 - p), -100) - target * maximum(log(p), -100);
  if (c.present(2)) loss = loss * c.arg_float(2);
  c.out(0, reduced(loss, c.integer(3)));
}
void binary_cross_entropy_backward(Call& c) {
  const Value p = c.arg_float(1), target = c.arg_float(2);
  Value grad = c.arg_float(0) * (p - target) / maximum((1.0 - p) * p, 1e-12);
  if (c.present(3)) grad = grad * c.arg_float(3);
  c.out(0, grad * share(p, c.integer(4)));
}

void soft_margin_loss(Call& c) {
  c.out(0, reduced(apply(Activation::log1p, exp(-(c.arg_float(0) * c.arg_float(1)))), c.integer(2)));
}

constexpr Row kRows[] = {
    {"nll_loss_forward", nll_loss},
    {"nll_loss_backward", nll_loss_backward},
    {"nll_loss2d_forward", nll_loss},
    {"nll_loss2d_backward", nll_loss_backward},
    {"mse_loss", mse_loss},
    {"mse_loss_backward", mse_loss_backward},
    {"smooth_l1_loss", smooth_l1_loss},
    {"smooth_l1_loss_backward", smooth_l1_loss_backward},
    {"huber_loss", huber_loss},
    {"huber_loss_backward", huber_loss_backward},
    {"binary_cross_entropy", binary_cross_entropy},
    {"binary_cross_entropy_backward", binary_cross_entropy_backward},
    {"soft_margin_loss", soft_margin_loss},
};

}  // namespace

std::span<const Row> loss_rows() { return kRows; }

}  // namespace trn::torch_backend
