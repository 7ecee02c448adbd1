#pragma once
#include "isa/operands.h"

namespace trn {

// Means and squared deviations in fp32, two passes; sums in the order of reduce_float (alu.h).
void run_bn_stats(const Access& dst, const Access& data, const CoreMemory& m);
void run_bn_aggr(const Access& dst, const Access& data, const CoreMemory& m);

}  // namespace trn
