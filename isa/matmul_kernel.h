#pragma once
#include <cstddef>
#include <cstdint>

#include "memory/dtype.h"

namespace trn {

// One operand of a product: `rows` x `columns` elements, rows `row_step` and columns `column_step` bytes apart.
struct MatrixView {
  const std::byte* data = nullptr;
  ptrdiff_t row_step = 0, column_step = 0;
  Dtype dtype = Dtype::float32;
};

// dst[m][n] (+)= sum over k of a[k][m] * b[k][n], in fp32: inputs are widened, then one fused multiply-add per k in
// rising order from zero; with `accumulate` that sum is added to dst. So the bits of an element depend neither on the
// number of threads nor on blocking. (bfloat16 on a CPU with tile units: see tile_matmul.h.) dst rows are contiguous
// fp32, `dst_step` bytes apart.
void matmul(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst, ptrdiff_t dst_step,
            bool accumulate);

}  // namespace trn
