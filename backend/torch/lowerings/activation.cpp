#include <cmath>
#include <numbers>

#include "backend/torch/lowerings/lowering.h"

// torch.nn.functional's pointwise functions and their derivatives.
namespace trn::torch_backend {
namespace {

void silu(Call& c) { c.out(0, apply(Activation::silu, c.arg_float(0))); }
void mish(Call& c) { c.out(0, apply(Activation::mish, c.arg_float(0))); }
void gelu(Call& c) {
  c.out(0, apply(c.text(1) == "tanh" ? Activation::gelu_apprx_tanh : Activation::gelu, c.arg_float(0)));
}

void gelu_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  if (c.text(2) != "tanh") return c.out(0, grad * apply(Activation::gelu_dx, x));
  constexpr double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kappa = 0.044715;
  const Value inner = tanh((x + x * x * x * kappa) * beta);
  const Value right = x * (1.0 - inner * inner) * (x * x * (3 * kappa) + 1) * (beta / 2);
  c.out(0, grad * ((inner + 1) * 0.5 + right));
}

void silu_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1), s = sigmoid(x);
  c.out(0, grad * s * (x * (1.0 - s) + 1));
}
void sigmoid_backward(Call& c) {
  const Value y = c.arg_float(1);
  c.out(0, c.arg_float(0) * (1.0 - y) * y);
}
void tanh_backward(Call& c) {
  const Value y = c.arg_float(1);
  c.out(0, c.arg_float(0) * (1.0 - y * y));
}
void logit_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  const Value slope = grad / (x * (1.0 - x));
  if (!c.present(2)) return c.out(0, where(logical_or(x<0, x> 1), std::nan(""), slope));
  const double eps = c.constant(2);
  c.out(0, where(logical_or(x<eps, x> 1 - eps), 0, slope));
}
void mish_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  const Value t = tanh(apply(Activation::softplus, x)), s = sigmoid(x);
  c.out(0, grad * (t + x * s * (1.0 - t * t)));
}

// softplus with beta and threshold: linear past it.
void softplus(Call& c) {
  const Value x = c.arg_float(0);
  const double beta = c.constant(1), threshold = c.constant(2);
  const Value bent = apply(Activation::softplus, x * beta) / beta;
  c.out(0, where(x * beta > threshold, x, bent));
}
void softplus_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  const double beta = c.constant(2), threshold = c.constant(3);
  c.out(0, where(x * beta > threshold, grad, grad * sigmoid(x * beta)));
}

void log_sigmoid(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, minimum(x, 0) - apply(Activation::log1p, exp(-absolute(x))));
  if (c.wanted(1)) c.out(1, exp(-absolute(x)));  // the buffer that PyTorch's CPU kernel keeps
}
void log_sigmoid_backward(Call& c) { c.out(0, c.arg_float(0) * sigmoid(-c.arg_float(1))); }

void threshold(Call& c) {
  const Value x = c.arg(0);
  c.out(0, where(x <= c.number(1, x.dtype()), c.number(2, x.dtype()), x));
}
void threshold_backward(Call& c) {
  const Value grad = c.arg(0), x = c.arg(1);
  c.out(0, where(x <= c.number(2, x.dtype()), 0, grad));
}

void leaky_relu(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, where(x > 0, x, x * c.number(1, Dtype::float32)));
}
void leaky_relu_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  c.out(0, where(x > 0, grad, grad * c.number(2, Dtype::float32)));
}

void prelu(Call& c) {
  const Value x = c.arg_float(0), w = c.arg_float(1);
  c.out(0, where(x > 0, x, x * w));
}
void prelu_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1), w = c.arg_float(2);
  if (c.wanted(0)) c.out(0, where(x > 0, grad, grad * w));
  if (c.wanted(1)) c.out(1, where(x > 0, 0, grad * x));
}
void elu(Call& c) {
  const Value x = c.arg_float(0);
  const double alpha = c.constant(1), scale = c.constant(2), input_scale = c.constant(3);
  c.out(0, where(x > 0, x * scale, apply(Activation::expm1, x * input_scale) * (alpha * scale)));
}
void elu_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(5);
  const double alpha = c.constant(1), scale = c.constant(2), input_scale = c.constant(3);
  const double negative = alpha * scale;
  const Value slope = c.flag(4) ? (x + negative) * input_scale : exp(x * input_scale) * (negative * input_scale);
  c.out(0, where(x <= 0, grad * slope, grad * scale));
}

void hardtanh(Call& c) {
  const Value x = c.arg(0);
  c.out(0, minimum(maximum(x, c.constant(1)), c.constant(2)));
}
void hardtanh_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  c.out(0, where(logical_or(x <= c.constant(2), x >= c.constant(3)), 0, grad));
}
Value relu6(Value x) { return minimum(maximum(x, 0), 6); }
void hardsigmoid(Call& c) { c.out(0, relu6(c.arg_float(0) + 3) / 6); }
void hardsigmoid_backward(Call& c) {
  const Value x = c.arg_float(1);
  c.out(0, where(logical_and(x > -3, x < 3), c.arg_float(0) / 6, 0));
}
void hardswish(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, x * relu6(x + 3) / 6);
}
void hardswish_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  c.out(0, where(x <= -3, 0, where(x < 3, grad * (x / 3 + 0.5), grad)));
}
void hardshrink(Call& c) {
  const Value x = c.arg_float(0);
  const double lambda = c.constant(1);
  c.out(0, where(logical_and(x >= -lambda, x <= lambda), 0, x));
}
void hardshrink_backward(Call& c) {
  const Value x = c.arg_float(1);
  const double lambda = c.constant(2);
  c.out(0, where(logical_and(x >= -lambda, x <= lambda), 0, c.arg_float(0)));
}
void softshrink(Call& c) {
  const Value x = c.arg_float(0);
  const double lambda = c.constant(1);
  c.out(0, where(x > lambda, x - lambda, where(x < -lambda, x + lambda, x * 0)));
}

void glu(Call& c) {
  const Value x = c.arg_float(0);
  const int dim = c.dim(1, x.rank());
  const int64_t half = x.size(dim) / 2;
  c.out(0, slice(x, dim, 0, half) * sigmoid(slice(x, dim, half, 2 * half)));
}
void glu_backward(Call& c) {
  const Value grad = c.arg_float(0), x = c.arg_float(1);
  const int dim = c.dim(2, x.rank());
  const int64_t half = x.size(dim) / 2;
  const Value a = slice(x, dim, 0, half), s = sigmoid(slice(x, dim, half, 2 * half));
  c.out(0, concat({grad * s, grad * a * s * (1.0 - s)}, dim));
}

constexpr Row kRows[] = {
    {"silu", silu},
    {"silu_backward", silu_backward},
    {"gelu", gelu},
    {"gelu_backward", gelu_backward},
    {"mish", mish},
    {"mish_backward", mish_backward},
    {"sigmoid_backward", sigmoid_backward},
    {"tanh_backward", tanh_backward},
    {"logit_backward", logit_backward},
    {"softplus", softplus},
    {"softplus_backward", softplus_backward},
    {"log_sigmoid_forward", log_sigmoid},
    {"log_sigmoid_backward", log_sigmoid_backward},
    {"threshold", threshold},
    {"threshold_backward", threshold_backward},
    {"leaky_relu", leaky_relu},
    {"leaky_relu_backward", leaky_relu_backward},
    {"_prelu_kernel", prelu},
    {"_prelu_kernel_backward", prelu_backward},
    {"elu", elu},
    {"elu_backward", elu_backward},
    {"hardtanh", hardtanh},
    {"hardtanh_backward", hardtanh_backward},
    {"hardsigmoid", hardsigmoid},
    {"hardsigmoid_backward", hardsigmoid_backward},
    {"hardswish", hardswish},
    {"hardswish_backward", hardswish_backward},
    {"hardshrink", hardshrink},
    {"hardshrink_backward", hardshrink_backward},
    {"softshrink", softshrink},
    {"softshrink_backward", hardshrink_backward},
    {"glu", glu},
    {"glu_backward", glu_backward},
};

}  // namespace

std::span<const Row> activation_rows() { return kRows; }

}  // namespace trn::torch_backend
