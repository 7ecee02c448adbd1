#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Running operator along one dim: rows on partitions, the dim on the free axis in chunks that hand their last value on.
// Floats by tensor_tensor_scan; integers by doubling steps, because the scan computes in fp32.
void scan_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
