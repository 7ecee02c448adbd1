#pragma once
#include "backend/compiler/graph.h"

namespace trn::compiler {

// Writes arg_reduce, take and put in simpler primitives: the first winner is the smallest index that equals the
// extreme; elements along a dim are rows of the flattened operand.
Graph decompose(const Graph& g);

}  // namespace trn::compiler
