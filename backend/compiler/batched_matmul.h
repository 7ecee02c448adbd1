#pragma once
#include "backend/compiler/matmul_operands.h"
#include "backend/compiler/matmul_result.h"

namespace trn::compiler {

// A B^T on strides: what both matmul kernels work on.
struct Product {
  Side a, b;
  MatmulResult* result;
};

// A batch dim of both operands: element steps, size, its number for the result; indices from `first` on.
struct BatchDim {
  int64_t a, b, count;
  size_t number;
  int64_t first = 0;
};

// How many products' k stand on the partitions together. Parts must start where an engine can address them.
constexpr int64_t packed(int64_t k) { return k == 32 || k == 64 ? kTile / k : 1; }
// `count` products' sides from `first`, `step` elements apart: [pack * k, ceil(count / pack), rows], product i at
// partitions (i % pack) * k; and the part of such a tile that is product `i`'s.
Tile load_group(TileBuilder& t, const Side& s, int64_t step, int64_t first, int64_t count);
Access group_member(const Tile& group, int64_t k, int64_t count, int64_t i);

// Small products, such as attention heads: one DMA brings many, those with k of 32 or 64 share the rows of the array,
// several share a PSUM bank.
bool fits_batched(const Product& p, const BatchDim& d);
void batched_matmul(TileBuilder& t, const Product& p, const BatchDim& d);

}  // namespace trn::compiler
