#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Scaled dot product attention. Fewer key heads than query heads (GQA) broadcast: heads are seen as [key heads, queries
// per key].
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Heads {
  Value q, k, v;  // q [..., Hk, R, L, E]; k, v [..., Hk, 1, S, E]
  int64_t repeat = 1;
};

Value factor(Value x) { return x.is_float() && size_of(x.dtype()) <= 4 ? x : to_float(x); }

// [..., H, L, E] -> [..., H / inner, inner, L, E]
Value grouped(Value x, int64_t inner) {
  if (x.rank() < 3) return x;
  Dims shape = x.shape();
  const size_t at = shape.size() - 3;
  shape[at] /= inner;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
  return reshape(x, shape);
}

Heads heads(Value q, Value k, Value v) {
  Heads h;
  h.repeat = q.rank() < 3 || k.size(-3) == 0 ? 1 : q.size(-3) / k.size(-3);
  h.q = grouped(factor(q), h.repeat);
  h.k = grouped(factor(k), 1);
  h.v = grouped(factor(v), 1);
  return h;
}

// Bias [..., H or 1, L, S] in the layout of the scores.
Value grouped_bias(Value bias, int64_t repeat) {
  bias = to_float(bias);
  if (bias.rank() < 3) return bias;
  return grouped(bias, bias.size(-3) == 1 ? 1 : repeat);
}

Value scores(Call& c, const Heads& h, int bias, bool causal, double scale) {
  Value s = matmul(h.q, transpose(h.k)) * scale;
  if (c.present(bias)) s = s + grouped_bias(c.in(bias), h.repeat);
  if (!causal) return s;
  const Dims plane{s.size(-2), s.size(-1)};
  return where(iota(c.g, plane, 1) <= iota(c.g, plane, 0), s, -kInf);
}

double scale_of(Call& c, int arg, const Value& q) {
  return c.present(arg) ? c.constant(arg) : 1 / std::sqrt(static_cast<double>(q.size(-1)));
}

// 1 / (1 - p) for what stays, 0 for what is dropped: Philox's bits by (seed, offset), so that backward draws them
// again.
Value dropout_factor(Value seed, const Dims& shape, double p) {
  const Value bits{seed.g, seed.g->random(seed.id, shape)};
  const Value shifted = apply(AluOp::right_shift, bits, number(*bits.g, 8, bits.dtype()));
  const Value unit = to_float(Value{bits.g, bits.g->cast(shifted.id, Dtype::int32)}) * 0x1p-24;
  return to_float(unit >= p) * (p < 1 ? 1 / (1 - p) : 0);
}

// A kernel of its own, whose scores stay on chip, serves full tiles of queries, and heads of fewer queries and keys
// than a tile has rows. Queries that share keys, and those of a decode step, are better packed by what the compiler
// makes of attention written out.
bool flash(Call& c, const Heads& h, double scale) {
  constexpr int64_t kTile = 128, kFew = 16, kWidest = 1024;  // a wider head's sums would leave PSUM no room
  const int64_t queries = h.q.size(-2), width = std::max(h.q.size(-1), h.v.size(-1));
  const bool small = queries >= kFew && h.k.size(-2) <= kTile && width <= kTile && h.repeat == 1;
  const bool alike = h.q.dtype() == h.k.dtype() && h.q.dtype() == h.v.dtype();
  return alike && c.constant(4) == 0 && (queries >= kTile || small) && width <= kWidest && h.k.numel() > 0 &&
         h.v.numel() > 0 && h.q.numel() > 0 && scale > 0 && std::isfinite(scale);
}

void flash_attention(Call& c, const Heads& h, double scale) {
  std::vector<NodeId> operands{h.q.id, h.k.id, h.v.id};
  if (c.present(3)) {
    const Value bias = grouped_bias(c.in(3), h.repeat);
    operands.push_back(bias.id);
  }
  const auto result = [&](Op op) { return Value{&c.g, c.g.attention(op, operands, scale, c.flag(5))}; };
  c.out(0, result(Op::attention));
  c.out(1, result(Op::attention_log_sum));
}

// (query, key, value, attn_bias?, dropout_p, is_causal, return_debug_mask, scale?) -> output, logsumexp, ...,
// philox_seed (result 4). bfloat16 weights are rounded before they are divided by their sum, as the CPU's flash
// attention does it; float16 weights after, as attention written out does it.
void attention(Call& c) {
  const Value q = c.in(0);
  const Heads h = heads(q, c.in(1), c.in(2));
  const double scale = scale_of(c, 7, q);
  if (flash(c, h, scale)) return flash_attention(c, h, scale);
  const Value s = scores(c, h, 3, c.flag(5), scale);
  const int last = s.rank() - 1;
  const Value high = max(s, {last});
  const Value base = where(equal(high, -kInf), 0, high);  // a row that may see nothing gives zeros
  const Value e = exp(s - base), total = sum(e, {last});
  const bool divide_last = h.v.dtype() == Dtype::bfloat16;
  const Value divisor = where(equal(total, 0), 1, total);
  Value weights = divide_last ? e : e / divisor;
  if (const double p = c.constant(4); p > 0) {
    const Value seed = c.random_seed(product(s.shape()));
    weights = weights * dropout_factor(seed, s.shape(), p);
    c.out(4, seed);
  }
  const Value y = matmul(convert(weights, h.v.dtype()), h.v);
  c.out(0, divide_last ? y / divisor : y);
  c.out(1, log(total) + base);
}

// (grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, ..., dropout_p 12, is_causal 13,
// philox_seed 14, philox_offset, scale? 16)
void attention_backward(Call& c) {
  const Value q = c.in(1);
  const Heads h = heads(q, c.in(2), c.in(3));
  const double scale = scale_of(c, 16, q);
  const Value grad = grouped(to_float(c.in(0)), h.repeat), out = grouped(to_float(c.in(6)), h.repeat);
  Value lse = to_float(c.in(7));
  lse = grouped(unsqueeze(lse, -1), h.repeat);
  const Value s = scores(c, h, 4, c.flag(13), scale);
  const Value p = where(equal(lse, -kInf), 0, exp(s - lse));
  const Dtype d = h.v.dtype();
  const Value low_grad = convert(grad, d);
  Value dp = matmul(low_grad, transpose(h.v)), kept = p;
  if (const double rate = c.constant(12); rate > 0) {
    const Value factor = dropout_factor(c.in(14), s.shape(), rate);
    dp = dp * factor;
    kept = p * factor;
  }
  const Value delta = sum(grad * out, {grad.rank() - 1});
  const Value ds = p * (dp - delta);
  const Value low_ds = convert(ds, d);
  if (c.wanted(0)) c.out(0, matmul(low_ds, h.k) * scale);
  if (c.wanted(1)) c.out(1, unbroadcast(matmul(transpose(low_ds), h.q) * scale, h.k.shape()));
  if (c.wanted(2)) c.out(2, unbroadcast(matmul(transpose(convert(kept, d)), low_grad), h.v.shape()));
  if (c.wanted(3)) {
    const Dims ungrouped = [&] {
      Dims shape = q.shape();
      shape.back() = s.size(-1);
      return shape;
    }();
    c.out(3, unbroadcast(reshape(ds, ungrouped), c.shape(3)));
  }
}

constexpr Row kRows[] = {
    {"_scaled_dot_product_fused_attention_overrideable", attention},
    {"_scaled_dot_product_fused_attention_overrideable_backward", attention_backward},
};

}  // namespace

std::span<const Row> attention_rows() { return kRows; }

}  // namespace trn::torch_backend
