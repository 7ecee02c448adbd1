#pragma once
#include <vector>

#include "isa/sequencer.h"

namespace trn {

// One run of a Program with control flow, written out as a straight line: every instruction as often as it is issued,
// in a legal order, with its registers' values in place. Control cards stay, as instructions that take time. A meeting
// of two cores becomes semaphores of its own, numbered after the Program's: core_barrier is an arrival (a label that
// posts) and itself, which waits for the other's arrival; sendrecv is an arrival, the DMA, and a label that waits for
// both DMAs.
struct Unrolled {
  Program program;  // shares the arguments of instructions that no register places
  // By instruction: which of the original Program it is, and whether it is one of the added labels.
  std::vector<uint32_t> origin;
  std::vector<bool> added;
  std::vector<bool> placed_by_data;  // operands of it, by words that `loads` did not have
};

// What one run may come to before it counts as endless: its straight line is held in memory, about 35 bytes each.
inline constexpr uint64_t kMostUnrolled = 1 << 26;
// Words for the arguments that registers place.
inline constexpr size_t kMostUnrolledWords = size_t{1} << 29;

// `loads` are what register_load reads; beyond them words are unknown. Throws as Walk::run() does, and
// trn::Error(unsupported) where the arguments take more than kMostUnrolledWords.
Unrolled unroll(const Program& p, const Spec& s, const Loads& loads, uint64_t most = kMostUnrolled);

// The first `most` instructions of one run, its engines taking turns.
Unrolled unroll_beginning(const Program& p, const Spec& s, const Loads& loads, uint64_t most);

}  // namespace trn
