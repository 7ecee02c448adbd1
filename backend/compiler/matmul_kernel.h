#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Writes a matmul node: [..., M, K] x [..., K, N], operands with any strides, fp32 accumulation in PSUM.
void matmul_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
