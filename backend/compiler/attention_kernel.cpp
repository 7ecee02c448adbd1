#include "backend/compiler/attention_kernel.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "backend/compiler/attention_operands.h"
#include "backend/compiler/pointwise.h"
#include "backend/compiler/short_attention.h"

namespace trn::compiler {
namespace {

constexpr int64_t kMoving = 512;           // fp32 elements of a PSUM bank
constexpr int64_t kChunk = 2 * kMoving;    // keys whose scores stand in PSUM at once: two of its eight banks
constexpr int64_t kQueries = 8 * kTile;    // of one head, turned together
constexpr int64_t kStayBytes = 96 * 1024;  // per partition: keys and values that stay while all their queries pass

class AttentionKernel {
 public:
  AttentionKernel(TileBuilder& t, const AttentionOperands& o)
      : t_(t),
        o_(o),
        stay_(size_of(o.q.dtype) * (o.keys * tiles(o.width) + tiles(o.keys) * o.value_width) <= kStayBytes) {}

  void write() {
    if (o_.node.causal) triangle_ = causal_triangle(t_, 1, kTile, kTile);
    const auto mine = t_.share(elements(o_.batch));
    for (int64_t i = mine.first; i < mine.last; ++i) head(o_.indices(i));
  }

 private:
  static int64_t tiles(int64_t n) { return (n + kTile - 1) / kTile; }

  Tile column(int64_t rows) { return t_.sbuf(static_cast<int>(rows), Dtype::float32, {1}); }

  // One number per partition: for GpSimd, which has nothing else to do here.
  void columns(AluOp op, const Access& dst, const Access& a, const Access& b) {
    TensorTensor::Args args;
    args.dst = dst;
    args.data1 = a;
    args.data2 = b;
    args.op = op;
    t_.emit<TensorTensor>(Engine::gpsimd, args);
  }
  Access combined(AluOp op, const Access& a, const Access& b) {
    const Tile result = column(a.partitions());
    columns(op, result, a, b);
    return result;
  }
  Access constant(double value, int64_t rows) {
    const auto [known, is_new] = constants_.try_emplace(value);
    if (is_new) fill_tile(t_, known->second = column(kTile), value);
    return slice(known->second, 0, 0, rows);
  }

  // Keys [first, first+count) as [width, keys] and their values as [keys, value width].
  struct Panels {
    Tile k, v;
    int64_t first = 0, count = 0;
  };
  Panels panels(int64_t first, int64_t count) {
    return {load_panel(t_, k_here_->by_row(o_.keys, o_.width), first, count, 0, o_.width),
            load_panel(t_, v_here_->by_column(o_.value_width, o_.keys), 0, o_.value_width, first, count), first, count};
  }

  void head(const Dims& at) {
    const Matrix k = o_.matrix(o_.k, at), v = o_.matrix(o_.v, at), q = o_.matrix(o_.q, at);
    const bool other = !k_here_ || k.offset != k_here_->offset || v.offset != v_here_->offset;
    k_here_.emplace(k);
    v_here_.emplace(v);
    if (stay_ && other) panels_ = panels(0, o_.keys);
    for (int64_t q0 = 0; q0 < o_.queries; q0 += kQueries) {
      const int64_t n = std::min(kQueries, o_.queries - q0);
      const Tile panel = load_panel(t_, q.by_row(o_.queries, o_.width), q0, n, 0, o_.width);
      const Results out(*this, n);
      for (int64_t r = 0; r < n; r += kTile) {
        const int64_t rows = std::min(kTile, n - r);
        Rows state{q0 + r, rows, {}, {}, {}, {}};
        const int64_t seen = o_.node.causal ? std::min(o_.keys, q0 + r + rows) : o_.keys;
        for (int64_t key = 0; key < seen; key += kChunk)
          chunk(at, state, panel, r, key, std::min(kChunk, seen - key), seen <= kChunk);
        finish(state, out, r / kTile);
      }
      for (const View& to : o_.outs) store(*out.quotients, o_.matrix(to, at), q0, n);
      for (const View& to : o_.sums) store(*out.sums, o_.matrix(to, at), q0, n);
    }
  }

  // What is known of 128 queries after some chunks: the largest score negated, and times the scale; the sum of the
  // weights, and the weighted sum of the values.
  struct Rows {
    int64_t first, count;
    Access lowest, negated, total, sum;
  };

  void chunk(const Dims& at, Rows& r, const Tile& q, int64_t q_at, int64_t key, int64_t n, bool only) {
    const Panels here = stay_ ? panels_ : panels(key, n);
    const Access scores = score(r, q, q_at, here, key, n);
    const auto [weighed, scale] = o_.bias ? biased(at, r, scores, key, n) : std::pair{scores, o_.node.value};
    TensorReduce::Args reduce;
    reduce.dst = column(r.count);
    reduce.op = AluOp::maximum;
    reduce.data = weighed;
    reduce.negate = true;
    t_.emit<TensorReduce>(Engine::vector, reduce);
    Access lowest = reduce.dst;
    if (r.lowest.present()) lowest = combined(AluOp::minimum, lowest, r.lowest);
    // A row that sees nothing has -inf: a finite maximum keeps its weights 0.
    if (o_.bias) lowest = combined(AluOp::minimum, lowest, constant(std::numeric_limits<float>::max(), r.count));
    const Access negated = scale == 1 ? lowest : combined(AluOp::multiply, lowest, constant(scale, r.count));

    const Tile weights = t_.sbuf(static_cast<int>(r.count), q.access.dtype, {n});
    const Tile total = column(r.count);
    ActivationReduce::Args exp;
    exp.dst = weights;
    exp.op = Activation::exp;
    exp.data = weighed;
    exp.reduce_res = total;
    exp.bias = {.tile = negated, .immediate = 0};
    exp.scale = {.tile = {}, .immediate = static_cast<float>(scale)};
    t_.emit<ActivationReduce>(Engine::scalar, exp);
    join(r, negated, lowest, total, values(r, weights, here, key, n), only);
  }

  Access score(const Rows& r, const Tile& q, int64_t q_at, const Panels& here, int64_t key, int64_t n) {
    const Tile banks = t_.psum(static_cast<int>(r.count), Dtype::float32, {n});
    for (int64_t c = 0; c < n; c += kMoving) {
      const int64_t columns = std::min(kMoving, n - c);
      for (int64_t kt = 0; kt < tiles(o_.width); ++kt)
        product(t_, slice(banks, 1, c, columns), panel_tile(q, o_.width, kt, q_at, r.count),
                panel_tile(here.k, o_.width, kt, key - here.first + c, columns), kt > 0);
    }
    if (o_.node.causal && key + n > r.first) {  // queries and keys of the diagonal's block begin together
      const int64_t from = std::max(key, r.first);
      const Access behind = slice(banks, 1, from - key, key + n - from);
      tensor_step(t_, behind, behind, {}, AluOp::add,
                  slice(slice(*triangle_, 0, 0, r.count), 1, from - r.first, key + n - from), false);
    }
    return banks;
  }

  // score * scale + bias, in SBUF; what is left to multiply with.
  std::pair<Access, double> biased(const Dims& at, const Rows& r, const Access& scores, int64_t key, int64_t n) {
    const Tile bias = t_.sbuf(static_cast<int>(r.count), Dtype::float32, {n});
    t_.load(bias, o_.matrix(*o_.bias, at).block(r.first, r.count, key, n));
    const Tile sum = t_.sbuf(static_cast<int>(r.count), Dtype::float32, {n});
    tensor_step(t_, sum, scores, {AluOp::multiply, {{}, o_.node.value}, false}, AluOp::add, bias, false);
    return {sum, 1};
  }

  // weights [queries, keys] times values, in PSUM.
  Access values(const Rows& r, const Tile& weights, const Panels& here, int64_t key, int64_t n) {
    const Tile turned = t_.sbuf(static_cast<int>(std::min(n, kTile)), weights.access.dtype, {tiles(n), r.count});
    turn_columns(t_, turned, weights, kTile);
    const Tile bank = t_.psum(static_cast<int>(r.count), Dtype::float32, {o_.value_width});
    for (int64_t c = 0; c < o_.value_width; c += kMoving) {
      const int64_t columns = std::min(kMoving, o_.value_width - c);
      for (int64_t kt = 0; kt < tiles(n); ++kt)
        product(t_, slice(bank, 1, c, columns), panel_tile(turned, n, kt, 0, r.count),
                slice(panel_tile(here.v, here.count, (key - here.first) / kTile + kt, c, columns), 0, 0,
                      std::min(kTile, n - kt * kTile)),
                kt > 0);
    }
    return bank;
  }

  void join(Rows& r, const Access& negated, const Access& lowest, const Access& total, const Access& sum, bool only) {
    if (!r.total.present()) {
      r.total = total;
      r.sum = sum;
      if (!only) copy_tile(t_, r.sum = t_.sbuf(static_cast<int>(r.count), Dtype::float32, {o_.value_width}), sum);
    } else {
      const Tile shrunk = column(r.count), change = column(r.count);  // exp(old maximum - new one)
      tensor_step(t_, change, negated, {}, AluOp::subtract, r.negated, false);
      Activate::Args exp;
      exp.dst = shrunk;
      exp.op = Activation::exp;
      exp.data = change;
      t_.emit<Activate>(Engine::scalar, exp);
      const ScalarTerm shrink{AluOp::multiply, {shrunk, 0}, false};
      const Tile all = column(r.count), together = t_.sbuf(static_cast<int>(r.count), Dtype::float32, {o_.value_width});
      tensor_step(t_, all, r.total, shrink, AluOp::add, total, false);
      tensor_step(t_, together, r.sum, shrink, AluOp::add, sum, false);
      r.total = all;
      r.sum = together;
    }
    r.negated = negated;
    r.lowest = lowest;
  }

  // Of several rows of tiles, [128, rows of tiles, columns], so that a few transfers store them all.
  struct Results {
    std::optional<Tile> quotients, sums;
    Results(AttentionKernel& k, int64_t queries) {
      const auto partitions = static_cast<int>(std::min(queries, kTile));
      if (!k.o_.outs.empty())
        quotients = k.t_.sbuf(partitions, storage(k.o_.outs[0].dtype), {tiles(queries), k.o_.value_width});
      if (!k.o_.sums.empty()) sums = k.t_.sbuf(partitions, Dtype::float32, {tiles(queries), 1});
    }
  };

  void finish(const Rows& r, const Results& out, int64_t tile) {
    const auto place = [&](const Tile& all) { return slice(slice(all, 0, 0, r.count), 1, tile, 1); };
    if (out.quotients) {
      Access divisor = r.total;
      if (o_.bias) {  // 0 / 1 for what sees nothing
        divisor = column(r.count);
        tensor_step(t_, divisor, r.total, {AluOp::equal, {{}, 0}, false}, AluOp::add, r.total, false);
      }
      scalar_steps(t_, place(*out.quotients), r.sum, {AluOp::divide, {divisor, 0}, false});
    }
    if (out.sums) {
      const Tile logarithm = column(r.count);
      Activate::Args log;
      log.dst = logarithm;
      log.op = Activation::log;
      log.data = r.total;
      t_.emit<Activate>(Engine::scalar, log);
      columns(AluOp::subtract, place(*out.sums), logarithm, r.negated);
    }
  }

  void store(const Tile& rows, const Matrix& to, int64_t first, int64_t count) {
    const int64_t full = count / kTile, rest = count % kTile, columns = rows.access.dims[2].count;
    const auto step = static_cast<int32_t>(to.row_step);
    if (full)
      t_.store(hbm_access(to.view, to.offset + first * to.row_step,
                          {{step, kTile}, {static_cast<int32_t>(step * kTile), static_cast<int32_t>(full)}},
                          {{static_cast<int32_t>(to.column_step), static_cast<int32_t>(columns)}}),
               slice(rows, 1, 0, full));
    if (rest) t_.store(to.block(first + full * kTile, rest, 0, columns), slice(slice(rows, 1, full, 1), 0, 0, rest));
  }

  TileBuilder& t_;
  const AttentionOperands& o_;
  bool stay_;
  std::optional<Tile> triangle_;
  std::optional<Matrix> k_here_, v_here_;
  Panels panels_;
  std::map<double, Tile> constants_;
};

}  // namespace

void attention_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const AttentionOperands o(p, k);
  fits_short_attention(o) ? short_attention(t, o) : AttentionKernel(t, o).write();
}

}  // namespace trn::compiler
