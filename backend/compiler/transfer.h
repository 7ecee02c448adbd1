#pragma once
#include "backend/compiler/iteration.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// One rectangular part of a range of rows in HBM: rows [at, at+count) of the range walk `dims` (element steps) from
// `offset` elements.
struct RowBox {
  int64_t at, count;
  int64_t offset;
  std::vector<Dim> dims;
};
// Appends a loop; one that continues the last one regularly makes it longer. Counts of 1 are left out.
void push_joined(std::vector<Dim>& dims, int64_t step, int64_t count);
// Indices [first, first+count) of the row-major space `dims` as boxes of at most `most_dims` dims.
std::vector<RowBox> cut_rows(const std::vector<Dim>& dims, size_t most_dims, int64_t first, int64_t count);
// Partitions of `b` as boxes of at most `most_dims` dims for a tensor with `steps` along the axes. Neighbouring walks
// that the tensor steps regularly are one.
std::vector<RowBox> row_boxes(const Block& b, const Dims& steps, size_t most_dims);

// Free walks of `b` named in `mask` as HBM dims of a tensor, joined where regular.
std::vector<Dim> free_dims(const Block& b, const Dims& steps, uint32_t mask);

// An operand in HBM `element` elements behind the view's start.
Access hbm_access(const View& v, int64_t element, const std::vector<Dim>& outer, const std::vector<Dim>& inner = {});

// Elements of `s` from the slot's start to the first element of `b`.
int64_t start_of(const Block& b, const Source& s);

// One DMA (or as few as the dims allow) between `tile`, whose free dims are the walks in `mask`, and HBM.
void load(TileBuilder& t, const Block& b, const Source& s, uint32_t mask, const Access& tile);
void store(TileBuilder& t, const Block& b, const Source& s, uint32_t mask, const Access& tile);

// HBM to HBM, with cast where dtypes differ; any number of dims.
void copy_view(TileBuilder& t, const View& to, const View& from);

}  // namespace trn::compiler
