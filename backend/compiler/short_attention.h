#pragma once
#include "backend/compiler/attention_operands.h"

namespace trn::compiler {

// Attention of fewer queries and keys than a tile has rows: many heads stand side by side. Their scores share PSUM
// banks, two or four of 64 or 32 queries share its partitions, and one instruction does each step of the softmax for
// all of them.
bool fits_short_attention(const AttentionOperands& o);
void short_attention(TileBuilder& t, const AttentionOperands& o);

}  // namespace trn::compiler
