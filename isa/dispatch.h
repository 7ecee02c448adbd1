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
  void (*run)(const void* args, const CoreMemory&);
  void (*accesses)(const void* args, AccessList&);
  // The first field whose value is none of its enum's, or empty. Everything else about `args` may be asked only after
  // this.
  std::string_view (*damaged)(const void* args);
};

std::span<const CardRow> isa();
const CardRow* card_named(std::string_view name);  // null if there is none
inline const CardRow& row(const Instruction& i) { return isa()[i.card]; }

// Points into `p`.
AccessList accesses(const Program& p, const Instruction& i);

// Dangling indices, operands outside their memories, waits that no earlier instruction meets, rules of the cards: the
// first broken one with its instruction, or nothing. A Program that passes can be executed and timed without reading
// outside its memories.
Verdict check(const Program& p, const Spec& s);

}  // namespace trn
