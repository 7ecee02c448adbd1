#pragma once
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// `data` [P, F] (fp32 or int32) reduced over its partitions; the result stands on all 128 of them. Sums of fp32 are one
// product with ones; anything else is turned by the tensor engine, reduced along the free dim, and turned back.
Access across_partitions(TileBuilder& t, AluOp op, const Access& data);

}  // namespace trn::compiler
