#pragma once
#include "memory/access.h"

namespace trn {

// Index of the first NaN among `count` consecutive elements of a float dtype, or -1.
int64_t first_nan(Dtype d, const std::byte* elements, int64_t count);

}  // namespace trn
