#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/torch/allocator.h"
#include "backend/torch/call.h"
#include "backend/torch/program_cache.h"

namespace trn::torch_backend {

// What one graph of torch.compile became: one Program, launched with real tensors.
class CompiledProgram {
 public:
  struct Input {
    c10::ScalarType dtype;
    Dims sizes, strides;
    bool host_number;  // a 0-dim tensor on the host, read at launch
  };
  // A new tensor, `offset` elements into new memory number `storage`. Outputs that alias in PyTorch share a storage.
  struct Output {
    c10::ScalarType dtype;
    Dims sizes, strides;
    int64_t offset;
    int storage;
  };

  // Allocates the outputs and queues the launch. An input of other strides than compiled for is copied first.
  std::vector<at::Tensor> run(std::vector<at::Tensor> inputs);
  const std::string& name() const { return *name_; }
  int64_t nodes() const { return nodes_; }  // graph primitives before simplification

 private:
  friend class GraphBuilder;

  void check_input(size_t i, at::Tensor& t) const;
  Location send_numbers(const std::vector<at::Tensor>& inputs) const;

  const std::string* name_ = nullptr;  // lives as long as the process
  c10::DeviceIndex device_ = 0;
  int64_t nodes_ = 0;
  std::vector<Input> inputs_;
  std::vector<char> written_;  // by input: the Program writes it, so a copy will not do
  std::vector<Output> outputs_;
  std::vector<int64_t> storages_;  // bytes
  std::vector<int64_t> draws_;     // by random node
  LoadedProgram program_;          // no model if there is nothing to compute
  std::vector<Binding> bindings_;  // by slot
};

// Collects the nodes of an FX graph, in their order, into one compiler::Graph by the lowerings that eager calls use.
// Values are named by meta tensors, which give their shapes; numbers are constants.
class GraphBuilder {
 public:
  GraphBuilder(const std::string& name, int device);

  // Placeholder number 0, 1, 2...; `host_number`: a 0-dim tensor on the host.
  void input(const at::Tensor& meta, bool host_number);
  // One node. `results`: undefined where the schema leaves them so. Throws NotLowered (the caller runs the op by
  // itself).
  void call(const c10::OperatorHandle& op, const c10::Stack& arguments, const std::vector<at::Tensor>& results);
  // At the end of the Program `input` holds `value`.
  void write_input(const at::Tensor& input, const at::Tensor& value);
  // `bytes`: of a new storage that outputs share.
  int storage(int64_t bytes);
  // `computed`: false if another output of the same storage already writes all its elements.
  void output(const at::Tensor& meta, int storage, int64_t offset, bool computed);

  std::shared_ptr<CompiledProgram> compile();

 private:
  friend class NodeCall;
  Value random_seed(int64_t draws);
  Value value_of(const c10::TensorImpl* t);
  uint32_t input_slot(int index);

  Graph graph_;
  std::shared_ptr<CompiledProgram> program_;
  std::unordered_map<const c10::TensorImpl*, Value> values_;
  std::unordered_map<const c10::TensorImpl*, int> inputs_;
  std::vector<int> slot_of_input_;  // -1: not used
  std::vector<at::Tensor> metas_;   // kept, so that their addresses name them
  struct Write {
    Value value;
    uint32_t slot;
    Dims strides;
  };
  std::vector<Write> writes_;  // output nodes come last, after every read of an input
};

// Whether a node of this op can become part of a Program at all. Its arguments may still not fit.
bool is_lowered(const c10::OperatorHandle& op);

struct NotLowered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace trn::torch_backend
