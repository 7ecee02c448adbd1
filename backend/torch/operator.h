#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <nrt/nrt_sim.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/torch/call.h"
#include "backend/torch/program_cache.h"
#include "backend/torch/registry.h"
#include "backend/torch/scan.h"

namespace trn::torch_backend {

// A change to the arguments before they are looked at: boolean masks become indices, a result gets its size. True if
// the call is already done and its results stand on the stack.
using Prepare = bool (*)(const c10::OperatorHandle& op, c10::Stack& arguments);
Prepare prepare_for(std::string_view op);  // "aten::index.Tensor"; null for most

// One overload of a row: what the dispatcher calls. A call seen before costs a key, a look-up, the results' allocation
// and one request to the core.
class Operator {
 public:
  Operator(const Row& row, c10::OperatorHandle handle);

  void call(c10::Stack* stack);
  const char* name() const { return name_.c_str(); }
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  void reset_calls() { calls_.store(0, std::memory_order_relaxed); }

 private:
  struct Entry {
    std::vector<uint64_t> key;
    std::vector<ResultInfo> results;
    std::vector<int> temporaries;    // results computed aside and copied
    std::vector<Binding> bindings;   // in slot order
    std::vector<uint64_t> bytes;     // of each slot
    std::vector<c10::IValue> fixed;  // returns that are not tensors, by return position
    nrt_model_t* model = nullptr;    // null if there is nothing to compute
    int64_t draws = 0;
    int parameter_bytes = 0;
  };

  void read_schema();
  void run(c10::Stack* stack);
  Entry* find(const Scan& scan);
  Entry* make(const c10::Stack& stack, size_t first,
              const Scan& scan);  // null if out= tensors had to be resized: look again
  std::unique_ptr<Entry> infer_results(const c10::Stack& stack, size_t first, const Scan& scan, bool& resized);
  void build(Entry& entry, const c10::IValue* arguments, const Scan& scan);
  void launch(const Entry& entry, const Scan& scan, const c10::IValue* arguments,
              c10::SmallVectorImpl<at::Tensor>& results);
  void give_results(const Entry& entry, c10::Stack* stack, const c10::SmallVectorImpl<at::Tensor>& results);

  const Row& row_;
  c10::OperatorHandle handle_;
  std::string name_;
  Prepare prepare_ = nullptr;
  std::vector<Role> roles_;
  std::vector<int> written_;       // arguments that the call writes
  std::vector<int> return_alias_;  // by return: the argument that it is, or -1
  bool by_element_ = false;        // a partial overlap of target and operand is PyTorch's error
  bool resizes_ = false;           // out= variant: results fit themselves to the shape
  int generator_ = -1;             // argument that is a generator

  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Entry>>> entries_;
  std::atomic<uint64_t> calls_{0};
};

}  // namespace trn::torch_backend
