#pragma once
#include <optional>

#include "backend/compiler/matmul_operands.h"
#include "backend/compiler/split.h"

namespace trn::compiler {

// One matrix of a batch of them.
struct Matrix {
  const View& view;
  int64_t offset;  // elements behind the view's start
  int64_t row_step, column_step;

  // As [rows, k] for a product, k along the columns or along the rows.
  Side by_row(int64_t rows, int64_t k) const { return side(row_step, rows, column_step, k); }
  Side by_column(int64_t columns, int64_t k) const { return side(column_step, columns, row_step, k); }
  Access block(int64_t row, int64_t rows, int64_t column, int64_t columns) const {
    return hbm_access(view, offset + row * row_step + column * column_step,
                      {{static_cast<int32_t>(row_step), static_cast<int32_t>(rows)}},
                      {{static_cast<int32_t>(column_step), static_cast<int32_t>(columns)}});
  }

 private:
  Side side(int64_t step, int64_t count, int64_t k_step, int64_t k) const {
    return {view, {{static_cast<int32_t>(step), static_cast<int32_t>(count)}}, count, k, k_step, offset};
  }
};

// What a causal attention adds to its scores: 0 up to the diagonal, -inf behind it, [stack * queries, keys], the same
// for each of `stack` heads below one another.
Tile causal_triangle(TileBuilder& t, int64_t stack, int64_t queries, int64_t keys);

// An attention kernel's operands and results, all over the same batch dims.
struct AttentionOperands {
  AttentionOperands(const Plan& p, const Kernel& k);

  const Node& node;
  Dims batch;
  int64_t queries, keys, width, value_width;
  View q, k, v;
  std::optional<View> bias;
  std::vector<View> outs, sums;  // where attention and attention_log_sum go

  Dims indices(int64_t i) const;  // of the i-th matrix of the batch
  Matrix matrix(const View& v, const Dims& at) const;

 private:
  View over_batch(const View& v) const;
};

}  // namespace trn::compiler
