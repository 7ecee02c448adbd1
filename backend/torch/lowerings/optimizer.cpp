#include "backend/torch/lowerings/lowering.h"

// Fused optimizer steps. The _foreach_ ops come as their per-tensor ops from PyTorch itself.
namespace trn::torch_backend {
namespace {

// (self[], grads[], exp_avgs[], exp_avg_sqs[], max_exp_avg_sqs[], state_steps[], lr, beta1, beta2, weight_decay, eps,
// amsgrad, maximize, grad_scale?, found_inf?)
void adam(Call& c, bool decoupled) {
  const auto number = [&](int i) { return c.number(i, Dtype::float32); };
  const Value lr = number(6), beta1 = number(7), beta2 = number(8), decay = number(9), eps = number(10);
  const bool amsgrad = c.flag(11), maximize = c.flag(12);
  const auto params = c.list(0), grads = c.list(1), means = c.list(2), squares = c.list(3), steps = c.list(5);
  const auto peaks = amsgrad ? c.list(4) : std::vector<Value>{};
  const int n = static_cast<int>(params.size());
  for (int i = 0; i < n; ++i) {
    const Value t = to_float(steps[i]);
    Value p = to_float(params[i]), g = to_float(grads[i]);
    if (c.present(13)) g = g / c.arg_float(13);
    c.out(n + i, g);
    if (maximize) g = -g;
    if (decoupled) p = p - p * (lr * decay);
    if (!decoupled) g = g + p * decay;
    const Value mean = to_float(means[i]) + (g - to_float(means[i])) * (1.0 - beta1);
    const Value square_mean = to_float(squares[i]) * beta2 + g * g * (1.0 - beta2);
    const Value correction1 = 1.0 - apply(AluOp::power, beta1, t), correction2 = 1.0 - apply(AluOp::power, beta2, t);
    Value second = square_mean;
    if (amsgrad) second = maximum(to_float(peaks[i]), square_mean);
    const Value denominator = sqrt(second) / sqrt(correction2) + eps;
    c.out(i, p - (lr / correction1) * (mean / denominator));
    c.out(2 * n + i, mean);
    c.out(3 * n + i, square_mean);
    if (amsgrad) c.out(4 * n + i, second);
  }
}
void fused_adam(Call& c) { adam(c, false); }
void fused_adamw(Call& c) { adam(c, true); }

constexpr Row kRows[] = {
    {"_fused_adam_", fused_adam, "lr beta1 beta2 weight_decay eps"},
    {"_fused_adamw_", fused_adamw, "lr beta1 beta2 weight_decay eps"},
};

}  // namespace

std::span<const Row> optimizer_rows() { return kRows; }

}  // namespace trn::torch_backend
