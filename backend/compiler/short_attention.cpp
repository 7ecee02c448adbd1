#include "backend/compiler/short_attention.h"

#include <algorithm>
#include <limits>

#include "backend/compiler/batched_matmul.h"
#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

constexpr int64_t kBank = 512;  // fp32 elements

int32_t narrow(int64_t n) { return static_cast<int32_t>(n); }

// [partitions, n] read as [partitions, n, count], each element `count` times.
Access repeated(const Access& a, int64_t count) { return broadcast(a, a.ndim, count); }

class ShortAttention {
 public:
  ShortAttention(TileBuilder& t, const AttentionOperands& o) : t_(t), o_(o) {
    for (size_t i = 0; i < o.batch.size(); ++i)
      if (o.batch[i] > 1) dim_ = i;
    heads_ = o.batch.empty() ? 1 : o.batch[dim_];
  }

  void write() {
    const int64_t stack = packed(o_.queries), most = stack * (kBank / std::max(o_.keys, o_.value_width)),
                  groups = (heads_ + most - 1) / most, outer = elements(o_.batch) / heads_;
    if (o_.node.causal) triangle_ = causal_triangle(t_, stack, o_.queries, o_.keys);
    const auto mine = t_.share(outer * groups);
    for (int64_t i = mine.first; i < mine.last; ++i) {
      const Dims at = o_.indices(i / groups * heads_);
      const int64_t first = i % groups * most, count = std::min(most, heads_ - first), even = count / stack * stack;
      if (even) group(at, first, even, stack);
      if (even < count) group(at, first + even, count - even, 1);
    }
  }

 private:
  // Heads [first, first + count) of the batch's innermost dim: head i stands at partitions (i % stack) * queries, in
  // column i / stack of [partitions, stacks, ...] tiles.
  struct Group {
    const Dims& at;
    int64_t first, count, stack, stacks, partitions;
  };

  void group(const Dims& at, int64_t first, int64_t count, int64_t stack) {
    const Group g{at, first, count, stack, count / stack, stack * o_.queries};
    const auto [scores, scale] = weighed(g, products(g));
    Access lowest = reduced(g, AluOp::maximum, scores, true);
    // A row that sees nothing has -inf: a finite maximum keeps its weights 0.
    if (o_.bias) {
      const Access finite = column(g);
      scalar_steps(t_, finite, lowest, {AluOp::minimum, {{}, std::numeric_limits<float>::max()}, false});
      lowest = finite;
    }
    const Access weights = exponentials(g, scores, lowest, scale);
    const Access total = reduced(g, AluOp::add, weights, false);
    if (!o_.outs.empty()) quotients(g, values(g, weights), total);
    if (!o_.sums.empty()) log_sums(g, total, lowest, scale);
  }

  Tile tile(const Group& g, Dtype d, int64_t columns) { return t_.sbuf(narrow(g.partitions), d, {g.stacks, columns}); }
  Access column(const Group& g) { return t_.sbuf(narrow(g.partitions), Dtype::float32, {g.stacks}); }
  int64_t head_step(const View& v) const { return o_.batch.empty() ? 0 : v.strides[dim_]; }
  // The rows and the column of `all` that are head `i`'s.
  Access place(const Access& all, const Group& g, int64_t i) const {
    return slice(slice(all, 0, i % g.stack * o_.queries, o_.queries), 1, i / g.stack, 1);
  }

  Access products(const Group& g) {
    const auto panel = [&](const View& v, int64_t rows) {
      return load_group(t_, o_.matrix(v, g.at).by_row(rows, o_.width), head_step(v), g.first, g.count);
    };
    const Tile q = panel(o_.q, o_.queries), k = panel(o_.k, o_.keys);
    const Tile bank = t_.psum(narrow(g.partitions), Dtype::float32, {g.stacks, o_.keys});
    for (int64_t i = 0; i < g.count; ++i)
      product(t_, place(bank, g, i), group_member(q, o_.width, g.count, i), group_member(k, o_.width, g.count, i),
              false);
    return bank;
  }

  // What the exponentials are taken of, and with what it is to be multiplied before.
  std::pair<Access, double> weighed(const Group& g, Access scores) {
    double scale = o_.node.value;
    const auto add = [&](const Access& other) {
      const Tile sum = tile(g, Dtype::float32, o_.keys);
      tensor_step(t_, sum, scores, {AluOp::multiply, {{}, scale}, false}, AluOp::add, other, false);
      scores = sum;
      scale = 1;
    };
    if (o_.bias) add(bias(g));
    if (o_.node.causal) add(broadcast(slice(*triangle_, 0, 0, g.partitions), 1, g.stacks));
    return {scores, scale};
  }

  // One that all heads share is there once per row of heads.
  Access bias(const Group& g) {
    const View& v = *o_.bias;
    const Matrix m = o_.matrix(v, g.at);
    const int64_t step = head_step(v), columns = step == 0 ? 1 : g.stacks;
    const Tile all = t_.sbuf(narrow(g.partitions), Dtype::float32, {columns, o_.keys});
    for (int64_t j = 0; j < g.stack; ++j)
      t_.load(slice(all, 0, j * o_.queries, o_.queries), hbm_access(v, m.offset + (g.first + j) * step,
                                                                    {{narrow(m.row_step), narrow(o_.queries)},
                                                                     {narrow(step * g.stack), narrow(columns)},
                                                                     {narrow(m.column_step), narrow(o_.keys)}}));
    Access a = all;
    if (step == 0) a.dims[1] = {0, narrow(g.stacks)};
    return a;
  }

  Access reduced(const Group& g, AluOp op, const Access& data, bool negate) {
    TensorReduce::Args a;
    a.dst = column(g);
    a.op = op;
    a.data = data;
    a.negate = negate;
    t_.emit<TensorReduce>(Engine::vector, a);
    return a.dst;
  }

  // exp((scores + lowest) * scale), lowest being the largest score negated.
  Access exponentials(const Group& g, const Access& scores, const Access& lowest, double scale) {
    const Tile shifted = tile(g, Dtype::float32, o_.keys), weights = tile(g, Dtype::float32, o_.keys);
    tensor_step(t_, shifted, scores, {}, AluOp::add, repeated(lowest, o_.keys), false);
    Activate::Args exp;
    exp.dst = weights;
    exp.op = Activation::exp;
    exp.data = shifted;
    exp.scale = {.tile = {}, .immediate = static_cast<float>(scale)};
    t_.emit<Activate>(Engine::scalar, exp);
    return weights;
  }

  // Weights times values, [partitions, stacks, value width] in PSUM. Keys of 32 or 64 share the partitions, as many
  // stacks as fit.
  Access values(const Group& g, Access weights) {
    const Dtype d = o_.v.dtype;
    if (weights.dtype != d) {
      const Tile rounded = tile(g, d, o_.keys);
      copy_tile(t_, rounded, weights);
      weights = rounded;
    }
    const int64_t keys = o_.keys, pack = std::min(packed(keys), g.stacks), packs = (g.stacks + pack - 1) / pack;
    const Tile turned = t_.sbuf(narrow(pack * keys), d, {packs, g.partitions});
    Access flat = weights;
    flat.ndim = 2;
    flat.dims[1] = {1, narrow(g.stacks * keys)};
    turn_columns(t_, turned, flat, pack * keys);

    const Tile v = load_values(g, pack, packs),
               bank = t_.psum(narrow(g.partitions), Dtype::float32, {g.stacks, o_.value_width});
    for (int64_t i = 0; i < g.count; ++i) {
      const int64_t s = i / g.stack, j = i % g.stack;
      const auto rows = [&](const Tile& all) { return slice(slice(all, 0, s % pack * keys, keys), 1, s / pack, 1); };
      product(t_, place(bank, g, i), slice(rows(turned), 2, j * o_.queries, o_.queries), slice(rows(v), 2, j, 1),
              false);
    }
    return bank;
  }

  Tile load_values(const Group& g, int64_t pack, int64_t packs) {
    const Matrix m = o_.matrix(o_.v, g.at);
    const int64_t step = head_step(o_.v), keys = o_.keys;
    const Tile v = t_.sbuf(narrow(pack * keys), o_.v.dtype, {packs, g.stack, o_.value_width});
    for (int64_t r = 0; r < pack; ++r) {
      const int64_t here = (g.stacks - r + pack - 1) / pack;
      t_.load(slice(slice(v, 0, r * keys, keys), 1, 0, here),
              hbm_access(o_.v, m.offset + (g.first + r * g.stack) * step,
                         {{narrow(m.row_step), narrow(keys)},
                          {narrow(step * g.stack * pack), narrow(here)},
                          {narrow(step), narrow(g.stack)},
                          {narrow(m.column_step), narrow(o_.value_width)}}));
    }
    return v;
  }

  void quotients(const Group& g, const Access& sums, const Access& total) {
    Access divisor = total;
    if (o_.bias) {  // 0 / 1 for what sees nothing
      divisor = column(g);
      tensor_step(t_, divisor, total, {AluOp::equal, {{}, 0}, false}, AluOp::add, total, false);
    }
    const Tile result = tile(g, storage(o_.outs[0].dtype), o_.value_width);
    tensor_step(t_, result, sums, {}, AluOp::divide, repeated(divisor, o_.value_width), false);
    for (const View& to : o_.outs) store(g, to, result, o_.value_width);
  }

  void log_sums(const Group& g, const Access& total, const Access& lowest, double scale) {
    const Access logarithm = column(g);
    Activate::Args log;
    log.dst = logarithm;
    log.op = Activation::log;
    log.data = total;
    t_.emit<Activate>(Engine::scalar, log);
    const Tile result = tile(g, Dtype::float32, 1);
    tensor_step(t_, slice(result, 2, 0, 1), lowest, {AluOp::multiply, {{}, -scale}, false}, AluOp::add, logarithm,
                false);
    for (const View& to : o_.sums) store(g, to, result, 1);
  }

  void store(const Group& g, const View& to, const Tile& rows, int64_t columns) {
    const Matrix m = o_.matrix(to, g.at);
    const int64_t step = head_step(to);
    for (int64_t j = 0; j < g.stack; ++j)
      t_.store(hbm_access(to, m.offset + (g.first + j) * step,
                          {{narrow(m.row_step), narrow(o_.queries)},
                           {narrow(step * g.stack), narrow(g.stacks)},
                           {narrow(m.column_step), narrow(columns)}}),
               slice(rows, 0, j * o_.queries, o_.queries));
  }

  TileBuilder& t_;
  const AttentionOperands& o_;
  size_t dim_ = 0;  // of the batch: heads
  int64_t heads_ = 1;
  std::optional<Tile> triangle_;
};

}  // namespace

bool fits_short_attention(const AttentionOperands& o) {
  return o.queries < kTile && o.keys <= kTile && o.width <= kTile && o.value_width <= kBank;
}

void short_attention(TileBuilder& t, const AttentionOperands& o) { ShortAttention(t, o).write(); }

}  // namespace trn::compiler
