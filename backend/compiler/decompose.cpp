#include "backend/compiler/decompose.h"

#include <algorithm>
#include <limits>

#include "backend/compiler/view.h"

namespace trn::compiler {
namespace {

NodeId count(Graph& g, double v) { return g.constant(v, Dtype::int32); }

// NaN wins, as in torch: it is its own extreme.
NodeId arg_reduce(Graph& g, AluOp op, NodeId a, int dim) {
  const NodeId best = g.reduce(op, a, {dim});
  NodeId wins = g.map(AluOp::equal, a, best);
  if (is_float(g[a].dtype)) wins = g.map(AluOp::logical_or, wins, g.map(AluOp::not_equal, a, a));
  const NodeId index = g.iota(g[a].shape, dim);
  return g.reduce(AluOp::minimum, g.select(wins, index, count(g, std::numeric_limits<int32_t>::max())), {dim});
}

// Place of element (i, index[i], k) in row-major `shape`, for every element of `index`; [N]. An index outside of dim is
// outside of all elements, so that the DMA that uses it says so.
NodeId flat_index(Graph& g, NodeId index, const Dims& shape, int dim) {
  const Dims strides = contiguous_strides(shape), over = g[index].shape;
  if (elements(shape) == shape[dim]) return g.reshape(index, {elements(over)});
  const NodeId inside = g.map(AluOp::logical_and, g.map(AluOp::greater_equal, index, count(g, 0)),
                              g.map(AluOp::less, index, count(g, static_cast<double>(shape[dim]))));
  NodeId at = g.map(AluOp::multiply, index, count(g, static_cast<double>(strides[dim])));
  for (size_t d = 0; d < over.size(); ++d) {
    if (static_cast<int>(d) == dim || over[d] == 1) continue;
    const NodeId place = g.iota(over, static_cast<int>(d));
    at = g.map(AluOp::add, at, g.map(AluOp::multiply, place, count(g, static_cast<double>(strides[d]))));
  }
  return g.reshape(g.select(inside, at, count(g, -1)), {elements(over)});
}

NodeId rows(Graph& g, NodeId a) { return g.reshape(a, {elements(g[a].shape), 1}); }

NodeId take(Graph& g, NodeId a, NodeId index, int dim) {
  const Dims shape = g[index].shape, from = g[a].shape;
  return g.reshape(g.gather(rows(g, a), flat_index(g, index, from, dim)), shape);
}

NodeId put(Graph& g, AluOp op, NodeId a, NodeId index, NodeId src, int dim) {
  const Dims shape = g[a].shape;
  for (size_t d = 0; d < shape.size(); ++d) src = g.slice(src, static_cast<int>(d), 0, g[index].shape[d]);
  return g.reshape(g.scatter(op, rows(g, a), flat_index(g, index, shape, dim), rows(g, src)), shape);
}

bool is_composite(Op op) { return op == Op::arg_reduce || op == Op::take || op == Op::put; }

}  // namespace

Graph decompose(const Graph& g) {
  if (std::none_of(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return is_composite(n.op); })) return g;
  Graph out(g.name);
  out.slots = g.slots;
  std::vector<NodeId> to(g.nodes.size());
  for (size_t id = 0; id < g.nodes.size(); ++id) {
    Node n = g.nodes[id];
    for (NodeId& i : n.inputs) i = to[i];
    if (n.op == Op::arg_reduce)
      to[id] = arg_reduce(out, n.alu, n.inputs[0], n.dim);
    else if (n.op == Op::take && elements(n.shape))
      to[id] = take(out, n.inputs[0], n.inputs[1], n.dim);
    else if (n.op == Op::put && elements(g[g.nodes[id].inputs[1]].shape))
      to[id] = put(out, n.alu, n.inputs[0], n.inputs[1], n.inputs[2], n.dim);
    else {
      to[id] = static_cast<NodeId>(out.nodes.size());
      out.nodes.push_back(std::move(n));
    }
  }
  return out;
}

}  // namespace trn::compiler
