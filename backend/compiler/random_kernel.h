#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). The operand is {seed low, seed
// high, offset low, offset high}; element i is word i % 4 of the block with key (seed) and counter (offset low, offset
// high, i / 4, 0), as cuRAND's subsequence i / 4 at that offset.
void random_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
