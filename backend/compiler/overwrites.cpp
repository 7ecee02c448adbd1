#include "backend/compiler/overwrites.h"

#include <algorithm>

namespace trn::compiler {
namespace {

bool overlap(const View& a, const View& b) {
  const ByteRange x = byte_range(a), y = byte_range(b);
  return a.slot == b.slot && x.begin < y.end && y.begin < x.end;
}

class Overwrites {
 public:
  explicit Overwrites(Plan& p) : plan_(p), is_member_(p.graph.nodes.size()) {
    for (const Kernel& k : p.kernels) {
      for (const NodeId id : k.nodes) is_member_[id] = true;
      for (const Result& r : k.results)
        if (k.kind != Kernel::Kind::copy) is_member_[r.value] = true;
    }
  }

  void detour_all() {
    std::vector<View> inputs;
    for (const Node& n : plan_.graph.nodes)
      if (n.op == Op::input) inputs.push_back(view_of(n));
    std::vector<Kernel> last;
    for (size_t k = 0; k < plan_.kernels.size(); ++k)
      for (Result& r : plan_.kernels[k].results) {
        const auto aliased = [&](const View& in) { return overlap(in, r.to); };
        if (std::any_of(inputs.begin(), inputs.end(), aliased) && !may_overwrite(k, r)) last.push_back(detour(r));
      }
    for (Kernel& k : last) plan_.kernels.push_back(std::move(k));
  }

 private:
  bool may_overwrite(size_t k, const Result& r) const {
    for (size_t j = k; j < plan_.kernels.size(); ++j) {
      const Kernel& kernel = plan_.kernels[j];
      const bool elementwise = j == k && kernel.kind == Kernel::Kind::row;  // a product's operands are read whole
      const auto spoils = [&](NodeId from, const View& in) {
        if (!overlap(in, r.to) || (elementwise && in == r.to)) return false;
        return !(plan_.where[r.value] == r.to && origin(from) == r.value);
      };
      if (kernel.kind == Kernel::Kind::copy && spoils(kernel.results[0].value, kernel.from)) return false;
      for (const NodeId id : kernel.nodes)
        for (const NodeId i : plan_.graph[id].inputs)
          if (plan_.where[i] && !contains(kernel, i) && spoils(i, *plan_.where[i])) return false;
    }
    return true;
  }

  // The node whose memory view node `id` looks at.
  NodeId origin(NodeId id) const {
    while (is_view(plan_.graph[id].op) && !is_member_[id]) id = plan_.graph[id].inputs[0];
    return id;
  }

  // Stores into a scratch of the same strides, so that every view of it stays possible; returns the final copy.
  Kernel detour(Result& r) {
    const View direct = r.to;
    const ByteRange range = byte_range(direct);
    r.to.slot = add_scratch(plan_.graph, direct.dtype, direct.shape, range.end - range.begin);
    r.to.offset -= range.begin;
    const auto moved = [&](View& v) {
      if (v.slot != direct.slot) return;
      v.slot = r.to.slot;
      v.offset -= range.begin;
    };
    if (plan_.where[r.value] == direct) {
      for (size_t id = static_cast<size_t>(r.value); id < plan_.where.size(); ++id)
        if (plan_.where[id] && origin(static_cast<NodeId>(id)) == r.value) moved(*plan_.where[id]);
      for (Kernel& k : plan_.kernels)
        if (k.kind == Kernel::Kind::copy && origin(k.results[0].value) == r.value) moved(k.from);
    }
    return copy_of(r.value, r.to, direct);
  }

  Plan& plan_;
  std::vector<char> is_member_;  // by node: some kernel computes it
};

}  // namespace

void keep_inputs_intact(Plan& p) { Overwrites(p).detour_all(); }

}  // namespace trn::compiler
