#include <algorithm>
#include <limits>

#include "backend/torch/lowerings/lowering.h"

// Connectionist temporal classification (Graves et al., 2006): the forward and backward sums over alignments, in
// logarithms. Lengths are part of the Program; a step of time is a few operations on [batch, 2 * labels + 1].
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b) + exp(c))
Value log_sum(Value a, Value b, Value c) {
  const Value high = maximum(maximum(a, b), c), from = where(equal(high, -kInf), 0, high);
  return log(exp(a - from) + exp(b - from) + exp(c - from)) + from;
}

// A column [N, 1] of numbers known now; equal neighbours are one piece.
Value column(Graph& g, const Dims& numbers) {
  std::vector<Value> pieces;
  for (size_t i = 0; i < numbers.size();) {
    const auto start = static_cast<std::ptrdiff_t>(i);
    const auto end = std::find_if(numbers.begin() + start, numbers.end(), [&](int64_t n) { return n != numbers[i]; });
    const Value v = number(g, static_cast<double>(numbers[i]), Dtype::int32);
    pieces.push_back(expand(v, {end - numbers.begin() - start, 1}));
    i = static_cast<size_t>(end - numbers.begin());
  }
  return concat(pieces, 0);
}

struct Alignment {
  int64_t steps = 0, batch = 0, width = 0;  // T, N, 2 * labels + 1
  Dims lengths;                             // of the inputs
  Value scores;                             // [T, N, width]: log probability of each place's label
  Value labels;                             // [N, width]
  Value skips;                              // [N, width]: a place may follow the one two before it
  Value ends;                               // [N, width]: the two places where alignments end
  Value length;                             // [N, 1]
};

// (log_probs, targets, input_lengths, target_lengths) from argument `first` on.
Alignment alignment(Call& c, int first, int blank_at) {
  const Value probabilities = c.arg_float(first);
  const Dims targets = c.integers(first + 3);
  const auto blank = static_cast<double>(c.integer(blank_at));
  Alignment a{.steps = probabilities.size(0), .batch = probabilities.size(1), .lengths = c.integers(first + 2)};
  const int64_t most = *std::max_element(targets.begin(), targets.end());
  a.width = 2 * most + 1;
  a.length = column(c.g, a.lengths);
  const Value target_length = column(c.g, targets);
  const Value blanks = expand(number(c.g, blank, Dtype::int32), {a.batch, 1});
  a.labels = blanks;
  if (most > 0) {
    const Value given = to_index(c.in(first + 1));
    std::vector<Value> rows;  // one below the other, padded
    int64_t at = 0;
    for (const int64_t n : targets) {
      const auto row = static_cast<int64_t>(rows.size());
      const Value all = given.rank() == 1 ? given : reshape(slice(given, 0, row, row + 1), {given.size(1)});
      const int64_t start = given.rank() == 1 ? at : 0;
      rows.push_back(unsqueeze(pad(slice(all, 0, start, start + n), 0, 0, most - n, blank), 0));
      at += n;
    }
    const Value label = unsqueeze(concat(rows, 0), 2);
    const Value pairs = concat({expand(unsqueeze(blanks, 2), label.shape()), label}, 2);
    a.labels = concat({reshape(pairs, {a.batch, 2 * most}), blanks}, 1);
  }
  a.scores = take_along(probabilities, expand(unsqueeze(a.labels, 0), {a.steps, a.batch, a.width}), 2);
  const Value two_before = slice(pad(a.labels, 1, 2, 0, blank), 1, 0, a.width);
  a.skips = logical_and(not_equal(a.labels, blank), not_equal(a.labels, two_before));
  const Value place = iota(c.g, a.labels.shape(), 1), last = target_length * 2.0;
  a.ends = logical_or(equal(place, last), equal(place, last - 1.0));
  return a;
}

Value at(const Value& by_time, int64_t t) { return squeeze(slice(by_time, 0, t, t + 1), 0); }

// -> neg_log_likelihood [N], log_alpha [N, T, width]
void ctc_loss(Call& c) {
  const Alignment a = alignment(c, 0, 4);
  const Value place = iota(c.g, a.labels.shape(), 1);
  const Value impossible = expand(c.constant_value(-kInf), a.labels.shape());
  // Before the first step only the place before the first; an input of no steps stays there.
  Value alpha = where(equal(place, 0), 0, impossible);
  std::vector<Value> all;
  for (int64_t t = 0; t < a.steps; ++t) {
    const auto shifted = [&](int64_t by) { return slice(pad(alpha, 1, by, 0, -kInf), 1, 0, a.width); };
    const Value reached =
        t == 0 ? where(place <= 1, 0, impossible) : log_sum(alpha, shifted(1), where(a.skips, shifted(2), -kInf));
    alpha = where(a.length > static_cast<double>(t), reached + at(a.scores, t), alpha);
    all.push_back(unsqueeze(alpha, 1));
  }
  const Value ends = where(a.ends, alpha, -kInf);
  const Value high = max(ends, {1}), from = where(equal(high, -kInf), 0, high);
  c.out(0, -(log(sum(exp(ends - from), {1})) + from));
  c.out(1, all.empty() ? impossible : concat(all, 1));
}

// (grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity)
void ctc_loss_backward(Call& c) {
  const Alignment a = alignment(c, 1, 7);
  const Value loss = reshape(c.arg_float(5), {a.batch, 1}), alpha = c.arg_float(6);
  Value beta = expand(c.constant_value(-kInf), a.labels.shape());
  std::vector<Value> shares(static_cast<size_t>(a.steps));
  for (int64_t t = a.steps; t-- > 0;) {
    const auto shifted = [&](Value v, int64_t by) { return slice(pad(v, 1, 0, by, -kInf), 1, by, by + a.width); };
    const Value score = at(a.scores, t);
    const Value skipped = shifted(where(a.skips, beta, -kInf), 2);
    const Value reached = log_sum(beta, shifted(beta, 1), skipped);
    const Value is_last = equal(a.length, static_cast<double>(t + 1));
    beta = where(is_last, where(a.ends, score, -kInf), reached + score);
    // How much of all alignments passes here.
    const Value before = squeeze(slice(alpha, 1, t, t + 1), 1);
    const Value open = logical_and(logical_and(before > -kInf, beta > -kInf), a.length > static_cast<double>(t));
    shares[static_cast<size_t>(t)] = unsqueeze(where(open, exp(before + beta - score + loss), 0), 1);
  }
  const Value probabilities = c.arg_float(1);
  const int64_t classes = probabilities.size(2);
  const Value is_class = equal(unsqueeze(a.labels, 2), reshape(iota(c.g, classes), {1, 1, classes}));
  const Value by_class = permute(matmul(concat(shares, 1), to_float(is_class)), {1, 0, 2});
  Value grad = (exp(probabilities) - by_class) * reshape(c.arg_float(0), {1, a.batch, 1});
  const Value none = unsqueeze(equal(loss, kInf), 0);
  grad = where(none, c.flag(8) ? 0 : std::numeric_limits<double>::quiet_NaN(), grad);
  const Value inside = unsqueeze(a.length, 0) > reshape(iota(c.g, a.steps), {a.steps, 1, 1});
  c.out(0, where(inside, grad, 0));
}

constexpr Row kRows[] = {
    {"_ctc_loss", ctc_loss},
    {"_ctc_loss_backward", ctc_loss_backward},
};

}  // namespace

std::span<const Row> ctc_rows() { return kRows; }

}  // namespace trn::torch_backend
