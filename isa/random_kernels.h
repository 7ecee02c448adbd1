#pragma once
#include "isa/card.h"

// Cards that draw random numbers. A lane is a partition; each element takes one 32-bit word, in pattern order.
namespace trn {

// The words, wrapped to dst's integer dtype (the least significant bits stay).
void run_rng(const Access& dst, Engine e, const CoreMemory& m);
// low + (high - low) * u with u = word / 2^32 in fp32, below `high`: [P, 1] tiles or immediates.
void run_uniform(const Access& dst, const Operand& low, const Operand& high, const CoreMemory& m);
// 0 where word / 2^32 < probability, else data's bits.
void run_dropout(const Access& dst, const Access& data, const Operand& probability, const CoreMemory& m);

void run_set_seed(const Access& seed, const CoreMemory& m);
void run_set_state(const Access& words, Engine e, const CoreMemory& m);
void run_get_state(const Access& words, Engine e, const CoreMemory& m);

// Time for the words of a tile; `rate`: words per cycle on Vector.
Cost random_cost(const Access& words, Engine e, const Spec& s, double rate = 1);

namespace rules {
// uint32 [P, 6] on GpSimd, [P, 24] on Vector.
Verdict random_state(std::string_view field, const Access& a, Engine e, const Spec& s, bool read);
}  // namespace rules

}  // namespace trn
