#pragma once
#include "backend/compiler/matmul_operands.h"

namespace trn::compiler {

// C = A B^T on strides: what both matmul kernels work on.
struct Product {
  Side a, b;
  View c;
  std::vector<Dim> c_rows, c_columns;
  int64_t c_offset = 0;  // elements, of the batch
};

// A batch dim that both operands have: element steps and size.
struct BatchDim {
  int64_t a, b, c, count;
};

// Small products, such as attention heads: one DMA brings many, those with k of 32 or 64 share the rows of the array, several share a PSUM bank.
bool fits_batched(const Product& p, const BatchDim& d);
void batched_matmul(TileBuilder& t, const Product& p, const BatchDim& d);

}  // namespace trn::compiler
