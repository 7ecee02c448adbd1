#pragma once
#include <string>
#include <vector>

#include "backend/torch/arguments.h"

namespace trn::torch_backend {

// A launch binds one of these to each slot, in slot order. Slots are named after them, so that a cached Program says
// how to be launched: t3 (flat tensor), r0 (result), p2f / p2i (schema argument as float32 / int32), c1f / c1i (CPU
// scalar, flat), seed, seed1... (one for each random node of a compiled graph).
struct Binding {
  enum Kind : uint8_t { tensor, result, argument_number, tensor_number, seed } kind;
  bool is_float = false;
  int index = 0;
};
std::string name(const Binding& b);
Binding binding_named(std::string_view slot);  // throws trn::Error (illegal)

// Builds the graph of one call.
class GraphCall final : public ArgumentCall {
 public:
  GraphCall(Graph& g, const c10::IValue* arguments, const Scan& scan, const std::vector<ResultInfo>& results);

  Value number(int arg, Dtype as) override;
  Value random_seed(int64_t draws) override;

  // Stores what the lowering gave to out(). Returns the results that must be computed into a contiguous temporary and
  // copied: their target overlaps an operand whose elements may still be needed.
  std::vector<int> finish();
  int64_t draws() const { return draws_; }

 private:
  void give(int result, Value value) override { given_[result] = value; }
  Value tensor(int flat) override;
  bool is_parameter(int arg) const override;
  Value parameter(Binding b);

  // How computing `result` into its target meets the operand `flat`: an element-by-element operation on the same
  // elements may write in place, since a tile is loaded before it is stored; anything else may not.
  enum class Overlap { none, same_elements, conflict };
  Overlap overlap(int result, int flat) const;
  std::vector<bool> depends_on(int slot) const;  // by node
  int output_slot(int result, bool temporary);

  std::vector<Value> given_;
  std::vector<int> slot_of_tensor_;  // by flat number, -1 if not used
  int64_t draws_ = 0;
};

}  // namespace trn::torch_backend
