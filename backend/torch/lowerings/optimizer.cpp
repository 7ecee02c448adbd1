#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Fused optimizer steps and gradient scaling: one Program for all parameters.
namespace trn::torch_backend {
namespace {

// A float argument, or the tensor of the tensor_lr overloads.
Value rate(Call& c, int arg) { return reshape(to_float(c.in(arg)), {}); }

// What gradients go through before a step (grad_scale?, found_inf?), and whether the step is to be done at all.
struct Gate {
  Call& c;
  int scale, found;

  // Unscaled, which `result` gets too; then against its own sign to maximize.
  Value gradient(int result, Value given, bool maximize) const {
    Value g = to_float(given);
    if (c.present(scale)) g = g / reshape(c.arg_float(scale), {});
    c.out(result, g);
    return maximize ? -g : g;
  }
  // `fresh`, or `old` where a gradient was not finite.
  void out(int result, Value old, Value fresh) const {
    c.out(result, c.present(found) ? where(equal(reshape(c.arg_float(found), {}), 1), to_float(old), fresh) : fresh);
  }
};

// (self[], grads[], exp_avgs[], exp_avg_sqs[], max_exp_avg_sqs[], state_steps[], lr, beta1, beta2, weight_decay, eps,
// amsgrad, maximize, grad_scale?, found_inf?)
void adam(Call& c, bool decoupled) {
  const auto number = [&](int i) { return c.number(i, Dtype::float32); };
  const Value lr = rate(c, 6), beta1 = number(7), beta2 = number(8), decay = number(9), eps = number(10);
  const bool amsgrad = c.flag(11), maximize = c.flag(12);
  const Gate gate{c, 13, 14};
  const auto params = c.list(0), grads = c.list(1), means = c.list(2), squares = c.list(3), steps = c.list(5);
  const auto peaks = amsgrad ? c.list(4) : std::vector<Value>{};
  const int n = static_cast<int>(params.size());
  for (int i = 0; i < n; ++i) {
    const Value t = to_float(steps[i]);
    Value p = to_float(params[i]), g = gate.gradient(n + i, grads[i], maximize);
    if (decoupled) p = p - p * (lr * decay);
    if (!decoupled) g = g + p * decay;
    const Value mean = to_float(means[i]) + (g - to_float(means[i])) * (1.0 - beta1);
    const Value square_mean = to_float(squares[i]) * beta2 + g * g * (1.0 - beta2);
    const Value correction1 = 1.0 - apply(AluOp::power, beta1, t), correction2 = 1.0 - apply(AluOp::power, beta2, t);
    Value second = square_mean;
    if (amsgrad) second = maximum(to_float(peaks[i]), square_mean);
    const Value denominator = sqrt(second) / sqrt(correction2) + eps;
    gate.out(i, params[i], p - (lr / correction1) * (mean / denominator));
    gate.out(2 * n + i, means[i], mean);
    gate.out(3 * n + i, squares[i], square_mean);
    if (amsgrad) gate.out(4 * n + i, peaks[i], second);
  }
}
void fused_adam(Call& c) { adam(c, false); }
void fused_adamw(Call& c) { adam(c, true); }

// (self[], grads[], momentum_buffer_list[], weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step,
// grad_scale?, found_inf?)
void fused_sgd(Call& c) {
  const auto number = [&](int i) { return c.number(i, Dtype::float32); };
  const Value decay = number(3), momentum = number(4), lr = rate(c, 5), dampening = number(6);
  const bool nesterov = c.flag(7), maximize = c.flag(8), first = c.flag(9);
  const Gate gate{c, 10, 11};
  const auto params = c.list(0), grads = c.list(1), buffers = c.list(2);
  const int n = static_cast<int>(params.size());
  for (int i = 0; i < n; ++i) {
    const Value p = to_float(params[i]);
    Value g = gate.gradient(n + i, grads[i], maximize) + p * decay;
    if (!buffers.empty()) {
      const Value buffer = first ? g : to_float(buffers[i]) * momentum + g * (1.0 - dampening);
      gate.out(2 * n + i, buffers[i], buffer);
      g = nesterov ? g + buffer * momentum : buffer;
    }
    gate.out(i, params[i], p - g * lr);
  }
}

// (self[], grads[], state_sums[], state_steps[], lr, lr_decay, weight_decay, eps, maximize, grad_scale?, found_inf?)
void fused_adagrad(Call& c) {
  const auto number = [&](int i) { return c.number(i, Dtype::float32); };
  const Value lr = rate(c, 4), lr_decay = number(5), decay = number(6), eps = number(7);
  const bool maximize = c.flag(8);
  const Gate gate{c, 9, 10};
  const auto params = c.list(0), grads = c.list(1), sums = c.list(2), steps = c.list(3);
  const int n = static_cast<int>(params.size());
  for (int i = 0; i < n; ++i) {
    const Value p = to_float(params[i]);
    const Value g = gate.gradient(n + i, grads[i], maximize) + p * decay;
    const Value total = to_float(sums[i]) + g * g;
    gate.out(2 * n + i, sums[i], total);
    gate.out(i, params[i], p - g * (lr / ((to_float(steps[i]) - 1) * lr_decay + 1)) / (sqrt(total) + eps));
    c.out(3 * n + i, steps[i]);
  }
}

// (self[], found_inf, inv_scale)
void unscale(Call& c) {
  const auto grads = c.list(0);
  const Value factor = reshape(c.arg_float(2), {});
  Value found = reshape(c.arg_float(1), {});
  for (size_t i = 0; i < grads.size(); ++i) {
    const Value g = to_float(grads[i]), bad = to_float(not_equal(g - g, 0));  // inf - inf and nan - nan are nan
    found = maximum(found, reshape(max(bad, {}), {}));
    c.out(static_cast<int>(i), g * factor);
  }
  c.out(static_cast<int>(grads.size()), found);
}

// (scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval)
void update_scale(Call& c) {
  const Value scale = c.arg_float(0), found = not_equal(c.arg_float(2), 0);
  const Value good = to_int(c.in(1)) + 1, enough = equal(good, static_cast<double>(c.integer(5)));
  const Value grown = scale * c.constant(3), finite = grown < std::numeric_limits<double>::infinity();
  c.out(0, where(found, scale * c.constant(4), where(logical_and(enough, finite), grown, scale)));
  c.out(1, where(logical_or(found, enough), 0, good));
}

constexpr std::string_view kAdam = "lr beta1 beta2 weight_decay eps";

constexpr Row kRows[] = {
    {"_fused_adam_", fused_adam, kAdam},
    {"_fused_adam_.tensor_lr", fused_adam, kAdam},
    {"_fused_adamw_", fused_adamw, kAdam},
    {"_fused_adamw_.tensor_lr", fused_adamw, kAdam},
    {"_fused_sgd_", fused_sgd, "weight_decay momentum lr dampening"},
    {"_fused_sgd_.tensor_lr", fused_sgd, "weight_decay momentum lr dampening"},
    {"_fused_adagrad_", fused_adagrad, "lr lr_decay weight_decay eps"},
    {"_amp_foreach_non_finite_check_and_unscale_", unscale},
    {"_amp_update_scale_", update_scale},
};

}  // namespace

std::span<const Row> optimizer_rows() { return kRows; }

}  // namespace trn::torch_backend
