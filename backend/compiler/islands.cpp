#include "backend/compiler/islands.h"

#include "backend/compiler/matmul_kernel.h"

namespace trn::compiler {

void island_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  switch (n.op) {
    case Op::matmul: return matmul_kernel(t, p, k);
    default: throw Error(Fault::unsupported, "no kernel for this operation", std::string(name(n.op)) + " in " + p.graph.name);
  }
}

}  // namespace trn::compiler
