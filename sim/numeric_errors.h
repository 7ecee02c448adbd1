#pragma once
#include <optional>
#include <span>

#include "sim/finding.h"

namespace trn {

// NaN that a Program produces: in what it stored to its outputs, where its inputs held none. Hardware reports it (NRT
// status 1003) and completes all the same. Made once for a Program, which must outlive it.
class NumericErrors {
 public:
  using Slots = std::span<const std::span<std::byte>>;

  explicit NumericErrors(const Program& p);

  // Before a run: does what the run may overwrite hold NaN already?
  bool in_place_inputs_have_nan(Slots slots) const;
  // After it: the first NaN, with the instruction that stored it.
  std::optional<Finding> find(Slots slots, bool in_place_inputs_had_nan) const;

 private:
  struct Use {
    uint32_t instruction;
    const Access* access;
  };

  const Program& p_;
  std::vector<Use> stores_, loads_, loads_in_place_;  // of float elements from and to bound slots
};

}  // namespace trn
