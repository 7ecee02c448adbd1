#pragma once
#include <optional>

#include "backend/compiler/view.h"

namespace trn::compiler {

// A value and where in HBM a kernel stores it.
struct Result {
  NodeId value;
  View to;
};

// What is written as one piece of code. `row` kernels hold pointwise nodes and reductions over one set of axes; every
// other computing node is alone.
struct Kernel {
  enum class Kind : uint8_t { row, copy, island };
  Kind kind = Kind::row;
  std::vector<NodeId> nodes;  // row: members in topological order; island: its node
  std::vector<Result> results;
  Dims space;                 // row: common broadcast shape
  std::vector<char> reduced;  // row: by dim of space; empty if nothing is reduced
  View from;                  // copy: its source
};

// A graph cut into kernels, in an order that can be executed. Values that cross kernels live in HBM: at an output, or
// in a scratch slot.
struct Plan {
  Graph graph;  // with scratch slots appended
  std::vector<Kernel> kernels;
  std::vector<std::optional<View>> where;  // by node: how other kernels read it

  const View& view(NodeId id) const { return *where[id]; }
};

// What `d` is computed in on chip and kept as in scratch: 64-bit types carry 32-bit values.
constexpr Dtype storage(Dtype d) {
  if (d == Dtype::int64) return Dtype::int32;
  if (d == Dtype::uint64) return Dtype::uint32;
  return d == Dtype::float64 ? Dtype::float32 : d;
}

// A constant or iota, possibly expanded: needs no memory, every kernel makes its own.
bool is_fill(const Graph& g, NodeId id);

Kernel copy_of(NodeId value, const View& from, const View& to);
bool contains(const Kernel& k, NodeId id);
// A slot for a value that crosses kernels.
uint32_t add_scratch(Graph& g, Dtype d, const Dims& shape, int64_t bytes);

Plan split(Graph simplified);
std::string listing(const Plan& p);

}  // namespace trn::compiler
