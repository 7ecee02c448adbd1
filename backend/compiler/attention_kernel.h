#pragma once
#include "backend/compiler/split.h"
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Writes an attention node, its attention_log_sum, or both: flash attention. The scores of 128 queries and a chunk of
// keys stand in PSUM and never reach HBM; a running maximum and sum join the chunks; keys right of the diagonal of a
// causal attention are not multiplied at all. Weights are rounded to the operands' dtype before they are divided by
// their sum, as PyTorch's flash attention does it.
void attention_kernel(TileBuilder& t, const Plan& p, const Kernel& k);

}  // namespace trn::compiler
