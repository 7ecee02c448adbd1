#pragma once
#include "backend/compiler/tile_builder.h"
#include "backend/compiler/transfer.h"

namespace trn::compiler {

// A view as lines along one dim: what kernels work on that go along a dim. Lines stand on partitions, their elements on
// the free axis.
class Lines {
 public:
  static constexpr int64_t kPartitions = 128;

  Lines(const View& v, int dim) : view_(v), step_(v.strides[dim]), length_(v.shape[dim]) {
    for (size_t i = 0; i < v.shape.size(); ++i) {
      if (static_cast<int>(i) == dim) continue;
      push_joined(others_, v.strides[i], v.shape[i]);
      count_ *= v.shape[i];
    }
  }
  int64_t count() const { return count_; }
  int64_t length() const { return length_; }

  // Lines [row, row + partitions), elements [at, at + n) of them, for a tile [partitions, n].
  void load(TileBuilder& t, const Access& tile, int64_t row, int64_t at) const {
    each(tile, row, at, [&](const Access& part, const Access& hbm) { t.load(part, hbm); });
  }
  void store(TileBuilder& t, const Access& tile, int64_t row, int64_t at) const {
    each(tile, row, at, [&](const Access& part, const Access& hbm) { t.store(hbm, part); });
  }
  // The first tile.elements() elements of one line, for a tile [partitions, free] that holds them partition after
  // partition.
  void load_wrapped(TileBuilder& t, const Access& tile, int64_t row) const { t.load(tile, wrapped(tile, row)); }
  void store_wrapped(TileBuilder& t, const Access& tile, int64_t row) const { t.store(wrapped(tile, row), tile); }

 private:
  Access wrapped(const Access& tile, int64_t row) const {
    const auto free = static_cast<int32_t>(tile.free_elements());
    const int64_t start = cut_rows(others_, Access::kMaxDims - 1, row, 1)[0].offset;
    const auto step = static_cast<int32_t>(step_);
    return hbm_access(view_, start, {{step * free, tile.partitions()}, {step, free}});
  }

  template <class Move>
  void each(const Access& tile, int64_t row, int64_t at, Move move) const {
    const Dim along{static_cast<int32_t>(step_), static_cast<int32_t>(tile.free_elements())};
    for (const RowBox& box : cut_rows(others_, Access::kMaxDims - 1, row, tile.partitions()))
      move(slice(tile, 0, box.at, box.count), hbm_access(view_, box.offset + at * step_, box.dims, {along}));
  }

  View view_;
  std::vector<Dim> others_;
  int64_t step_, length_, count_ = 1;
};

}  // namespace trn::compiler
