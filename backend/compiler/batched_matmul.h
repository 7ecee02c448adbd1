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

// Small products, such as attention heads: one DMA brings many, those with k of 32 or 64 share the rows of the array,
// several share a PSUM bank.
bool fits_batched(const Product& p, const BatchDim& d);
void batched_matmul(TileBuilder& t, const Product& p, const BatchDim& d);

}  // namespace trn::compiler
