#pragma once
#include "backend/compiler/split.h"

namespace trn::compiler {

// A row kernel holds a result that is smaller than its space broadcast: such a result is computed again on its own,
// before the kernel.
void move_small_results(Plan& p);

}  // namespace trn::compiler
