#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Writes a node that is a kernel of its own: reads its operands' views, stores to the kernel's results.
void island_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
