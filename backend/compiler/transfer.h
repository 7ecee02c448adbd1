#pragma once
#include "backend/compiler/iteration.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// One rectangular part of a block's partitions in HBM: partitions [at, at+count) walk `dims` (element steps) from `offset` elements.
struct RowBox {
  int at, count;
  int64_t offset;
  std::vector<Dim> dims;
};
// Partitions of `b` as boxes of at most `most_dims` dims for a tensor with `steps` along the axes. Neighbouring walks that the tensor steps regularly are one.
std::vector<RowBox> row_boxes(const Block& b, const Dims& steps, size_t most_dims);

// Free walks of `b` named in `mask` as HBM dims of a tensor, joined where regular.
std::vector<Dim> free_dims(const Block& b, const Dims& steps, uint32_t mask);

// Elements of `s` from the slot's start to the first element of `b`.
int64_t start_of(const Block& b, const Source& s);

// One DMA (or as few as the dims allow) between `tile`, whose free dims are the walks in `mask`, and HBM.
void load(TileBuilder& t, const Block& b, const Source& s, uint32_t mask, const Access& tile);
void store(TileBuilder& t, const Block& b, const Source& s, uint32_t mask, const Access& tile);

// HBM to HBM, with cast where dtypes differ; any number of dims.
void copy_view(TileBuilder& t, const View& to, const View& from);

}  // namespace trn::compiler
