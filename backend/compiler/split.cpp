#include "backend/compiler/split.h"

#include <algorithm>

#include "backend/compiler/overwrites.h"
#include "backend/compiler/small_results.h"

namespace trn::compiler {
namespace {

constexpr int kNone = -1;

bool broadcast_into(Dims& into, const Dims& other) {
  if (other.size() > into.size()) into.insert(into.begin(), other.size() - into.size(), 1);
  for (size_t i = 1; i <= other.size(); ++i) {
    int64_t& a = into[into.size() - i];
    const int64_t b = other[other.size() - i];
    if (a == 1)
      a = b;
    else if (b != 1 && a != b)
      return false;
  }
  return true;
}

class Splitter {
 public:
  explicit Splitter(Graph g) : plan_{std::move(g), {}, {}}, nodes_(plan_.graph.nodes) {
    plan_.where.resize(nodes_.size());
    home_.resize(nodes_.size());
    kernel_.assign(nodes_.size(), kNone);
    ready_.assign(nodes_.size(), kNone);
    uses_.assign(nodes_.size(), 0);
    reductions_.assign(nodes_.size(), 0);
  }

  Plan run() {
    choose_homes();
    for (NodeId id = 0; id < count(); ++id) place(id);
    move_small_results(plan_);
    keep_inputs_intact(plan_);
    return std::move(plan_);
  }

 private:
  NodeId count() const { return static_cast<NodeId>(nodes_.size()); }
  bool is_member(Op op) const { return is_pointwise(op) || op == Op::reduce || op == Op::roll; }
  bool in_row(NodeId id) const { return kernel_[id] != kNone && plan_.kernels[kernel_[id]].kind == Kernel::Kind::row; }

  View scratch(Dtype d, const Dims& shape) {
    d = storage(d);
    return contiguous_view(add_scratch(plan_.graph, d, shape, elements(shape) * size_of(d)), d, shape);
  }

  // ---- where a value that an output or a concat reads is best written at once ----

  void choose_homes() {
    for (const Node& n : nodes_)
      for (NodeId i : n.inputs) {
        ++uses_[i];
        reductions_[i] += n.op == Op::reduce;
      }
    for (NodeId id = count() - 1; id >= 0; --id) {
      const Node& n = nodes_[id];
      if (n.op == Op::output) {
        const NodeId value = n.inputs[0];
        const Op op = nodes_[value].op;
        const bool computed = op != Op::input && !is_view(op) && !is_fill(plan_.graph, value);
        if (computed && !home_[value] && (op != Op::concat || !is_input_slot(n.slot))) home_[value] = view_of(n);
      } else if (n.op == Op::concat) {
        if (!home_[id]) home_[id] = scratch(n.dtype, n.shape);
        for_each_part(n, *home_[id], [&](NodeId part, const View& to) {
          const Op op = nodes_[part].op;
          if (uses_[part] == 1 && op != Op::input && !is_view(op) && !is_fill(plan_.graph, part)) home_[part] = to;
        });
      } else if (n.op == Op::reshape) {
        spare_copy(id);
      }
    }
  }

  // What is only read permuted, then reshaped (heads put side by side), is written in the order in which both are
  // views.
  void spare_copy(NodeId reshape) {
    std::vector<NodeId> views;
    NodeId base = nodes_[reshape].inputs[0];
    for (; invertible(nodes_[base].op) && uses_[base] == 1; base = nodes_[base].inputs[0]) views.push_back(base);
    const Op op = nodes_[base].op;
    if (views.empty() || uses_[base] != 1 || home_[base] || op == Op::input || op == Op::concat || is_view(op) ||
        is_fill(plan_.graph, base))
      return;
    std::optional<View> plain = contiguous_view(0, nodes_[base].dtype, nodes_[base].shape);
    for (auto v = views.rbegin(); v != views.rend() && plain; ++v) plain = apply_view(nodes_[*v], *plain);
    if (plain && apply_view(nodes_[reshape], *plain)) return;
    std::optional<View> home = contiguous_view(0, nodes_[base].dtype, nodes_[views.front()].shape);
    for (NodeId v : views)
      if (home) home = invert_view(nodes_[v], *home, nodes_[nodes_[v].inputs[0]].shape);
    if (!home) return;
    const View memory = scratch(home->dtype, home->shape);
    home->slot = memory.slot;
    home->dtype = memory.dtype;
    home_[base] = home;
  }
  static bool invertible(Op op) { return op == Op::permute || op == Op::reshape || op == Op::flip; }

  bool is_input_slot(uint32_t slot) const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](const Node& n) { return n.op == Op::input && n.slot == slot; });
  }

  template <class Visit>
  void for_each_part(const Node& concat, const View& whole, Visit visit) {
    int64_t at = 0;
    for (NodeId part : concat.inputs) {
      const int64_t size = nodes_[part].shape[concat.dim];
      visit(part, sliced(whole, concat.dim, at, size));
      at += size;
    }
  }

  // ---- placing nodes into kernels ----

  void place(NodeId id) {
    const Node& n = nodes_[id];
    if (n.op == Op::input)
      plan_.where[id] = view_of(n);
    else if (n.op == Op::output)
      write(n.inputs[0], view_of(n));
    else if (n.op == Op::concat)
      place_concat(id);
    else if (is_free(id) && !home_[id])
      return;  // who reads it makes it
    else if (is_member(n.op))
      place_member(id);
    else if (n.op == Op::expand)
      place_expand(id);
    else if (!is_view(n.op) && !is_fill(plan_.graph, id))
      place_island(id);
  }

  int add(Kernel k) {
    plan_.kernels.push_back(std::move(k));
    return static_cast<int>(plan_.kernels.size()) - 1;
  }
  static Kernel row(std::vector<NodeId> nodes, Dims space) {
    Kernel k;
    k.nodes = std::move(nodes);
    k.space = std::move(space);
    return k;
  }

  // Makes `id` readable from HBM after kernel ready_[id].
  const View& available(NodeId id) {
    if (plan_.where[id]) return *plan_.where[id];
    const Node& n = nodes_[id];
    settle(id);
    if (kernel_[id] == kNone && is_fill(plan_.graph, id)) {
      kernel_[id] = add(row({}, n.shape));
    } else if (kernel_[id] == kNone) {  // a view
      const View operand = available(n.inputs[0]);
      ready_[id] = ready_[n.inputs[0]];
      plan_.where[id] = apply_view(n, operand);
      if (!plan_.where[id]) {  // strides cannot say it: after one copy they can
        const View dense = scratch(n.dtype, operand.shape);
        ready_[id] = add(copy_of(n.inputs[0], operand, dense));
        plan_.where[id] = apply_view(n, dense);
      }
      return *plan_.where[id];
    }
    plan_.where[id] = home_[id] ? *home_[id] : scratch(n.dtype, n.shape);
    plan_.kernels[kernel_[id]].results.push_back({id, *plan_.where[id]});
    ready_[id] = kernel_[id];
    return *plan_.where[id];
  }

  bool joins(const Node& n, const Kernel& k, Dims& space) const {
    if (k.kind != Kernel::Kind::row) return false;
    space = k.space;
    const Dims& shape = n.op == Op::reduce ? nodes_[n.inputs[0]].shape : n.shape;
    if (!broadcast_into(space, shape)) return false;
    if (n.op == Op::roll && !k.reduced.empty()) return false;
    if (n.op == Op::reduce && rolls(k)) return false;
    if (!k.reduced.empty()) return space == k.space && (n.op != Op::reduce || reduced_dims(n, space) == k.reduced);
    return n.op != Op::reduce || space == shape;
  }
  bool rolls(const Kernel& k) const {
    return std::any_of(k.nodes.begin(), k.nodes.end(), [&](NodeId id) { return nodes_[id].op == Op::roll; });
  }
  static std::vector<char> reduced_dims(const Node& n, const Dims& space) {
    std::vector<char> reduced(space.size());
    for (int64_t axis : n.axes) reduced[space.size() - n.shape.size() + static_cast<size_t>(axis)] = true;
    return reduced;
  }

  // Instructions read narrow floating-point operands as they are: a cast that widens costs nothing. It has no kernel of
  // its own, each reader's makes it again from the narrow value, which is also the smaller one to keep.
  bool is_free(NodeId id) const {
    const Node& n = nodes_[id];
    if (n.op != Op::cast) return false;
    const Dtype from = storage(nodes_[n.inputs[0]].dtype), to = storage(n.dtype);
    return is_float(from) && is_float(to) && size_of(from) < size_of(to);
  }
  NodeId narrow(NodeId id) const {
    while (is_free(id) && kernel_[id] == kNone) id = nodes_[id].inputs[0];
    return id;
  }
  // Gives a free cast a kernel after all, because memory shall hold it.
  void settle(NodeId id) {
    if (is_free(id) && kernel_[id] == kNone) place_member(id);
  }
  void need(NodeId id, int kernel) {
    if (kernel_[id] == kernel || is_fill(plan_.graph, id)) return;
    if (!is_free(id) || kernel_[id] != kNone) return void(available(id));
    if (contains(plan_.kernels[kernel], id)) return;
    need(nodes_[id].inputs[0], kernel);
    plan_.kernels[kernel].nodes.push_back(id);
  }

  // A member joins the kernel of an operand, else the newest one with the same space, else starts one.
  void place_member(NodeId id) {
    const Node& n = nodes_[id];
    if (const int product = follows_product(id); product != kNone) return join(id, product);
    int first = 0, operands = kNone;  // from `first` on every operand outside can be read
    for (NodeId i : n.inputs) {
      i = narrow(i);
      if (is_fill(plan_.graph, i)) continue;
      if (in_row(i))
        operands = std::max(operands, kernel_[i]);
      else {
        available(i);
        first = std::max(first, ready_[i] + 1);
      }
    }
    const int newest = static_cast<int>(plan_.kernels.size()) - 1;
    Dims space;
    int chosen = kNone;
    if (operands >= first && joins(n, plan_.kernels[operands], space))
      chosen = operands;
    else if (n.op != Op::reduce && newest >= std::max(first, operands + 1) && joins(n, plan_.kernels[newest], space) &&
             space == n.shape)
      chosen = newest;
    if (chosen == kNone) {
      space = n.op == Op::reduce ? nodes_[n.inputs[0]].shape : n.shape;
      chosen = add(row({}, space));
    }
    plan_.kernels[chosen].space = space;
    if (n.op == Op::reduce) plan_.kernels[chosen].reduced = reduced_dims(n, space);
    join(id, chosen);
  }

  bool in_product(NodeId id) const {
    return kernel_[id] != kNone && plan_.kernels[kernel_[id]].kind == Kernel::Kind::island &&
           nodes_[plan_.kernels[kernel_[id]].nodes[0]].op == Op::matmul;
  }
  // The matmul kernel that can compute pointwise node `id` on its way out: the node has the product's shape, and every
  // other operand is in HBM before.
  int follows_product(NodeId id) const {
    const Node& n = nodes_[id];
    if (!is_pointwise(n.op) || (uses_[id] > 0 && reductions_[id] == uses_[id])) return kNone;  // else sums read memory
    int product = kNone;
    for (NodeId i : n.inputs)
      if (in_product(narrow(i))) product = std::max(product, kernel_[narrow(i)]);
    if (product == kNone || nodes_[plan_.kernels[product].nodes[0]].shape != n.shape) return kNone;
    for (NodeId i : n.inputs)
      if (i = narrow(i); kernel_[i] != product && !is_fill(plan_.graph, i) && !readable_before(i, product))
        return kNone;
    return product;
  }
  bool readable_before(NodeId id, int kernel) const {
    if (nodes_[id].op == Op::input) return true;
    if (plan_.where[id]) return ready_[id] < kernel;
    if (kernel_[id] != kNone) return kernel_[id] < kernel;
    return is_view(nodes_[id].op) && nodes_[id].op != Op::reshape && readable_before(nodes_[id].inputs[0], kernel);
  }

  void join(NodeId id, int kernel) {
    for (NodeId i : nodes_[id].inputs) need(i, kernel);
    plan_.kernels[kernel].nodes.push_back(id);
    kernel_[id] = kernel;
    if (home_[id]) available(id);
  }

  // Inside a row kernel an expand is only another way to look at its operand.
  void place_expand(NodeId id) {
    const NodeId a = nodes_[id].inputs[0];
    settle(a);
    Dims space;
    if (!in_row(a) || is_fill(plan_.graph, a) || !joins(nodes_[id], plan_.kernels[kernel_[a]], space)) return;
    plan_.kernels[kernel_[a]].space = space;
    join(id, kernel_[a]);
  }

  void place_island(NodeId id) {
    for (NodeId i : nodes_[id].inputs) available(i);
    if (const int twin = other_half(id); twin != kNone) {
      plan_.kernels[twin].nodes.push_back(id);
      kernel_[id] = twin;
      available(id);
      return;
    }
    Kernel k;
    k.kind = Kernel::Kind::island;
    k.nodes = {id};
    kernel_[id] = add(std::move(k));
    if (nodes_[id].op != Op::matmul || home_[id])
      available(id);  // a product may be needed only by what its kernel does next
  }

  // One kernel gives both values and indices, or both an attention's result and its sums.
  int other_half(NodeId id) const {
    const Node& n = nodes_[id];
    const auto twin_of = [](Op op) {
      switch (op) {
        case Op::sort: return Op::arg_sort;
        case Op::arg_sort: return Op::sort;
        case Op::attention: return Op::attention_log_sum;
        case Op::attention_log_sum: return Op::attention;
        default: return Op::input;
      }
    };
    const Op twin = twin_of(n.op);
    if (twin == Op::input) return kNone;
    for (NodeId i = 0; i < id; ++i) {
      const Node& o = nodes_[i];
      if (o.op == twin && o.inputs == n.inputs && o.dim == n.dim && o.descending == n.descending &&
          o.value == n.value && o.causal == n.causal)
        return kernel_[i];
    }
    return kNone;
  }

  void place_concat(NodeId id) {
    for_each_part(nodes_[id], *home_[id], [&](NodeId part, const View& to) {
      write(part, to);
      ready_[id] = std::max({ready_[id], ready_[part], kernel_[part], static_cast<int>(plan_.kernels.size()) - 1});
    });
    plan_.where[id] = home_[id];
  }

  void write(NodeId value, const View& to) {
    if (plan_.where[value] && *plan_.where[value] == to) return;
    settle(value);
    if (in_row(value) || in_product(value)) {
      plan_.kernels[kernel_[value]].results.push_back({value, to});
    } else if (is_fill(plan_.graph, value)) {
      Kernel k = row({}, to.shape);
      k.results = {{value, to}};
      add(std::move(k));
    } else {
      const View from = available(value);
      add(copy_of(value, from, to));
    }
  }

  Plan plan_;
  const std::vector<Node>& nodes_;
  std::vector<std::optional<View>> home_;  // where a computed value goes if it must be in HBM anyway
  std::vector<int> kernel_;                // that computes a node
  std::vector<int> ready_;                 // after which a node can be read from HBM
  std::vector<int> uses_, reductions_;     // by how many nodes, and reductions, a node is read
};

std::string text(const View& v) {
  std::string s = "slot " + std::to_string(v.slot) + " +" + std::to_string(v.offset) + " [";
  for (size_t i = 0; i < v.shape.size(); ++i)
    s += (i ? ", " : "") + std::to_string(v.shape[i]) + "@" + std::to_string(v.strides[i]);
  return s + "]";
}

}  // namespace

bool is_fill(const Graph& g, NodeId id) {
  while (g[id].op == Op::expand) id = g[id].inputs[0];
  return g[id].op == Op::constant || g[id].op == Op::iota;
}

uint32_t add_scratch(Graph& g, Dtype d, const Dims& shape, int64_t bytes) {
  const auto before =
      std::count_if(g.slots.begin(), g.slots.end(), [](const Slot& s) { return s.use == SlotUse::scratch; });
  return g.slot({.name = "scratch" + std::to_string(before),
                 .use = SlotUse::scratch,
                 .dtype = d,
                 .bytes = bytes,
                 .constant_offset = 0,
                 .shape = shape});
}

Kernel copy_of(NodeId value, const View& from, const View& to) {
  Kernel k;
  k.kind = Kernel::Kind::copy;
  k.results = {{value, to}};
  k.from = from;
  return k;
}

bool contains(const Kernel& k, NodeId id) { return std::find(k.nodes.begin(), k.nodes.end(), id) != k.nodes.end(); }

Plan split(Graph simplified) { return Splitter(std::move(simplified)).run(); }

std::string listing(const Plan& p) {
  constexpr std::string_view kinds[] = {"row", "copy", "island"};
  std::string out = listing(p.graph);
  for (size_t i = 0; i < p.kernels.size(); ++i) {
    const Kernel& k = p.kernels[i];
    out += "kernel " + std::to_string(i) + " " + std::string(kinds[static_cast<size_t>(k.kind)]);
    for (NodeId id : k.nodes) out += " %" + std::to_string(id);
    if (k.kind == Kernel::Kind::copy) out += " from " + text(k.from);
    out += "\n";
    for (const Result& r : k.results) out += "  %" + std::to_string(r.value) + " -> " + text(r.to) + "\n";
  }
  return out;
}

}  // namespace trn::compiler
