#include "backend/compiler/matmul_kernel.h"

#include <algorithm>

#include "backend/compiler/batched_matmul.h"
#include "backend/compiler/matmul_operands.h"
#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

constexpr int64_t kMoving = 512;
constexpr int64_t kResidentBytes = 136 * 1024;  // per partition: panel of the operand that stays
constexpr int64_t kPanelBytes =
    168 * 1024;  // both panels, the passing one twice; the rest is for loads, results and kept operands of the epilogue

class Matmul {
 public:
  // `shared`: the cores divide these rows or columns, else their batches.
  Matmul(TileBuilder& t, const Product& p, bool shared)
      : t_(t),
        a_(p.a),
        b_(p.b),
        result_(*p.result),
        k_(p.a.k),
        tiles_((k_ + kTile - 1) / kTile),
        rows_{0, a_.count},
        columns_{0, b_.count} {
    if (!shared) return;
    (rows_are_shared() ? rows_ : columns_) = t.share(rows_are_shared() ? a_.count : b_.count, kTile);
  }

  void write() {
    if (rows_.count() == 0 || columns_.count() == 0) return;
    const int64_t column = tiles_ * size_of(a_.view.dtype);  // bytes per partition of one row of a panel
    const int64_t beside_wide =
        (kPanelBytes / column - 2 * kMoving) / kTile * kTile;  // leaves the passing panel its full width
    int64_t most = kResidentBytes / column / kTile * kTile;
    if (beside_wide >= kMoving) most = std::min(most, beside_wide);
    // The operand that fits whole stays, weights rather than what is computed before: they can be loaded and turned
    // meanwhile, and rows of the result are complete one after the other. Else one that must be turned, because the
    // passing one is loaded once per block of the other.
    const bool a_fits = rows_.count() <= most, b_fits = columns_.count() <= most;
    const bool weights_first = b_fits && a_.computed && !b_.computed;
    const bool a_stays = !weights_first && (a_fits || (!b_fits && (a_.turned() || !b_.turned())));
    const TileBuilder::Range stays = a_stays ? rows_ : columns_;
    if (most == 0) return streamed();
    const int64_t blocks = (stays.count() + most - 1) / most;
    const int64_t block = std::min(stays.count(), ((stays.count() + blocks - 1) / blocks + kTile - 1) / kTile * kTile);
    int64_t width = kMoving;
    while (width >= kTile && 2 * width * column + block * column > kPanelBytes) width /= 2;
    if (width < kTile) return streamed();
    result_.expect(rows_, columns_, a_stays ? width : kMoving);
    for (int64_t at = stays.first; at < stays.last; at += block) {
      const int64_t n = std::min(block, stays.last - at);
      a_stays ? with_a(at, n, width) : with_b(at, n, width);
    }
  }

 private:
  // Both cores load the side that they do not divide. Rows are divided, as the kernels around do it, unless columns
  // save transfers that would take longer than the products.
  bool rows_are_shared() const {
    if (a_.count <= kTile || b_.count <= kTile) return a_.count > kTile;
    const Spec& s = t_.spec();
    const int64_t bytes = size_of(a_.view.dtype);
    const double products = static_cast<double>(a_.count * b_.count * k_) / 2 * (bytes == 4 ? s.pe_fp32_passes : 1) /
                            (s.pe_rows * s.pe_columns * s.tensor_ghz);
    const double transfers = static_cast<double>((a_.count + 2 * b_.count) * k_ * bytes) / s.hbm_stack_bytes_per_ns;
    return b_.count <= a_.count || transfers <= products;
  }

  void with_a(int64_t m0, int64_t rows, int64_t width) {
    const Tile a = load_panel(t_, a_, m0, rows, 0, k_);
    for (int64_t n = columns_.first; n < columns_.last; n += width) {
      const int64_t columns = std::min(width, columns_.last - n);
      const Tile b = load_panel(t_, b_, n, columns, 0, k_);
      for (int64_t m = 0; m < rows; m += kTile) tile(a, m, b, 0, m0 + m, std::min(kTile, rows - m), n, columns);
    }
  }
  void with_b(int64_t n0, int64_t columns, int64_t width) {
    const Tile b = load_panel(t_, b_, n0, columns, 0, k_);
    for (int64_t m0 = rows_.first; m0 < rows_.last; m0 += width) {
      const int64_t rows = std::min(width, rows_.last - m0);
      const Tile a = load_panel(t_, a_, m0, rows, 0, k_);
      for (int64_t m = 0; m < rows; m += kTile)
        for (int64_t n = 0; n < columns; n += kMoving)
          tile(a, m, b, n, m0 + m, std::min(kTile, rows - m), n0 + n, std::min(kMoving, columns - n));
    }
  }

  // One PSUM tile: rows [m, m+rows) x columns [n, n+columns) of the result, from rows a0 and b0 of the panels.
  void tile(const Tile& a, int64_t a0, const Tile& b, int64_t b0, int64_t m, int64_t rows, int64_t n, int64_t columns) {
    const Tile bank = t_.psum(static_cast<int>(rows), Dtype::float32, {columns});
    for (int64_t kt = 0; kt < tiles_; ++kt)
      product(t_, bank, panel_tile(a, k_, kt, a0, rows), panel_tile(b, k_, kt, b0, columns), kt > 0);
    result_.write(bank, m, rows, n, columns);
  }

  // k too long for panels of it: four rows of tiles stay in PSUM while k passes.
  void streamed() {
    constexpr int64_t kRows = 4 * kTile, kStep = 16 * kTile;
    result_.expect(rows_, columns_, kMoving);
    for (int64_t m0 = rows_.first; m0 < rows_.last; m0 += kRows)
      for (int64_t n = columns_.first; n < columns_.last; n += kMoving) {
        const int64_t rows = std::min(kRows, rows_.last - m0), columns = std::min(kMoving, columns_.last - n);
        std::vector<Tile> banks;
        for (int64_t m = 0; m < rows; m += kTile)
          banks.push_back(t_.psum(static_cast<int>(std::min(kTile, rows - m)), Dtype::float32, {columns}));
        for (int64_t k0 = 0; k0 < k_; k0 += kStep) {
          const int64_t k = std::min(kStep, k_ - k0);
          const Tile a = load_panel(t_, a_, m0, rows, k0, k), b = load_panel(t_, b_, n, columns, k0, k);
          for (size_t i = 0; i < banks.size(); ++i)
            for (int64_t kt = 0; kt * kTile < k; ++kt)
              product(t_, banks[i], panel_tile(a, k, kt, static_cast<int64_t>(i) * kTile, banks[i].access.partitions()),
                      panel_tile(b, k, kt, 0, columns), k0 + kt > 0);
        }
        for (size_t i = 0; i < banks.size(); ++i) {
          const auto m = static_cast<int64_t>(i) * kTile;
          result_.write(banks[i], m0 + m, banks[i].access.partitions(), n, columns);
        }
      }
  }

  TileBuilder& t_;
  const Side &a_, &b_;
  MatmulResult& result_;
  int64_t k_, tiles_;
  TileBuilder::Range rows_, columns_;
};

// Batch dims along which B does not vary are more rows of A; the others are left to loop over.
Product product_of(const Plan& p, const Node& n, std::vector<BatchDim>& batch, std::vector<char>& roles) {
  const View &a = p.view(n.inputs[0]), &b = p.view(n.inputs[1]);
  const Dims& shape = n.shape;
  const size_t rank = shape.size();
  Dims shape_a = shape, shape_b = shape;
  shape_a[rank - 1] = a.shape.back();
  shape_b[rank - 2] = a.shape.back();
  const Dims steps_a = expanded(a, shape_a).strides, steps_b = expanded(b, shape_b).strides;
  Product r{
      {a, {}, 1, a.shape.back(), steps_a[rank - 1], 0}, {b, {}, 1, a.shape.back(), steps_b[rank - 2], 0}, nullptr};
  const auto computed = [&](const View& v) { return p.graph.slots[v.slot].use == SlotUse::scratch; };
  r.a.computed = computed(a);
  r.b.computed = computed(b);
  roles.assign(rank, MatmulResult::kRow);
  roles[rank - 1] = MatmulResult::kColumn;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (shape[i] == 1) continue;
    if (steps_b[i] == 0) {
      push_joined(r.a.rows, steps_a[i], shape[i]);
      r.a.count *= shape[i];
    } else {
      roles[i] = static_cast<char>(MatmulResult::kBatch + batch.size());
      batch.push_back({steps_a[i], steps_b[i], shape[i], batch.size()});
    }
  }
  push_joined(r.a.rows, steps_a[rank - 2], shape[rank - 2]);
  push_joined(r.b.rows, steps_b[rank - 1], shape[rank - 1]);
  r.a.count *= shape[rank - 2];
  r.b.count *= shape[rank - 1];
  return r;
}

void over_batch(TileBuilder& t, Product& p, const std::vector<BatchDim>& batch, size_t dim) {
  if (dim == batch.size()) return Matmul(t, p, batch.empty()).write();
  const BatchDim& d = batch[dim];
  if (dim + 1 == batch.size() && fits_batched(p, d)) return batched_matmul(t, p, d);
  for (int64_t i = 0; i < d.count; ++i) {
    p.result->batch(d.number, d.first + i);
    over_batch(t, p, batch, dim + 1);
    p.a.offset += d.a;
    p.b.offset += d.b;
  }
  p.a.offset -= d.a * d.count;
  p.b.offset -= d.b * d.count;
}

}  // namespace

void matmul_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  std::vector<BatchDim> batch;
  std::vector<char> roles;
  Product product = product_of(p, p.graph[k.nodes[0]], batch, roles);
  MatmulResult result(t, p, k, roles);
  product.result = &result;
  // Innermost, of the dims that are long enough to pack, the one with the shortest steps: heads that lie side by side
  // are loaded together, and the rows that the kernel before has stored first are read first.
  const auto rank = [](const BatchDim& d) {
    constexpr int64_t kPacked = 4;
    return std::pair(d.count >= kPacked, -std::max(std::abs(d.a), std::abs(d.b)));
  };
  std::stable_sort(batch.begin(), batch.end(), [&](const BatchDim& a, const BatchDim& b) { return rank(a) < rank(b); });
  if (!batch.empty()) {
    BatchDim& outer = batch.front();
    const auto mine = t.share(outer.count);
    product.a.offset += outer.a * mine.first;
    product.b.offset += outer.b * mine.first;
    outer.first = mine.first;
    outer.count = mine.count();
  }
  over_batch(t, product, batch, 0);
}

}  // namespace trn::compiler
