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

Dtype device_dtype(c10::ScalarType d);  // throws RuntimeError for dtypes that the device has not
// complex64 in memory is pairs of float32.
void as_pairs(Dims& sizes, Dims& strides);
// Elements from the first to the last that a strided tensor touches.
int64_t extent(const Dims& sizes, const Dims& strides);
inline Dims dims(c10::IntArrayRef a) { return {a.begin(), a.end()}; }
constexpr c10::ScalarType kComplex = c10::ScalarType::ComplexFloat;

// The complex dtype of an operand or result that keeps the row from being used; Undefined if there is none.
c10::ScalarType refused_complex(const Row& row, const Scan& scan, const std::vector<ResultInfo>& results);

// A call whose arguments PyTorch holds: numbers, lists and flags are read from them. What a tensor is in the graph, and
// where results go, is for the two that derive: one aten call (call.h), and one node of many (compiled.h).
class ArgumentCall : public Call {
 public:
  int arguments() const override { return static_cast<int>(scan_.ranges.size()); }
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

  int results() const override { return static_cast<int>(results_.size()); }
  bool wanted(int result) const override;
  const Dims& shape(int result) const override { return results_[result].sizes; }
  Dtype dtype(int result) const override { return device_dtype(results_[result].dtype); }
  void out(int result, Value value) override;

 protected:
  // The arguments and the scan must outlive the call.
  ArgumentCall(Graph& g, const c10::IValue* arguments, const Scan& scan, const std::vector<ResultInfo>& results);

  virtual Value tensor(int flat) = 0;
  virtual void give(int result, Value value) = 0;  // in the result's dtype and shape
  virtual bool is_parameter(int /*arg*/) const { return false; }

  const c10::IValue* arguments_;
  const Scan& scan_;
  std::vector<ResultInfo> results_;  // complex ones as float32 pairs
  std::vector<bool> complex_results_;
};

}  // namespace trn::torch_backend
