#pragma once
#include <array>
#include <span>

#include "isa/program.h"

namespace trn {

// What a Program's reader needs of the instruction set, without the cards: rows with their types erased, made from the
// one list of isa.h.

// The operands of an instruction in memory.
struct AccessList {
  static constexpr int kMost = 24;
  std::array<const Access*, kMost> access;
  std::array<bool, kMost> written;
  int count = 0;
};

// One card with its types erased: what dispatch, tools and tests use. `args` points at the card's Args.
struct CardRow {
  std::string_view name, doc, source;
  Status status;
  Generation since;
  EngineSet engines;
  bool is_dma;
  size_t args_bytes;
  Verdict (*check)(const void* args, Engine, const Spec&);
  Cost (*cost)(const void* args, Engine, const Spec&);
  void (*run)(const void* args, Engine, const CoreMemory&);  // null for control cards
  void (*accesses)(const void* args, AccessList&);
  // The operand of a DMA of which an index chooses the rows; null: the DMA is direct.
  const Access* (*indexed)(const void* args);
  // The first field whose value is none of its enum's, or empty. Everything else about `args` may be asked only after
  // this.
  std::string_view (*damaged)(const void* args);

  // Control flow; null where a card has no such thing.
  Flow flow;
  void (*step)(const void* args, Sequencer&);
  void (*exchange)(const void* args, const CoreMemory&, const void* other_args, const CoreMemory& other);
  int32_t (*tag)(const void* args);                  // of label, branch and meeting: which one
  int (*sets_register)(const void* args);            // number of the register that step() writes
  uint64_t (*registers)(const void* args);           // a bit for each register that places operands; mostly 0
  void (*resolve)(void* args, const RegisterFile&);  // puts the registers' values into such operands
};

std::span<const CardRow> isa();
const CardRow* card_named(std::string_view name);  // null if there is none
inline const CardRow& row(const Instruction& i) { return isa()[i.card]; }

// Points into `p`.
AccessList accesses(const Program& p, const Instruction& i);

// Has control cards: the engines' streams are no straight lines, walk.h must find an order.
bool has_control(const Program& p);

// "instruction 7 (tensor_copy) from model.py:12", for messages.
std::string describe(const Program& p, size_t index);

// Dangling indices, operands outside their memories, waits that no earlier instruction meets, rules of the cards: the
// first broken one with its instruction, or nothing. A Program that passes can be executed and timed without reading
// outside its memories. What depends on registers is judged as far as it is known: loops and branches are walked, but
// no further than the first decision that depends on data, and kMostCheckedSteps; what then remains (places that a
// register addresses, waits) is judged when it is executed.
Verdict check(const Program& p, const Spec& s);

// The same of one instruction's operands, whose registers are resolved: `args` need not be the Program's own.
Verdict check_operands(const Program& p, const Instruction& i, const void* args, const Spec& s);

inline constexpr uint64_t kMostCheckedSteps = 1 << 17;

// Its parts, for those who want every broken rule: the Program without its instructions, and one instruction by itself.
// A complaint of RuleKind::structure means that the instruction cannot be looked at further. `control` is
// has_control(p).
Verdict check_slots(const Program& p);
Verdict check_instruction(const Program& p, size_t index, const Spec& s, bool control);

}  // namespace trn
