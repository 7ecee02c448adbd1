#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// gather and scatter: rows of a table in HBM by index, 128 rows to an indirect DMA (one index per partition). Equal
// indices take effect in index order.
void gather_kernel(TileBuilder& t, const Plan& p, const Kernel& k);
void scatter_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
