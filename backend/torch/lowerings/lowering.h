#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/compiler/graph.h"

namespace trn::torch_backend {

using compiler::Dims;
using compiler::Graph;
using compiler::NodeId;

// One aten call being lowered, seen without libtorch: arguments by schema position, results by position. Shapes, strides and dtypes of arguments are
// part of the Program's key; so are all numbers except those that the row names as run-time parameters.
class Call {
 public:
  virtual ~Call() = default;
  Graph& g;
  explicit Call(Graph& graph) : g(graph) {}

  virtual bool present(int arg) const = 0;             // not None
  virtual NodeId in(int arg) = 0;                      // Tensor argument
  virtual std::vector<NodeId> list(int arg) = 0;       // Tensor[] argument
  virtual std::vector<std::optional<NodeId>> optional_list(int arg) = 0;  // Tensor?[] argument (index, index_put)
  virtual NodeId number(int arg, Dtype as) = 0;        // Scalar, float or int argument: a run-time parameter if the row says so, else a constant
  virtual double constant(int arg) const = 0;          // the same, needed now: only for numbers that are part of the key
  virtual int64_t integer(int arg) const = 0;
  virtual bool flag(int arg) const = 0;
  virtual Dims integers(int arg) const = 0;            // int[] argument; empty if None
  virtual std::string text(int arg) const = 0;         // str argument, empty if None
  virtual NodeId random_seed() = 0;                    // (seed, offset) of the device's generator for this call; advances it

  virtual int results() const = 0;
  virtual bool wanted(int result) const = 0;           // output_mask and the like
  virtual const Dims& shape(int result) const = 0;     // from PyTorch's own shape inference
  virtual Dtype dtype(int result) const = 0;
  virtual void out(int result, NodeId value) = 0;      // casts and broadcasts to the result's dtype and shape

  // Conveniences.
  const Dims& shape_of(NodeId n) const { return g[n].shape; }
  Dtype dtype_of(NodeId n) const { return g[n].dtype; }
  NodeId in_as(int arg, Dtype d) { return g.cast(in(arg), d); }
};

// One row of the operator table: what the documentation, the registration and the tests are made from. `op` is the functional overload without
// "aten::" ("add.Tensor"); its in-place and out= variants are registered with it, writing through the same lowering.
struct Row {
  std::string_view op;
  void (*lower)(Call&);
  std::string_view runtime = "";  // space-separated argument names whose value is a run-time parameter (does not make a new Program)
  std::string_view notes = "";
};

// Rows by family, one file each; registry.cpp joins them.
std::span<const Row> pointwise_rows();
std::span<const Row> reduction_rows();
std::span<const Row> matmul_rows();
std::span<const Row> movement_rows();
std::span<const Row> index_rows();
std::span<const Row> normalisation_rows();
std::span<const Row> loss_rows();
std::span<const Row> attention_rows();
std::span<const Row> random_rows();
std::span<const Row> optimizer_rows();
std::span<const Row> creation_rows();

}  // namespace trn::torch_backend
