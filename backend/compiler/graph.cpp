#include "backend/compiler/graph.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <numeric>

#include "memory/error.h"

namespace trn::compiler {
namespace {

std::string text(const Dims& d) {
  std::string s = "[";
  for (size_t i = 0; i < d.size(); ++i) s += (i ? ", " : "") + std::to_string(d[i]);
  return s + "]";
}

std::string text(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string text(const Node& n) { return std::string(name(n.dtype)) + text(n.shape); }

int64_t elements(const Dims& d) { return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>()); }

// numpy's rule: right-aligned dims are equal or one of them is 1.
bool broadcast(Dims& into, const Dims& other) {
  if (other.size() > into.size()) into.insert(into.begin(), other.size() - into.size(), 1);
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& a = into[into.size() - 1 - i];
    const int64_t b = other[other.size() - 1 - i];
    if (a != b && a != 1 && b != 1) return false;
    if (a == 1) a = b;
  }
  return true;
}

bool same_except(const Dims& a, const Dims& b, int dim) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (static_cast<int>(i) != dim && a[i] != b[i]) return false;
  return true;
}

size_t hash(const Node& n) {
  size_t h = 0;
  for_each_word(n, [&h](int64_t word) { h = (h ^ static_cast<size_t>(word)) * 0x9E3779B97F4A7C15ull + (h >> 29); });
  return h;
}

bool same(const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs != b.inputs || a.shape != b.shape) return false;
  const auto words = [](const Node& n) {
    std::vector<int64_t> all;
    for_each_word(n, [&](int64_t word) { all.push_back(word); });
    return all;
  };
  return words(a) == words(b);
}

}  // namespace

std::string_view name(Op op) {
  constexpr std::string_view names[] = {
      "input",  "constant", "iota",       "map1",  "map2",   "select",    "cast",
      "expand", "permute",  "reshape",    "slice", "flip",   "concat",    "roll",
      "pad",    "reduce",   "arg_reduce", "scan",  "matmul", "attention", "attention_log_sum",
      "gather", "scatter",  "take",       "put",   "sort",   "arg_sort",  "random",
      "output"};
  static_assert(std::size(names) == static_cast<size_t>(Op::output) + 1);
  return names[static_cast<size_t>(op)];
}

// Throws unless `legal`: the broken rule, then the operation with its operands' shapes.
void Graph::require(bool legal, std::string_view rule, const Node& n) const {
  if (legal) return;
  std::string context(compiler::name(n.op));
  if (n.op == Op::map2 || n.op == Op::reduce || n.op == Op::scan) context += " " + std::string(trn::name(n.alu));
  if (n.op == Op::map1) context += " " + std::string(trn::name(n.fn));
  for (size_t i = 0; i < n.inputs.size(); ++i) context += (i ? ", " : " of ") + text(nodes[n.inputs[i]]);
  if (!n.axes.empty()) context += ", axes " + text(n.axes);
  if (n.op == Op::slice || n.op == Op::pad)
    context += ", dim " + std::to_string(n.dim) + ", " + std::to_string(n.start) + ":" + std::to_string(n.stop);
  if (!n.shape.empty()) context += " -> " + text(n);
  throw Error(Fault::illegal, std::string(rule), context + " in " + name);
}

void Graph::require_dim(const Node& n) const {
  require(n.dim >= 0 && n.dim < static_cast<int>(nodes[n.inputs[0]].shape.size()), "dim is out of range", n);
}

NodeId Graph::add(Node n) {
  for (NodeId i : n.inputs)
    require(i >= 0 && i < static_cast<NodeId>(nodes.size()), "operand is not a node of this graph", {.op = n.op});
  const auto [first, last] = known_.equal_range(hash(n));
  for (auto i = first; i != last; ++i)
    if (same(nodes[i->second], n)) return i->second;
  const auto id = static_cast<NodeId>(nodes.size());
  known_.emplace(hash(n), id);
  nodes.push_back(std::move(n));
  return id;
}

void Graph::require_inside(const Node& n) const {
  require(n.slot < slots.size(), "slot does not exist", n);
  require(n.strides.size() == n.shape.size(), "one stride per dim", n);
  require(std::all_of(n.shape.begin(), n.shape.end(), [](int64_t d) { return d >= 0; }), "negative size", n);
  if (elements(n.shape) == 0) return;
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < n.shape.size(); ++i) {
    const int64_t reach = (n.shape[i] - 1) * n.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const int64_t size = size_of(n.dtype);
  require(n.offset + low * size >= 0 && n.offset + (high + 1) * size <= slots[n.slot].bytes,
          "view reaches outside its slot " + slots[n.slot].name, n);
}

uint32_t Graph::slot(Slot s) {
  slots.push_back(std::move(s));
  return static_cast<uint32_t>(slots.size() - 1);
}

NodeId Graph::input(uint32_t slot, Dtype dtype, Dims shape, Dims strides, int64_t offset) {
  Node n{.op = Op::input, .dtype = dtype, .shape = std::move(shape)};
  n.slot = slot;
  n.strides = std::move(strides);
  n.offset = offset;
  require_inside(n);
  return add(std::move(n));
}

NodeId Graph::constant(double value, Dtype dtype) {
  Node n{.op = Op::constant, .dtype = dtype};
  n.value = value;
  return add(std::move(n));
}

NodeId Graph::iota(Dims shape, int dim) {
  Node n{.op = Op::iota, .dtype = Dtype::int32, .shape = std::move(shape)};
  n.dim = dim;
  require(dim >= 0 && dim < static_cast<int>(n.shape.size()), "dim is out of range", n);
  return add(std::move(n));
}

NodeId Graph::map(Activation fn, NodeId a) {
  Node n{.op = Op::map1, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a}};
  n.fn = fn;
  require(is_float(n.dtype), "activation functions work on floating operands; cast first", n);
  return add(std::move(n));
}

NodeId Graph::map(AluOp op, NodeId a, NodeId b) {
  Node n{.op = Op::map2, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a, b}};
  n.alu = op;
  require(at(a).dtype == at(b).dtype, "operands have different dtypes; cast first", n);
  require(!info(op).is_bitvec || !is_float(n.dtype), "bitvec operators work on integers", n);
  if (yields_boolean(op)) n.dtype = Dtype::boolean;
  require(op != AluOp::bypass && (info(op).arity == 2 || a == b), "operator takes another number of operands", n);
  require(broadcast(n.shape, at(b).shape), "shapes do not broadcast", n);
  return add(std::move(n));
}

NodeId Graph::map(AluOp op, NodeId a) {
  require(info(op).arity == 1, "operator takes two operands", {.op = Op::map2, .inputs = {a}, .alu = op});
  return map(op, a, a);
}

NodeId Graph::select(NodeId predicate, NodeId on_true, NodeId on_false) {
  Node n{.op = Op::select,
         .dtype = at(on_true).dtype,
         .shape = at(predicate).shape,
         .inputs = {predicate, on_true, on_false}};
  require(at(predicate).dtype == Dtype::boolean, "predicate is not boolean", n);
  require(at(on_true).dtype == at(on_false).dtype, "operands have different dtypes; cast first", n);
  require(broadcast(n.shape, at(on_true).shape) && broadcast(n.shape, at(on_false).shape), "shapes do not broadcast",
          n);
  return add(std::move(n));
}

NodeId Graph::cast(NodeId a, Dtype dtype) {
  if (at(a).dtype == dtype) return a;
  return add({.op = Op::cast, .dtype = dtype, .shape = at(a).shape, .inputs = {a}});
}

NodeId Graph::expand(NodeId a, Dims shape) {
  if (at(a).shape == shape) return a;
  Node n{.op = Op::expand, .dtype = at(a).dtype, .shape = std::move(shape), .inputs = {a}};
  Dims joined = n.shape;
  require(broadcast(joined, at(a).shape) && joined == n.shape, "operand does not broadcast to this shape", n);
  return add(std::move(n));
}

NodeId Graph::permute(NodeId a, Dims axes) {
  Node n{.op = Op::permute, .dtype = at(a).dtype, .inputs = {a}};
  n.axes = std::move(axes);
  const Dims& from = at(a).shape;
  Dims sorted = n.axes, identity(from.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(identity.begin(), identity.end(), 0);
  require(sorted == identity, "axes are not a permutation of the operand's dims", n);
  if (n.axes == identity) return a;
  for (int64_t axis : n.axes) n.shape.push_back(from[axis]);
  return add(std::move(n));
}

NodeId Graph::reshape(NodeId a, Dims shape) {
  if (at(a).shape == shape) return a;
  Node n{.op = Op::reshape, .dtype = at(a).dtype, .shape = std::move(shape), .inputs = {a}};
  require(elements(n.shape) == elements(at(a).shape), "element counts differ", n);
  return add(std::move(n));
}

NodeId Graph::slice(NodeId a, int dim, int64_t start, int64_t stop, int64_t step) {
  Node n{.op = Op::slice, .dtype = at(a).dtype, .inputs = {a}};
  n.start = start;
  n.stop = stop;
  n.step = step;
  n.dim = dim;
  require_dim(n);
  require(step >= 1 && start >= 0 && start <= stop && stop <= at(a).shape[dim],
          "need 0 <= start <= stop <= size and step >= 1", n);
  n.shape = at(a).shape;
  n.shape[dim] = (stop - start + step - 1) / step;
  if (n.shape == at(a).shape && step == 1) return a;
  return add(std::move(n));
}

NodeId Graph::flip(NodeId a, int dim) {
  Node n{.op = Op::flip, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a}};
  n.dim = dim;
  require_dim(n);
  return add(std::move(n));
}

NodeId Graph::concat(std::vector<NodeId> parts, int dim) {
  Node n{.op = Op::concat, .inputs = std::move(parts)};
  require(!n.inputs.empty(), "nothing to join", n);
  n.dim = dim;
  n.dtype = at(n.inputs[0]).dtype;
  require_dim(n);
  Dims shape = at(n.inputs[0]).shape;
  shape[dim] = 0;
  for (NodeId part : n.inputs) {
    require(at(part).dtype == n.dtype, "operands have different dtypes; cast first", n);
    require(same_except(at(part).shape, shape, dim), "shapes differ outside dim", n);
    shape[dim] += at(part).shape[dim];
  }
  if (n.inputs.size() == 1) return n.inputs[0];
  n.shape = std::move(shape);
  return add(std::move(n));
}

NodeId Graph::roll(NodeId a, int dim, int64_t start, double factor) {
  Node n{.op = Op::roll, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a}};
  n.dim = dim;
  n.start = start;
  n.value = factor;
  require_dim(n);
  require(start > 0 && start < n.shape[dim], "start is not inside the dim", n);
  require(factor == 1 || (factor == -1 && is_float(n.dtype)), "factor is neither 1 nor -1", n);
  return add(std::move(n));
}

NodeId Graph::pad(NodeId a, int dim, int64_t low, int64_t high, double value) {
  if (low == 0 && high == 0) return a;
  Node n{.op = Op::pad, .dtype = at(a).dtype, .inputs = {a}};
  n.value = value;
  n.start = low;
  n.stop = high;
  n.dim = dim;
  require_dim(n);
  const int64_t size = at(a).shape[dim];
  require(low + high + size >= 0 && size + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0) >= 0,
          "crops more than there is", n);
  n.shape = at(a).shape;
  n.shape[dim] += low + high;
  return add(std::move(n));
}

NodeId Graph::reduce(AluOp op, NodeId a, Dims axes) {
  Node n{.op = Op::reduce, .dtype = at(a).dtype, .inputs = {a}};
  n.alu = op;
  n.axes = std::move(axes);
  std::sort(n.axes.begin(), n.axes.end());
  const auto rank = static_cast<int64_t>(at(a).shape.size());
  require(std::adjacent_find(n.axes.begin(), n.axes.end()) == n.axes.end(), "an axis is named twice", n);
  require(info(op).reduces, "operator does not reduce", n);
  require(n.axes.empty() || (n.axes.front() >= 0 && n.axes.back() < rank), "axis is out of range", n);
  require(!info(op).is_bitvec || !is_float(n.dtype), "bitvec operators work on integers", n);
  if (n.axes.empty()) return a;
  n.shape = at(a).shape;
  for (int64_t axis : n.axes) n.shape[axis] = 1;
  return add(std::move(n));
}

NodeId Graph::arg_reduce(AluOp op, NodeId a, int dim) {
  Node n{.op = Op::arg_reduce, .dtype = Dtype::int32, .inputs = {a}};
  n.alu = op;
  n.dim = dim;
  require(op == AluOp::maximum || op == AluOp::minimum, "only maximum and minimum have a winner", n);
  require_dim(n);
  require(at(a).shape[dim] > 0, "nothing to choose from", n);
  n.shape = at(a).shape;
  n.shape[dim] = 1;
  return add(std::move(n));
}

NodeId Graph::scan(AluOp op, NodeId a, int dim) {
  Node n{.op = Op::scan, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a}};
  n.alu = op;
  n.dim = dim;
  require_dim(n);
  return add(std::move(n));
}

NodeId Graph::matmul(NodeId a, NodeId b, Dtype dtype) {
  Node n{.op = Op::matmul, .dtype = dtype, .inputs = {a, b}};
  const Dims &x = at(a).shape, &y = at(b).shape;
  require(x.size() >= 2 && y.size() >= 2, "needs matrices", n);
  require(at(a).dtype == at(b).dtype, "operands have different dtypes; cast first", n);
  require(is_float(at(a).dtype) && size_of(at(a).dtype) <= 4 && is_float(dtype),
          "the tensor engine multiplies floating operands", n);
  require(x.back() == y[y.size() - 2], "contraction sizes differ", n);
  n.shape.assign(x.begin(), x.end() - 2);
  require(broadcast(n.shape, Dims(y.begin(), y.end() - 2)), "batch dims do not broadcast", n);
  n.shape.push_back(x[x.size() - 2]);
  n.shape.push_back(y.back());
  return add(std::move(n));
}

NodeId Graph::attention(Op op, std::vector<NodeId> operands, double scale, bool causal) {
  Node n{.op = op, .inputs = std::move(operands)};
  n.value = scale;
  n.causal = causal;
  require(n.inputs.size() == 3 || n.inputs.size() == 4, "operands are q, k, v and perhaps a bias", n);
  const Node &q = at(n.inputs[0]), &k = at(n.inputs[1]), &v = at(n.inputs[2]);
  require(q.shape.size() >= 2 && k.shape.size() >= 2 && v.shape.size() >= 2, "needs matrices", n);
  require(q.dtype == k.dtype && q.dtype == v.dtype, "operands have different dtypes; cast first", n);
  require(is_float(q.dtype) && size_of(q.dtype) <= 4, "the tensor engine multiplies floating operands", n);
  const int64_t rows = q.shape[q.shape.size() - 2], keys = k.shape[k.shape.size() - 2];
  require(scale > 0 && std::isfinite(scale), "scale is not a positive number", n);
  require(q.shape.back() == k.shape.back(), "contraction sizes differ", n);
  require(keys == v.shape[v.shape.size() - 2], "keys and values differ in number", n);
  n.shape.assign(q.shape.begin(), q.shape.end() - 2);
  const auto joins = [&](const Dims& d) { return broadcast(n.shape, Dims(d.begin(), d.end() - 2)); };
  require(joins(k.shape) && joins(v.shape), "batch dims do not broadcast", n);
  if (n.inputs.size() == 4) {
    const Dims& bias = at(n.inputs[3]).shape;
    require(at(n.inputs[3]).dtype == Dtype::float32, "bias is not float32", n);
    require(bias.size() >= 2 && joins(bias) && (bias.back() == keys || bias.back() == 1) &&
                (bias[bias.size() - 2] == rows || bias[bias.size() - 2] == 1),
            "bias does not broadcast to the scores", n);
  }
  const bool sums = op == Op::attention_log_sum;
  n.dtype = sums ? Dtype::float32 : q.dtype;
  n.shape.push_back(rows);
  n.shape.push_back(sums ? 1 : v.shape.back());
  require(elements(n.shape) > 0 && keys > 0 && q.shape.back() > 0, "nothing to attend to", n);
  return add(std::move(n));
}

NodeId Graph::gather(NodeId table, NodeId index) {
  Node n{.op = Op::gather, .dtype = at(table).dtype, .inputs = {table, index}};
  require(!at(table).shape.empty(), "table has no rows", n);
  require(at(index).dtype == Dtype::int32 && at(index).shape.size() == 1, "index is not a vector of int32", n);
  n.shape = at(table).shape;
  n.shape[0] = at(index).shape[0];
  return add(std::move(n));
}

NodeId Graph::scatter(AluOp op, NodeId base, NodeId index, NodeId rows) {
  Node n{.op = Op::scatter, .dtype = at(base).dtype, .shape = at(base).shape, .inputs = {base, index, rows}};
  n.alu = op;
  require(!n.shape.empty(), "base has no rows", n);
  require(at(index).dtype == Dtype::int32 && at(index).shape.size() == 1, "index is not a vector of int32", n);
  require(at(rows).dtype == n.dtype, "operands have different dtypes; cast first", n);
  require(same_except(at(rows).shape, n.shape, 0) && at(rows).shape[0] == at(index).shape[0],
          "need one row of base's shape per index", n);
  return add(std::move(n));
}

NodeId Graph::take(NodeId a, NodeId index, int dim) {
  Node n{.op = Op::take, .dtype = at(a).dtype, .shape = at(index).shape, .inputs = {a, index}};
  n.dim = dim;
  require_dim(n);
  require(at(index).dtype == Dtype::int32, "index is not int32", n);
  require(n.shape.size() == at(a).shape.size(), "index has another rank", n);
  for (size_t i = 0; i < n.shape.size(); ++i)
    require(static_cast<int>(i) == dim || n.shape[i] <= at(a).shape[i], "index is larger than the operand outside dim",
            n);
  return add(std::move(n));
}

NodeId Graph::put(AluOp op, NodeId a, NodeId index, NodeId src, int dim) {
  Node n{.op = Op::put, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a, index, src}};
  n.alu = op;
  n.dim = dim;
  require_dim(n);
  const Dims &i = at(index).shape, &s = at(src).shape;
  require(at(index).dtype == Dtype::int32, "index is not int32", n);
  require(at(src).dtype == n.dtype, "operands have different dtypes; cast first", n);
  require(i.size() == n.shape.size() && s.size() == n.shape.size(), "operands have different ranks", n);
  for (size_t k = 0; k < n.shape.size(); ++k)
    require(i[k] <= s[k] && (static_cast<int>(k) == dim || i[k] <= n.shape[k]),
            "index is larger than src, or than the operand outside dim", n);
  return add(std::move(n));
}

NodeId Graph::sort(NodeId a, int dim, bool descending) {
  Node n{.op = Op::sort, .dtype = at(a).dtype, .shape = at(a).shape, .inputs = {a}};
  n.dim = dim;
  n.descending = descending;
  require_dim(n);
  return add(std::move(n));
}

NodeId Graph::arg_sort(NodeId a, int dim, bool descending) {
  Node n{.op = Op::arg_sort, .dtype = Dtype::int32, .shape = at(a).shape, .inputs = {a}};
  n.dim = dim;
  n.descending = descending;
  require_dim(n);
  return add(std::move(n));
}

NodeId Graph::random(NodeId seed, Dims shape) {
  Node n{.op = Op::random, .dtype = Dtype::uint32, .shape = std::move(shape), .inputs = {seed}};
  require(at(seed).dtype == Dtype::uint32 && at(seed).shape == Dims{4}, "seed is not a vector of four uint32", n);
  return add(std::move(n));
}

void Graph::output(NodeId value, uint32_t slot, Dims strides, int64_t offset) {
  Node n{.op = Op::output, .dtype = at(value).dtype, .shape = at(value).shape, .inputs = {value}};
  n.slot = slot;
  n.strides = std::move(strides);
  n.offset = offset;
  require_inside(n);
  for (size_t i = 0; i < n.shape.size(); ++i)
    require(n.shape[i] <= 1 || n.strides[i] != 0, "result elements overlap", n);
  nodes.push_back(std::move(n));
}

const Node& Graph::at(NodeId id) const {
  if (id >= 0 && id < static_cast<NodeId>(nodes.size())) return nodes[id];
  throw Error(Fault::illegal, "operand is not a node of this graph", "node " + std::to_string(id) + " in " + name);
}

std::string listing(const Graph& g) {
  std::string out = "graph " + g.name + "\n";
  for (size_t i = 0; i < g.slots.size(); ++i) {
    const Slot& s = g.slots[i];
    out += "  slot " + std::to_string(i) + " " + std::string(name(s.use)) + " " + s.name + " " +
           std::string(name(s.dtype)) + text(s.shape) + " " + std::to_string(s.bytes) + " bytes\n";
  }
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    out += "  %" + std::to_string(i) + " = " + std::string(name(n.op));
    if (n.op == Op::map1) out += " " + std::string(name(n.fn));
    if (n.alu != AluOp::bypass) out += " " + std::string(name(n.alu));
    for (NodeId input : n.inputs) out += " %" + std::to_string(input);
    if (n.op == Op::constant || n.op == Op::pad || n.op == Op::roll || n.op == Op::attention ||
        n.op == Op::attention_log_sum)
      out += " " + text(n.value);
    if (n.op == Op::slice)
      out += " " + std::to_string(n.start) + ":" + std::to_string(n.stop) + ":" + std::to_string(n.step);
    if (n.op == Op::pad) out += " " + std::to_string(n.start) + "," + std::to_string(n.stop);
    if (n.dim) out += " dim " + std::to_string(n.dim);
    if (n.op == Op::roll) out += " from " + std::to_string(n.start);
    if (n.descending) out += " descending";
    if (n.causal) out += " causal";
    if (!n.axes.empty()) out += " axes " + text(n.axes);
    if (n.op == Op::input || n.op == Op::output)
      out += " slot " + std::to_string(n.slot) + " strides " + text(n.strides) + " +" + std::to_string(n.offset);
    out += " : " + text(n) + "\n";
  }
  return out;
}

}  // namespace trn::compiler
