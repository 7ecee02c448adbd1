#include "backend/compiler/islands.h"

namespace trn::compiler {

void island_kernel(TileBuilder&, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  throw Error(Fault::unsupported, "no kernel for this operation", std::string(name(n.op)) + " in " + p.graph.name);
}

}  // namespace trn::compiler
