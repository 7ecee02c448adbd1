#pragma once
#include "backend/compiler/graph.h"

namespace trn::compiler {

// The same outputs with fewer nodes: views of inputs become strided inputs, views of results become strided outputs,
// views move up through pointwise nodes that nobody else reads, constants and values without elements are folded, equal
// nodes are one, dead nodes are gone. Folding a constant is the only arithmetic that the host does.
Graph simplify(const Graph& g);

}  // namespace trn::compiler
