#pragma once
#include <array>
#include <optional>

#include "isa/alu.h"
#include "isa/engine_state.h"
#include "isa/operands.h"
#include "isa/rows.h"

namespace trn {

// What an instruction does with its engine's accumulator registers (nki.isa.reduce_cmd).
struct Accumulation {
  ReduceCmd cmd = ReduceCmd::idle;
  AluOp op = AluOp::add;
  Access result{};       // reduce_res; absent: the registers keep the result
  Operand init{};        // load_reduce's value
  bool negate = false;   // of what `result` gets
  bool forgets = false;  // `idle` leaves the registers undefined: NaN

  bool reduces() const { return cmd != ReduceCmd::idle && cmd != ReduceCmd::reset; }
};

namespace rules {
// reduce_cmd is one of `commands`, `op` one of `ops`, and reduce_res, if present, a [P, 1] tile.
Verdict accumulation(const Accumulation& a, std::initializer_list<ReduceCmd> commands, std::initializer_list<AluOp> ops,
                     int partitions, const Spec& s);
}  // namespace rules

// The registers while one instruction runs; a lane is the partition of `data` that it reads. Each lane belongs to one
// thread.
class Accumulator {
 public:
  // `registers` may be null where an instruction neither keeps nor continues them.
  Accumulator(const Accumulation& a, EngineState::Registers* registers, const Access& data, const CoreMemory& m);

  bool reduces() const { return what_.reduces(); }
  const Rows* result() const { return result_ ? &*result_ : nullptr; }
  const Rows* initial() const { return initial_ ? &*initial_ : nullptr; }

  // Lane `p`'s register; `first`: as its first element finds it.
  float& begin(int p, bool first);
  // Elements of lane `p` in order; `first` and `last` mark its ends.
  void add(int p, const float* values, int64_t n, bool first, bool last);

 private:
  float start(int p) const;
  float& held(int p) {
    return registers_ ? (*registers_)[static_cast<size_t>(first_lane_ + p)] : own_[static_cast<size_t>(p)];
  }

  const Accumulation& what_;
  EngineState::Registers* registers_;
  int first_lane_;
  std::optional<Rows> result_, initial_;
  std::array<float, EngineState::kLanes> own_{};
};

}  // namespace trn
