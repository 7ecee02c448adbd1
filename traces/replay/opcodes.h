#pragma once
#include "isa/card.h"
#include "sim/work.h"
#include "traces/replay/operands.h"

namespace trn::replay {

// How well the time of an opcode is known here.
enum class Known : uint8_t {
  card,        // a card's cost, or a law of the Spec
  unmodelled,  // no law: taken as a two-input elementwise instruction of its engine, or as a semaphore event
};

struct OpcodeCost {
  Cost cost;
  Unit unit = Unit::pipeline;
  Known known = Known::card;
};

// What an instruction of a profile costs on `engine`: the cards' own cost functions, given its operands. LDWEIGHTS and
// MATMUL are the two halves of nc_matmul. DMA instructions are not asked for here.
OpcodeCost cost_of(std::string_view opcode, Engine engine, const Operands& o, const Spec& s);

}  // namespace trn::replay
