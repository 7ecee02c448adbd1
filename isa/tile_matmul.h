#pragma once
#include "isa/matmul_kernel.h"

namespace trn {

// bfloat16 products on CPUs with tile units (Intel AMX), several times the vector units' rate. Sums are fp32 like
// matmul()'s but pair by pair, starting from dst when accumulating, with subnormals as zero: the last bits differ from
// CPUs without tiles. They do not depend on threads.

// True where the CPU has tiles, the system lets this process use them, and a trial product came out right. Decided
// once.
bool has_tiles();

// matmul() for bfloat16 operands with consecutive columns. Requires has_tiles().
void tile_matmul(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst,
                 ptrdiff_t dst_step, bool accumulate);

// The same with the tile unit's instructions carried out one by one: what tests run where there is none.
void tile_matmul_emulated(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst,
                          ptrdiff_t dst_step, bool accumulate);

}  // namespace trn
