#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "backend/torch/lowerings/lowering.h"
#include "backend/torch/scan.h"

namespace trn::torch_backend {

// What a result is, from PyTorch's shape inference.
struct ResultInfo {
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // Undefined: the schema leaves it undefined
  Dims sizes, strides;
  int written = -1;  // flat tensor that receives it (in-place, out=); -1: a new tensor
};

// A launch binds one of these to each slot, in slot order. Slots are named after them, so that a cached Program says
// how to be launched: t3 (flat tensor), r0 (result), p2f / p2i (schema argument as float32 / int32), c1f / c1i (CPU
// scalar, flat), seed.
struct Binding {
  enum Kind : uint8_t { tensor, result, argument_number, tensor_number, seed } kind;
  bool is_float = false;
  int index = 0;
};
std::string name(const Binding& b);
Binding binding_named(std::string_view slot);  // throws trn::Error (illegal)

Dtype device_dtype(c10::ScalarType d);  // throws RuntimeError for dtypes that the device has not

// Builds the graph of one call.
class GraphCall final : public Call {
 public:
  GraphCall(Graph& g, const c10::IValue* arguments, const std::vector<Role>& roles, const Scan& scan,
            const std::vector<ResultInfo>& results);

  int arguments() const override { return static_cast<int>(roles_.size()); }
  bool present(int arg) const override;
  Value in(int arg) override;
  std::vector<Value> list(int arg) override;
  std::vector<std::optional<Value>> optional_list(int arg) override;
  Value number(int arg, Dtype as) override;
  bool known(int arg) const override;
  bool complex(int arg, int item) const override;
  bool complex_result(int result) const override { return complex_results_[result]; }
  double constant(int arg) const override;
  bool integral(int arg) const override;
  int64_t integer(int arg) const override;
  bool flag(int arg) const override;
  Dims integers(int arg) const override;
  std::vector<double> numbers(int arg) const override;
  std::string text(int arg) const override;
  Value random_seed(int64_t draws) override;

  int results() const override { return static_cast<int>(results_.size()); }
  bool wanted(int result) const override;
  const Dims& shape(int result) const override { return results_[result].sizes; }
  Dtype dtype(int result) const override { return device_dtype(results_[result].dtype); }
  void out(int result, Value value) override;

  // Stores what the lowering gave to out(). Returns the results that must be computed into a contiguous temporary and
  // copied: their target overlaps an operand whose elements may still be needed.
  std::vector<int> finish();
  int64_t draws() const { return draws_; }

 private:
  Value tensor(int flat);
  Value parameter(Binding b);
  bool is_parameter(int arg) const;

  // How computing `result` into its target meets the operand `flat`: an element-by-element operation on the same
  // elements may write in place, since a tile is loaded before it is stored; anything else may not.
  enum class Overlap { none, same_elements, conflict };
  Overlap overlap(int result, int flat) const;
  std::vector<bool> depends_on(int slot) const;  // by node
  int output_slot(int result, bool temporary);

  const c10::IValue* arguments_;
  const std::vector<Role>& roles_;
  const Scan& scan_;
  std::vector<ResultInfo> results_;  // complex ones as float32 pairs
  std::vector<bool> complex_results_;
  std::vector<Value> given_;
  std::vector<int> slot_of_tensor_;  // by flat number, -1 if not used
  int64_t draws_ = 0;
};

}  // namespace trn::torch_backend
