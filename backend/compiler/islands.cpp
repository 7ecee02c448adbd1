#include "backend/compiler/islands.h"

#include "backend/compiler/attention_kernel.h"
#include "backend/compiler/matmul_kernel.h"
#include "backend/compiler/random_kernel.h"
#include "backend/compiler/row_gather.h"
#include "backend/compiler/scan_kernel.h"
#include "backend/compiler/sort_kernel.h"

namespace trn::compiler {

void island_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  switch (n.op) {
    case Op::matmul: return matmul_kernel(t, p, k);
    case Op::attention:
    case Op::attention_log_sum: return attention_kernel(t, p, k);
    case Op::gather: return gather_kernel(t, p, k);
    case Op::scatter: return scatter_kernel(t, p, k);
    case Op::scan: return scan_kernel(t, p, k);
    case Op::sort:
    case Op::arg_sort: return sort_kernel(t, p, k);
    case Op::random: return random_kernel(t, p, k);
    default:
      throw Error(Fault::unsupported, "no kernel for this operation", std::string(name(n.op)) + " in " + p.graph.name);
  }
}

}  // namespace trn::compiler
