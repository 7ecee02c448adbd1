#include "backend/compiler/small_results.h"

#include <algorithm>

namespace trn::compiler {
namespace {

// Does `id` vary along every kept dim of the kernel, and along all or none of the reduced ones?
bool is_full(const Graph& g, NodeId id, const Kernel& k) {
  const Dims& shape = g[id].shape;
  const size_t lead = k.space.size() - shape.size();
  int seen[2] = {0, 0};  // reduced dims of size 1, and others
  for (size_t i = 0; i < k.space.size(); ++i) {
    if (k.space[i] == 1) continue;
    const bool whole = i >= lead && shape[i - lead] == k.space[i];
    if (!k.reduced.empty() && k.reduced[i])
      ++seen[whole];
    else if (!whole)
      return false;
  }
  return seen[0] == 0 || seen[1] == 0;
}

Kernel alone(const Graph& g, const Kernel& k, const Result& r) {
  std::vector<char> needed(g.nodes.size());
  needed[r.value] = true;
  Kernel small;
  small.space = g[r.value].shape;
  small.results = {r};
  for (size_t i = k.nodes.size(); i-- > 0;) {
    const NodeId id = k.nodes[i];
    if (!needed[id]) continue;
    small.nodes.insert(small.nodes.begin(), id);
    for (const NodeId input : g[id].inputs) needed[input] = true;
  }
  for (const NodeId id : small.nodes) {
    if (g[id].op != Op::reduce) continue;
    small.space = k.space;
    small.reduced = k.reduced;
  }
  return small;
}

}  // namespace

void move_small_results(Plan& p) {
  std::vector<Kernel> kernels;
  for (Kernel& k : p.kernels) {
    if (k.kind == Kernel::Kind::row) {
      const auto small = std::stable_partition(k.results.begin(), k.results.end(),
                                               [&](const Result& r) { return is_full(p.graph, r.value, k); });
      for (auto r = small; r != k.results.end(); ++r) kernels.push_back(alone(p.graph, k, *r));
      k.results.erase(small, k.results.end());
    }
    if (!k.results.empty() || k.kind != Kernel::Kind::row) kernels.push_back(std::move(k));
  }
  p.kernels = std::move(kernels);
}

}  // namespace trn::compiler
