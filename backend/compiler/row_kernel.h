#pragma once
#include "backend/compiler/iteration.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Writes a row kernel: pointwise nodes and reductions over one set of axes, intermediates in SBUF, every operand loaded
// once where it fits.
void row_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
