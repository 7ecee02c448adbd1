#include "backend/compiler/attention_operands.h"

#include <limits>

#include "backend/compiler/pointwise.h"

namespace trn::compiler {

Tile causal_triangle(TileBuilder& t, int64_t stack, int64_t queries, int64_t keys) {
  const auto partitions = static_cast<int>(stack * queries);
  const Tile zeros = t.sbuf(partitions, Dtype::float32, {keys}), triangle = t.sbuf(partitions, Dtype::float32, {keys});
  fill_tile(t, zeros, 0);
  for (int64_t i = 0; i < stack; ++i) {
    AffineSelect::Args a;
    a.dst = triangle.rows(static_cast<int>(i * queries), static_cast<int>(queries));
    a.pattern[0] = {-1, static_cast<int32_t>(keys)};
    a.channel_multiplier = 1;
    a.on_true_tile = zeros.rows(static_cast<int>(i * queries), static_cast<int>(queries));
    a.on_false_value = -std::numeric_limits<float>::infinity();
    a.cmp_op = AluOp::greater_equal;
    t.emit<AffineSelect>(Engine::gpsimd, a);
  }
  return triangle;
}

AttentionOperands::AttentionOperands(const Plan& p, const Kernel& kernel) : node(p.graph[kernel.nodes[0]]) {
  const View &of_q = p.view(node.inputs[0]), &of_k = p.view(node.inputs[1]), &of_v = p.view(node.inputs[2]);
  batch.assign(node.shape.begin(), node.shape.end() - 2);
  queries = of_q.shape[of_q.shape.size() - 2];
  keys = of_k.shape[of_k.shape.size() - 2];
  width = of_q.shape.back();
  value_width = of_v.shape.back();
  q = over_batch(of_q);
  k = over_batch(of_k);
  v = over_batch(of_v);
  if (node.inputs.size() == 4) {
    View rows = p.view(node.inputs[3]);
    Dims shape = rows.shape;
    shape[shape.size() - 2] = queries;
    shape.back() = keys;
    bias = over_batch(expanded(rows, shape));
  }
  for (const Result& r : kernel.results)
    (p.graph[r.value].op == Op::attention ? outs : sums).push_back(over_batch(r.to));
}

Dims AttentionOperands::indices(int64_t i) const {
  Dims at(batch.size());
  for (size_t d = at.size(); d-- > 0; i /= batch[d]) at[d] = i % batch[d];
  return at;
}

Matrix AttentionOperands::matrix(const View& view, const Dims& at) const {
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) offset += at[i] * view.strides[i];
  return {view, offset, view.strides[at.size()], view.strides[at.size() + 1]};
}

View AttentionOperands::over_batch(const View& view) const {
  Dims shape = batch;
  shape.insert(shape.end(), view.shape.end() - 2, view.shape.end());
  return expanded(view, shape);
}

}  // namespace trn::compiler
