#pragma once
#include "backend/compiler/split.h"

namespace trn::compiler {

// Inputs are their slots' contents before the Program runs. A result that would overwrite what its own or a later
// kernel still reads goes to scratch and is copied at the end; elementwise in-place work (one view) needs no detour.
void keep_inputs_intact(Plan& p);

}  // namespace trn::compiler
