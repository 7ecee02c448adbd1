#include <array>

#include "backend/torch/lowerings/lowering.h"

// One step of a recurrent layer behind its two matrix products: what torch.nn's LSTM, GRU and their cells call. Gates
// stand side by side along dim 1, LSTM: input, forget, cell, output; GRU: reset, input, new.
namespace trn::torch_backend {
namespace {

template <size_t n>
std::array<Value, n> parts(Value a) {
  std::array<Value, n> all;
  const int64_t width = a.size(1) / static_cast<int64_t>(n);
  for (size_t i = 0; i < n; ++i)
    all[i] = slice(a, 1, static_cast<int64_t>(i) * width, static_cast<int64_t>(i + 1) * width);
  return all;
}

Value biased(Call& c, int gates, int bias) {
  const Value g = c.arg_float(gates);
  return c.present(bias) ? g + c.arg_float(bias) : g;
}

Value slope_of_sigmoid(Value y) { return y * (1 - y); }
Value slope_of_tanh(Value y) { return 1 - square(y); }

// (input_gates, hidden_gates, cx, input_bias?, hidden_bias?) -> hy, cy, workspace: the gates after their functions
void lstm_cell(Call& c) {
  const auto gates = parts<4>(biased(c, 0, 3) + biased(c, 1, 4));
  const Value in = sigmoid(gates[0]), forget = sigmoid(gates[1]), cell = tanh(gates[2]), out = sigmoid(gates[3]);
  const Value cy = forget * c.arg_float(2) + in * cell;
  c.out(0, out * tanh(cy));
  c.out(1, cy);
  c.out(2, concat({in, forget, cell, out}, 1));
}

// (grad_hy?, grad_cy?, cx, cy, workspace, has_bias) -> grad_gates, grad_cx, grad_bias
void lstm_cell_backward(Call& c) {
  if (!c.wanted(0)) return;
  const Value cx = c.arg_float(2), bent = tanh(c.arg_float(3));
  const auto [in, forget, cell, out] = parts<4>(c.arg_float(4));
  const auto given = [&](int i) { return c.present(i) ? c.arg_float(i) : like(cx, 0); };
  const Value grad_hy = given(0), grad_cy = grad_hy * out * slope_of_tanh(bent) + given(1);
  const Value gates = concat({grad_cy * cell * slope_of_sigmoid(in), grad_cy * cx * slope_of_sigmoid(forget),
                              grad_cy * in * slope_of_tanh(cell), grad_hy * bent * slope_of_sigmoid(out)},
                             1);
  c.out(0, gates);
  c.out(1, grad_cy * forget);
  if (c.wanted(2)) c.out(2, sum(gates, {0}));
}

// (input_gates, hidden_gates, hx, input_bias?, hidden_bias?) -> hy, workspace: reset, input, new, hx, hidden part of
// new
void gru_cell(Call& c) {
  const auto from_input = parts<3>(biased(c, 0, 3)), from_hidden = parts<3>(biased(c, 1, 4));
  const Value hx = c.arg_float(2);
  const Value reset = sigmoid(from_input[0] + from_hidden[0]), in = sigmoid(from_input[1] + from_hidden[1]);
  const Value fresh = tanh(from_input[2] + reset * from_hidden[2]);
  c.out(0, fresh + in * (hx - fresh));
  c.out(1, concat({reset, in, fresh, hx, from_hidden[2]}, 1));
}

// (grad_hy, workspace, has_bias) -> gradients of input_gates, hidden_gates, hx, input_bias, hidden_bias
void gru_cell_backward(Call& c) {
  const Value grad = c.arg_float(0);
  const auto [reset, in, fresh, hx, hidden] = parts<5>(c.arg_float(1));
  const Value to_in = grad * (hx - fresh) * slope_of_sigmoid(in);
  const Value to_fresh = grad * (1 - in) * slope_of_tanh(fresh);
  const Value to_reset = to_fresh * hidden * slope_of_sigmoid(reset);
  const Value input_gates = concat({to_reset, to_in, to_fresh}, 1);
  const Value hidden_gates = concat({to_reset, to_in, to_fresh * reset}, 1);
  c.out(0, input_gates);
  c.out(1, hidden_gates);
  c.out(2, grad * in);
  if (c.wanted(3)) c.out(3, sum(input_gates, {0}));
  if (c.wanted(4)) c.out(4, sum(hidden_gates, {0}));
}

constexpr Row kRows[] = {
    {"_thnn_fused_lstm_cell", lstm_cell},
    {"_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward},
    {"_thnn_fused_gru_cell", gru_cell},
    {"_thnn_fused_gru_cell_backward", gru_cell_backward},
};

}  // namespace

std::span<const Row> recurrent_rows() { return kRows; }

}  // namespace trn::torch_backend
