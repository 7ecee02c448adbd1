#include "backend/compiler/simplify.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/compiler/view.h"
#include "memory/error.h"

namespace trn::compiler {
namespace {

// `value` as an element of `d` holds it.
double rounded(double value, Dtype d) {
  if (d == Dtype::boolean) return value != 0;
  if (is_integer(d)) return value;
  std::byte bytes[8];
  float f = static_cast<float>(value);
  write_float(d, bytes, size_of(d), &f, 1);
  read_as_float(d, bytes, size_of(d), &f, 1);
  return f;
}

// Neutral element of a reduction in `d`.
double identity_of(AluOp op, Dtype d) {
  const double value = info(op).identity;
  if (is_float(d) || !std::isinf(value)) return value;
  if (d == Dtype::boolean) return value > 0;
  const bool is_signed = info(d).is_signed;
  const int bits = std::min(size_of(d), 4) * 8;
  if (value < 0) return is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  return std::ldexp(1.0, is_signed ? bits - 1 : bits) - 1;
}

struct Identity {
  AluOp op;
  double neutral;
  bool left_too;
};
// x op neutral == x for every x, NaN and -0 included.
constexpr Identity kIdentities[] = {{AluOp::multiply, 1, true}, {AluOp::divide, 1, false}, {AluOp::subtract, 0, false}};

class Simplifier {
 public:
  explicit Simplifier(const Graph& g) : in_(g), out_(g.name), to_(g.nodes.size(), -1), uses_(g.nodes.size(), 0) {
    out_.slots = g.slots;
  }

  Graph run() {
    count_uses();
    for (NodeId id = 0; id < static_cast<NodeId>(in_.nodes.size()); ++id) {
      if (in_[id].op == Op::output)
        output(in_[id]);
      else if (uses_[id]) {
        to_[id] = node(in_[id]);
        if (uses_[id] > 1) share(to_[id]);
      }
    }
    return live(out_);
  }

 private:
  void count_uses() {
    for (NodeId id = static_cast<NodeId>(in_.nodes.size()) - 1; id >= 0; --id) {
      const Node& n = in_[id];
      if (n.op != Op::output && !uses_[id]) continue;
      for (NodeId i : n.inputs) ++uses_[i];
    }
  }

  void share(NodeId id) {
    if (shared_.size() <= static_cast<size_t>(id)) shared_.resize(id + 1);
    shared_[id] = true;
  }
  bool shared(NodeId id) const { return static_cast<size_t>(id) < shared_.size() && shared_[id]; }

  NodeId fill(double value, Dtype d, const Dims& shape) {
    return out_.expand(out_.constant(rounded(value, d), d), shape);
  }

  // The value of every element of `id`, if it is one constant.
  const double* constant(NodeId id) const {
    const Node* n = &out_[id];
    while (is_view(n->op)) n = &out_[n->inputs[0]];
    return n->op == Op::constant ? &n->value : nullptr;
  }

  NodeId node(const Node& n) {
    if (n.op != Op::input && n.op != Op::constant && elements(n.shape) == 0) return fill(0, n.dtype, n.shape);
    std::vector<NodeId> at;
    for (NodeId i : n.inputs) at.push_back(to_[i]);
    if (is_view(n.op)) return view(n, at[0]);
    if (is_pointwise(n.op)) return pointwise(n, std::move(at));
    switch (n.op) {
      case Op::input: return out_.input(n.slot, n.dtype, n.shape, n.strides, n.offset);
      case Op::constant: return out_.constant(n.value, n.dtype);
      case Op::iota: return out_.iota(n.shape, n.dim);
      case Op::concat: return concat(n, at);
      case Op::roll: return out_.roll(at[0], n.dim, n.start, n.value);
      case Op::pad: return pad(n, at[0]);
      case Op::reduce: return reduce(n, at[0]);
      case Op::arg_reduce: return out_.arg_reduce(n.alu, at[0], n.dim);
      case Op::scan: return out_[at[0]].shape[n.dim] == 1 ? at[0] : out_.scan(n.alu, at[0], n.dim);
      case Op::matmul:
        if (out_[at[0]].shape.back() == 0) return fill(0, n.dtype, n.shape);
        return out_.matmul(at[0], at[1], n.dtype);
      case Op::attention:
      case Op::attention_log_sum: return out_.attention(n.op, std::move(at), n.value, n.causal);
      case Op::gather: return out_.gather(at[0], at[1]);
      case Op::scatter: return elements(out_[at[1]].shape) == 0 ? at[0] : out_.scatter(n.alu, at[0], at[1], at[2]);
      case Op::take: return out_.take(at[0], at[1], n.dim);
      case Op::put: return elements(out_[at[1]].shape) == 0 ? at[0] : out_.put(n.alu, at[0], at[1], at[2], n.dim);
      case Op::sort: return out_[at[0]].shape[n.dim] == 1 ? at[0] : out_.sort(at[0], n.dim, n.descending);
      case Op::arg_sort: return out_.arg_sort(at[0], n.dim, n.descending);
      case Op::random: return out_.random(at[0], n.shape);
      default: throw Error(Fault::internal, "node cannot be simplified", std::string(name(n.op)));
    }
  }

  // ---- pointwise ----

  NodeId rebuild(const Node& n, const std::vector<NodeId>& at) {
    switch (n.op) {
      case Op::map1: return out_.map(n.fn, at[0]);
      case Op::map2: return out_.map(n.alu, at[0], at[1]);
      case Op::select: return out_.select(at[0], at[1], at[2]);
      default: return out_.cast(at[0], n.dtype);
    }
  }

  // Operands are taken before their expand: the result is computed small and expanded after.
  NodeId pointwise(const Node& n, std::vector<NodeId> at) {
    for (NodeId& i : at)
      while (out_[i].op == Op::expand) i = out_[i].inputs[0];
    NodeId result = folded(n, at);
    if (result < 0) result = without_identity(n, at);
    if (result < 0) result = rebuild(n, at);
    return out_.expand(result, n.shape);
  }

  NodeId folded(const Node& n, const std::vector<NodeId>& at) {
    double v[3] = {};
    for (size_t i = 0; i < at.size(); ++i) {
      if (out_[at[i]].op != Op::constant) return -1;
      v[i] = out_[at[i]].value;
    }
    const Dtype from = out_[at[0]].dtype;
    const auto constant = [&](double value) { return out_.constant(rounded(value, n.dtype), n.dtype); };
    if (n.op == Op::select) return v[0] != 0 ? at[1] : at[2];
    if (n.op == Op::cast) {
      if (is_integer(n.dtype) && is_float(from)) return -1;  // saturation is the engine's business
      return constant(v[0]);
    }
    if (n.op == Op::map1) {
      const float x = static_cast<float>(v[0]);
      float y;
      apply_activation(n.fn, &y, &x, 1);
      return constant(y);
    }
    const AluRow& op = info(n.alu);
    if (is_float(from)) return constant(op.on_float(static_cast<float>(v[0]), static_cast<float>(v[1])));
    if (!op.on_int || size_of(from) < 4) return -1;
    const auto bits = [](double x) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(x))); };
    const bool is_unsigned = !info(from).is_signed;
    const int32_t result = op.on_int(bits(v[0]), bits(v[1]), is_unsigned);
    return constant(is_unsigned ? static_cast<double>(static_cast<uint32_t>(result)) : result);
  }

  NodeId without_identity(const Node& n, const std::vector<NodeId>& at) {
    if (n.op == Op::cast) return without_round_trip(n, at[0]);
    if (n.op != Op::map2) return -1;
    for (const Identity& i : kIdentities) {
      if (i.op != n.alu) continue;
      const auto is_neutral = [&](NodeId id) { return out_[id].op == Op::constant && out_[id].value == i.neutral; };
      if (is_neutral(at[1])) return at[0];
      if (i.left_too && is_neutral(at[0])) return at[1];
    }
    return -1;
  }

  // A value widened to float32 and narrowed back is itself.
  NodeId without_round_trip(const Node& n, NodeId a) {
    const Node& wide = out_[a];
    if (wide.op != Op::cast || wide.dtype != Dtype::float32) return -1;
    const NodeId original = wide.inputs[0];
    return out_[original].dtype == n.dtype && is_float(n.dtype) && size_of(n.dtype) < 4 ? original : -1;
  }

  // ---- views ----

  NodeId plain_view(const Node& n, NodeId a) {
    switch (n.op) {
      case Op::expand: return out_.expand(a, n.shape);
      case Op::permute: return out_.permute(a, n.axes);
      case Op::reshape: return out_.reshape(a, n.shape);
      case Op::slice: return out_.slice(a, n.dim, n.start, n.stop, n.step);
      default: return out_.flip(a, n.dim);
    }
  }

  NodeId view(const Node& n, NodeId a) {
    while (n.op == Op::reshape && out_[a].op == Op::reshape) a = out_[a].inputs[0];
    if (out_[a].shape == n.shape && (n.op == Op::expand || n.op == Op::reshape)) return a;
    if (constant(a)) return fill(*constant(a), n.dtype, n.shape);
    const NodeId moved = moved_up(n, a);
    return moved >= 0 ? moved : plain_view(n, a);
  }

  // `n` applied to the inputs that `a` is computed from, or -1 where that needs a copy or computes something twice.
  NodeId moved_up(const Node& n, NodeId a) {
    const Node source = out_[a];
    if (source.op == Op::input) {
      auto v = apply_view(n, view_of(source));
      return v ? out_.input(v->slot, v->dtype, v->shape, v->strides, v->offset) : -1;
    }
    if (source.op == Op::constant) return fill(source.value, n.dtype, n.shape);
    if (source.op == Op::matmul) return shared(a) ? -1 : rows_split(n, source);
    if (!is_pointwise(source.op) || n.op == Op::expand || shared(a)) return -1;
    std::vector<NodeId> at;
    for (NodeId operand : source.inputs) {
      const NodeId moved = operand_view(n, operand, source.shape);
      if (moved < 0) return -1;
      at.push_back(moved);
    }
    const NodeId result = rebuild(source, at);
    return out_[result].shape == n.shape ? result : -1;
  }

  // A reshape that only splits or joins the rows of a product of one matrix: the rows of its operand are split instead,
  // so that what follows in the new shape still follows the product.
  NodeId rows_split(const Node& n, const Node& product) {
    const NodeId a = product.inputs[0], b = product.inputs[1];
    const bool rows_only = n.op == Op::reshape && n.shape.size() >= 2 && n.shape.back() == product.shape.back() &&
                           out_[b].shape.size() == 2;
    if (!rows_only) return -1;
    Node rows{.op = Op::reshape, .dtype = out_[a].dtype, .shape = n.shape, .inputs = {a}};
    rows.shape.back() = out_[a].shape.back();
    return out_.matmul(view(rows, a), b, product.dtype);
  }

  // View `n` of a pointwise node of shape `whole`, seen from its operand, which may be broadcast.
  NodeId operand_view(const Node& n, NodeId operand, const Dims& whole) {
    if (out_[operand].op == Op::constant) return operand;
    const Dims shape = out_[operand].shape;
    Dims aligned(whole.size() - shape.size(), 1);
    aligned.insert(aligned.end(), shape.begin(), shape.end());
    Node lifted{.op = Op::reshape, .dtype = out_[operand].dtype, .shape = aligned, .inputs = {operand}};
    if (aligned != shape) operand = view(lifted, operand);
    Node local = n;
    local.dtype = lifted.dtype;
    if (n.op == Op::reshape) {
      if (aligned != whole)
        operand = view({.op = Op::expand, .dtype = lifted.dtype, .shape = whole, .inputs = {operand}}, operand);
    } else if (n.op == Op::permute) {
      for (size_t i = 0; i < aligned.size(); ++i) local.shape[i] = aligned[n.axes[i]];
    } else {
      if (aligned[n.dim] == 1 && whole[n.dim] != 1) return operand;
      local.shape = aligned;
      local.shape[n.dim] = n.shape[n.dim];
    }
    const Op op = out_[operand].op;
    if (op != Op::input && op != Op::constant && op != Op::matmul && !is_pointwise(op)) return -1;
    return moved_up(local, operand);
  }

  // ---- the rest ----

  NodeId concat(const Node& n, const std::vector<NodeId>& at) {
    std::vector<NodeId> parts;
    for (NodeId part : at)
      if (elements(out_[part].shape)) parts.push_back(part);
    if (const NodeId rolled = as_roll(parts, n.dim); rolled >= 0) return rolled;
    return out_.concat(std::move(parts), n.dim);
  }

  // `id` as another node times 1 or -1.
  std::pair<NodeId, double> signed_value(NodeId id) const {
    const auto unwrapped = [&](NodeId i) { return out_[i].op == Op::cast ? out_[i].inputs[0] : i; };
    const Node& product = out_[unwrapped(id)];
    if (product.op != Op::map2 || product.alu != AluOp::multiply) return {id, 1};
    const double* factor = constant(product.inputs[1]);
    const NodeId operand = unwrapped(product.inputs[0]);
    const Dtype d = out_[id].dtype;
    const bool exact = is_float(d) && out_[operand].dtype == d && size_of(product.dtype) >= size_of(d);
    const bool negates = factor && *factor == -1 && exact;
    return negates ? std::pair{operand, -1.0} : std::pair{id, 1.0};
  }

  // Both parts of one value, the later one first: the rotation of rotary position embeddings. Short rows only, because
  // a tile holds them whole.
  NodeId as_roll(const std::vector<NodeId>& parts, int dim) {
    constexpr int64_t kLongest = 512;
    if (parts.size() != 2) return -1;
    const auto [late, factor] = signed_value(parts[0]);
    const Node &last = out_[late], &first = out_[parts[1]];
    if (last.op != Op::slice || first.op != Op::slice || last.inputs != first.inputs) return -1;
    const int64_t size = out_[last.inputs[0]].shape[dim];
    const auto covers = [&](const Node& n, int64_t start, int64_t stop) {
      return n.dim == dim && n.step == 1 && n.start == start && n.stop == stop;
    };
    if (size > kLongest || !covers(first, 0, last.start) || !covers(last, last.start, size)) return -1;
    return out_.roll(last.inputs[0], dim, last.start, factor);
  }

  // Crops become slices, growth a concat with filled borders.
  NodeId pad(const Node& n, NodeId a) {
    const int64_t size = out_[a].shape[n.dim];
    const int64_t start = std::max<int64_t>(-n.start, 0), stop = size - std::max<int64_t>(-n.stop, 0);
    if (stop <= start) return fill(n.value, n.dtype, n.shape);
    Node crop{.op = Op::slice, .dtype = n.dtype, .shape = out_[a].shape, .inputs = {a}};
    crop.dim = n.dim;
    crop.start = start;
    crop.stop = stop;
    crop.shape[n.dim] = stop - start;
    if (stop - start != size) a = view(crop, a);
    std::vector<NodeId> parts;
    Dims border = n.shape;
    const auto fill_border = [&](int64_t count) {
      border[n.dim] = count;
      if (count > 0) parts.push_back(fill(n.value, n.dtype, border));
    };
    fill_border(n.start);
    parts.push_back(a);
    fill_border(n.stop);
    return out_.concat(std::move(parts), n.dim);
  }

  NodeId reduce(const Node& n, NodeId a) {
    if (elements(out_[a].shape) == 0) return fill(identity_of(n.alu, n.dtype), n.dtype, n.shape);
    if (out_[a].shape == n.shape) return a;
    return out_.reduce(n.alu, a, n.axes);
  }

  void output(const Node& n) {
    if (elements(n.shape) == 0) return;
    NodeId value = to_[n.inputs[0]];
    View v = view_of(n);
    while (is_view(out_[value].op)) {
      auto inner = invert_view(out_[value], v, out_[out_[value].inputs[0]].shape);
      if (!inner) break;
      v = std::move(*inner);
      value = out_[value].inputs[0];
    }
    out_.output(value, v.slot, v.strides, v.offset);
  }

  static Graph live(const Graph& g) {
    std::vector<char> used(g.nodes.size());
    for (NodeId id = static_cast<NodeId>(g.nodes.size()) - 1; id >= 0; --id) {
      used[id] |= g[id].op == Op::output;
      for (NodeId i : g[id].inputs) used[i] |= used[id];
    }
    Graph result(g.name);
    result.slots = g.slots;
    std::vector<NodeId> to(g.nodes.size());
    for (size_t id = 0; id < g.nodes.size(); ++id) {
      if (!used[id]) continue;
      to[id] = static_cast<NodeId>(result.nodes.size());
      result.nodes.push_back(g.nodes[id]);
      for (NodeId& i : result.nodes.back().inputs) i = to[i];
    }
    return result;
  }

  const Graph& in_;
  Graph out_;
  std::vector<NodeId> to_;    // node of in_ -> node of out_
  std::vector<int> uses_;     // of in_
  std::vector<char> shared_;  // nodes of out_ that several nodes read
};

}  // namespace

Graph simplify(const Graph& g) { return Simplifier(g).run(); }

}  // namespace trn::compiler
