#pragma once
#include <optional>

#include "backend/compiler/row_values.h"

namespace trn::compiler {

// Where a matmul kernel's tiles go: through the pointwise nodes that follow the product, while it is still in PSUM, to
// the kernel's results.
class MatmulResult {
 public:
  static constexpr char kRow = 0, kColumn = 1, kBatch = 2;  // role of a dim of the result; batch dim i has kBatch + i

  MatmulResult(TileBuilder& t, const Plan& p, const Kernel& k, const std::vector<char>& roles);

  // What will be written, in which tiles: before the first write.
  using Range = TileBuilder::Range;
  void expect(Range rows, Range columns, int64_t columns_per_tile);
  // Index in batch dim `i` of what comes next.
  void batch(size_t i, int64_t index) { start_[batch_axes_[i]] = index; }

  // Rows [m, m+rows) x columns [n, n+columns) stand in PSUM.
  void write(const Tile& bank, int64_t m, int64_t rows, int64_t n, int64_t columns);
  // All rows and columns of `count` products from `first` of batch dim `i` stand in `tile` [rows, count, columns].
  void write_products(const Tile& tile, size_t i, int64_t first, int64_t count);
  Dtype dtype() const { return storage(plan_.graph[product_].dtype); }

 private:
  Block block() const;
  void finish(const Block& b, const Access& product);
  bool reads_psum() const;

  TileBuilder& t_;
  const Plan& plan_;
  Kernel kernel_;
  NodeId product_;
  Iteration space_;
  std::vector<int> row_axes_, batch_axes_;
  int column_axis_ = -1;  // -1: one column
  Dims start_;
  bool from_psum_;
  std::optional<RowValues> values_;
};

}  // namespace trn::compiler
