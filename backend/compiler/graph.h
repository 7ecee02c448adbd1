#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/activation_functions.h"
#include "isa/alu.h"
#include "isa/program.h"
#include "memory/access.h"

namespace trn::compiler {

using Dims = std::vector<int64_t>;

// Primitive tensor operations. Everything that aten, FX or a test asks for is written in these.
enum class Op : uint8_t {
  input,       // an HBM tensor: slot + strides (elements) + byte offset inside the slot
  constant,    // one immediate value, shape []
  iota,        // index along `dim` of `shape`, int32
  map1,        // activation function of one operand
  map2,        // ALU operator of two operands (numpy broadcasting)
  select,      // inputs: predicate (bool), on_true, on_false
  cast,        // to `dtype`
  expand,      // numpy broadcast to `shape`
  permute,     // dims reordered by `axes`
  reshape,     // same elements, row-major
  slice,       // start/stop/step along `dim`
  flip,        // reversed along `dim`
  concat,      // inputs joined along `dim`
  roll,        // torch.roll by -`start` along `dim`; what does not wrap around is multiplied with `value` (1 or -1)
  pad,         // `low`/`high` elements of `value` along `dim` (negative crops)
  reduce,      // ALU operator over `axes`; keeps them as 1
  arg_reduce,  // index (int32, first winner) of maximum or minimum over `dim`; keeps it as 1
  scan,        // running ALU operator along `dim`
  matmul,      // [..., M, K] x [..., K, N], fp32 accumulation, result `dtype`
  attention,   // inputs: q [..., L, E], k [..., S, E], v [..., S, Ev], optional bias [..., L, S]: the scores
              // s = q k^T * value + bias, -inf right of the diagonal if `causal`; softmax(s) v, in q's dtype; rows that
              // see nothing are 0
  attention_log_sum,  // inputs as attention's: log of the sum of exp(s), [..., L, 1] float32
  gather,    // inputs: table [R, ...], index [N] int32 -> [N, ...]; rows by indirect DMA; out of range is NRT 1006
  scatter,   // inputs: base [R, ...], index [N], rows [N, ...]: base with rows replaced (alu = bypass) or accumulated
             // (add, maximum, ...), in index order
  take,      // inputs: a, index: a's elements along `dim` by index of the same rank (torch.gather)
  put,       // inputs: a, index, src: a with elements along `dim` replaced or accumulated (torch.scatter / scatter_add)
  sort,      // values along `dim`, `descending`, stable
  arg_sort,  // indices of the same sort
  random,    // uint32 bits: Philox4x32 keyed by input (seed, offset) [4 x uint32 tensor], torch's CUDA-like counter
             // layout
  output,    // inputs: value; stored into slot + strides + offset (a view of the result tensor)
};

std::string_view name(Op op);

// Comparisons and logical operators give booleans; every other ALU operator gives its operands' dtype.
constexpr bool yields_boolean(AluOp op) { return op >= AluOp::equal && op <= AluOp::logical_xor; }

using NodeId = int32_t;

struct Node {
  Op op;
  Dtype dtype = Dtype::float32;
  Dims shape{};
  std::vector<NodeId> inputs{};

  AluOp alu = AluOp::bypass;              // map2, reduce, scan, scatter, put, arg_reduce
  Activation fn = Activation::copy;       // map1
  double value = 0;                       // constant, pad; roll: factor; attention: scale
  int64_t start = 0, stop = 0, step = 1;  // slice; pad uses start/stop as low/high; roll start
  int dim = 0;
  bool descending = false;
  bool causal = false;  // attention
  Dims axes{};          // permute, reduce

  uint32_t slot = 0;   // input, output
  Dims strides{};      // elements; 0 = broadcast
  int64_t offset = 0;  // bytes inside the slot
};

// Visits all that tells one node from another as integers, lists with their length first: what equality, hashing and
// the key of a compiled graph go by. -0 is not 0, and a NaN is itself.
template <class Visit>
void for_each_word(const Node& n, Visit&& visit) {
  for (const auto word : {static_cast<int64_t>(n.op), static_cast<int64_t>(n.dtype), static_cast<int64_t>(n.alu),
                          static_cast<int64_t>(n.fn), std::bit_cast<int64_t>(n.value), n.start, n.stop, n.step,
                          int64_t{n.dim}, int64_t{n.descending}, int64_t{n.causal}, int64_t{n.slot}, n.offset})
    visit(word);
  const auto list = [&](const auto& words) {
    visit(static_cast<int64_t>(words.size()));
    for (const int64_t word : words) visit(word);
  };
  list(n.shape);
  list(n.inputs);
  list(n.axes);
  list(n.strides);
}

// One Program's worth of work. Shapes and dtypes are inferred and checked as nodes are added; a wrong one throws
// trn::Error(illegal). Equal nodes are one node. An input is its slot's contents before the Program runs, also where an
// output writes the same slot.
class Graph {
 public:
  explicit Graph(std::string title) : name(std::move(title)) {}

  NodeId input(uint32_t slot, Dtype dtype, Dims shape, Dims strides, int64_t offset = 0);
  NodeId constant(double value, Dtype dtype);
  NodeId iota(Dims shape, int dim);
  NodeId map(Activation fn, NodeId a);
  NodeId map(AluOp op, NodeId a, NodeId b);
  NodeId map(AluOp op, NodeId a);  // unary operators: abs, square, invert...
  NodeId select(NodeId predicate, NodeId on_true, NodeId on_false);
  NodeId cast(NodeId a, Dtype dtype);  // no node if already so
  NodeId expand(NodeId a, Dims shape);
  NodeId permute(NodeId a, Dims axes);
  NodeId reshape(NodeId a, Dims shape);
  NodeId slice(NodeId a, int dim, int64_t start, int64_t stop, int64_t step = 1);
  NodeId flip(NodeId a, int dim);
  NodeId concat(std::vector<NodeId> parts, int dim);
  NodeId roll(NodeId a, int dim, int64_t start, double factor);
  NodeId pad(NodeId a, int dim, int64_t low, int64_t high, double value);
  NodeId reduce(AluOp op, NodeId a, Dims axes);
  NodeId arg_reduce(AluOp op, NodeId a, int dim);
  NodeId scan(AluOp op, NodeId a, int dim);
  NodeId matmul(NodeId a, NodeId b, Dtype dtype);
  // `op`: attention or attention_log_sum; `operands`: q, k, v and perhaps bias. Nothing may be empty.
  NodeId attention(Op op, std::vector<NodeId> operands, double scale, bool causal);
  NodeId gather(NodeId table, NodeId index);
  NodeId scatter(AluOp op, NodeId base, NodeId index, NodeId rows);
  NodeId take(NodeId a, NodeId index, int dim);
  NodeId put(AluOp op, NodeId a, NodeId index, NodeId src, int dim);
  NodeId sort(NodeId a, int dim, bool descending);
  NodeId arg_sort(NodeId a, int dim, bool descending);
  NodeId random(NodeId seed, Dims shape);
  void output(NodeId value, uint32_t slot, Dims strides, int64_t offset = 0);

  uint32_t slot(Slot s);

  const Node& operator[](NodeId id) const { return nodes[id]; }
  std::string name;
  std::vector<Node> nodes;  // in topological order
  std::vector<Slot> slots;

 private:
  NodeId add(Node n);
  const Node& at(NodeId id) const;
  void require(bool legal, std::string_view rule, const Node& n) const;
  void require_dim(const Node& n) const;
  void require_inside(const Node& n) const;  // a view against its slot

  std::unordered_multimap<size_t, NodeId> known_;  // by hash of the node
};

std::string listing(const Graph& g);

}  // namespace trn::compiler
