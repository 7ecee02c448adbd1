#pragma once
#include <initializer_list>

#include "isa/examples.h"
#include "isa/isa.h"
#include "sim/observer.h"

namespace trn::test {

inline Access sbuf(Dtype dtype, int partitions, int64_t offset, int free) {
  return example::sbuf(partitions, free, dtype, offset);
}
inline Access psum(Dtype dtype, int partitions, int64_t offset, int free) {
  return example::psum(partitions, free, dtype, offset);
}
inline Access hbm(Dtype dtype, uint32_t slot, int rows, int columns) {
  return example::hbm(rows, columns, dtype, slot);
}

// Appends one instruction; returns it for adjustments before the next call.
template <Card C>
Instruction& add(Program& p, Engine engine, const typename C::Args& args, std::initializer_list<Wait> waits = {},
                 uint16_t update = Instruction::kNoUpdate) {
  Instruction i;
  i.card = card_index<C>;
  i.engine = engine;
  i.args = p.push_args(args);
  i.first_wait = static_cast<uint32_t>(p.waits.size());
  i.waits = static_cast<uint8_t>(waits.size());
  i.update = update;
  p.waits.insert(p.waits.end(), waits);
  p.instructions.push_back(i);
  return p.instructions.back();
}

// Keeps the events a test looks at.
struct Seen : Observer {
  std::vector<InstructionEvent> instructions;
  std::vector<WaitEvent> waits;
  std::vector<TransferEvent> transfers;
  std::vector<ThrottleEvent> throttles;
  void instruction(const InstructionEvent& e) override { instructions.push_back(e); }
  void wait(const WaitEvent& e) override { waits.push_back(e); }
  void transfer(const TransferEvent& e) override { transfers.push_back(e); }
  void throttle(const ThrottleEvent& e) override { throttles.push_back(e); }
  const InstructionEvent& of(uint32_t index) const {
    for (const auto& e : instructions)
      if (e.instruction == index) return e;
    throw Error(Fault::internal, "no event for the instruction");
  }
};

inline TensorCopy::Args copy(const Access& dst, const Access& src) {
  TensorCopy::Args a{};
  a.dst = dst;
  a.src = src;
  return a;
}
inline DmaCopy::Args dma(const Access& dst, const Access& src) {
  DmaCopy::Args a{};
  a.dst = dst;
  a.src = src;
  return a;
}
inline NcMatmul::Args matmul(const Access& dst, const Access& stationary, const Access& moving) {
  NcMatmul::Args a{};
  a.dst = dst;
  a.stationary = stationary;
  a.moving = moving;
  return a;
}

}  // namespace trn::test
