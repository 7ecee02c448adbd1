#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// sort and arg_sort along a dim (one kernel gives both): stable, NaN is the largest value. Short lines stand on
// partitions, 128 at a time; a long one takes all partitions.
void sort_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
