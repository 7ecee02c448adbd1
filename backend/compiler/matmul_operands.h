#pragma once
#include "backend/compiler/tile_builder.h"
#include "backend/compiler/transfer.h"

namespace trn::compiler {

// One side of a product as [rows, k] in HBM: rows are A's or B^T's, of any dims.
struct Side {
  View view;
  std::vector<Dim> rows;
  int64_t count = 1;  // rows
  int64_t k = 1, k_step = 1;
  int64_t offset = 0;     // elements, of the batch
  bool computed = false;  // by this Program, so not there when it starts

  // Rows are contiguous along k: loaded as they stand and turned by the tensor engine. Else k goes straight to the
  // partitions.
  bool turned() const;
};

constexpr int64_t kTile = 128;

// Rows [first, first+rows) of `s`, k [k0, k0+k) on partitions: [128, ceil(k/128), rows].
Tile load_panel(TileBuilder& t, const Side& s, int64_t first, int64_t rows, int64_t k0, int64_t k);

// k tile `kt` of a panel of `k` in all, rows [first, first+n).
Access panel_tile(const Tile& panel, int64_t k, int64_t kt, int64_t first, int64_t n);

// dst [m, n] (=, or += what stands there) stationary [k, m]^T moving [k, n], in PSUM.
void product(TileBuilder& t, const Access& dst, const Access& stationary, const Access& moving, bool accumulate);

// Turns `data` [r, n*c] as n blocks of [r, c]: dst[:, i, :] of [c, n, r]. Blocks share PSUM banks, so that one copy
// empties several.
void turn_blocks(TileBuilder& t, const Access& dst, const Access& data, int64_t blocks);
// The same for `data` of any width in blocks of c columns: the ragged last one gets the first partitions of its block.
void turn_columns(TileBuilder& t, const Access& dst, const Access& data, int64_t c);

}  // namespace trn::compiler
