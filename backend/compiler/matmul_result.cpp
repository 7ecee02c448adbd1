#include "backend/compiler/matmul_result.h"

#include <algorithm>

namespace trn::compiler {

MatmulResult::MatmulResult(TileBuilder& t, const Plan& p, const Kernel& k, const std::vector<char>& roles)
    : t_(t), plan_(p), kernel_(k), product_(k.nodes[0]), from_psum_(false) {
  kernel_.space = p.graph[product_].shape;
  kernel_.reduced = roles;
  space_ = iteration_space(p, kernel_, true);
  batch_axes_.resize(roles.size(), -1);
  for (int i = 0; i < space_.axes(); ++i) {
    char& role = space_.reduced[i];
    if (role == kRow)
      row_axes_.push_back(i);
    else if (role == kColumn)
      column_axis_ = i;
    else
      batch_axes_[role - kBatch] = i;
    role = false;
  }
  start_.assign(space_.size.size(), 0);
  from_psum_ = reads_psum();
}

// One reader, on an engine that reaches PSUM, of an unrounded product.
bool MatmulResult::reads_psum() const {
  if (plan_.graph[product_].dtype != Dtype::float32) return false;
  int readers = 0;
  for (const Result& r : kernel_.results) readers += r.value == product_;
  if (readers) return false;
  bool reaches = true;
  for (NodeId id : kernel_.nodes) {
    const Node& n = plan_.graph[id];
    const auto reads = std::count(n.inputs.begin(), n.inputs.end(), product_);
    readers += static_cast<int>(reads);
    if (reads) reaches = n.op == Op::map1 || n.op == Op::cast || (n.op == Op::map2 && n.alu != AluOp::power);
  }
  return readers == 1 && reaches;
}

Block MatmulResult::block() const {
  Block b{start_, {}, 0, 1, {}};
  for (int axis : row_axes_) b.rows.push_back({axis, 1, space_.size[axis]});
  return b;
}

void MatmulResult::expect(Range rows, Range columns, int64_t width) {
  if (values_) return;
  Layout tiles;
  for (int64_t m = rows.first; m < rows.last; m += 128)
    for (int64_t n = columns.first; n < columns.last; n += width) {
      Block b = block();
      b.first_row = m;
      b.partitions = static_cast<int>(std::min<int64_t>(128, rows.last - m));
      if (column_axis_ >= 0) {
        b.start[column_axis_] = n;
        b.free = {{column_axis_, 1, std::min(width, columns.last - n)}};
      }
      tiles.steps.push_back({std::move(b)});
    }
  values_.emplace(t_, plan_, kernel_, space_, tiles);
}

void MatmulResult::write(const Tile& bank, int64_t m, int64_t rows, int64_t n, int64_t columns) {
  Block b = block();
  b.first_row = m;
  b.partitions = static_cast<int>(rows);
  if (column_axis_ >= 0) {
    b.start[column_axis_] = n;
    b.free = {{column_axis_, 1, columns}};
  }
  Access product = bank;
  if (!from_psum_) {
    product = t_.sbuf(static_cast<int>(rows), dtype(), {columns});
    copy_tile(t_, product, bank);
  }
  finish(b, product);
}

void MatmulResult::write_products(const Tile& tile, size_t i, int64_t first, int64_t count) {
  Block b = block();
  b.partitions = tile.access.partitions();
  b.start[batch_axes_[i]] = first;
  b.free = {{batch_axes_[i], 1, count}};
  if (column_axis_ >= 0) b.free.push_back({column_axis_, 1, space_.size[column_axis_]});
  Access product = tile;
  const int64_t flat[] = {product.free_elements()};
  product.ndim = 2;
  product.dims[1] = {1, static_cast<int32_t>(flat[0])};
  finish(b, product);
}

void MatmulResult::finish(const Block& b, const Access& product) {
  values_->begin_step();
  values_->begin_block(b);
  values_->set(product_, product);
  for (NodeId id : kernel_.nodes)
    for (size_t r = 0; r < kernel_.results.size(); ++r)
      if (kernel_.results[r].value == id) values_->store(id, space_.writes[r]);
}

}  // namespace trn::compiler
