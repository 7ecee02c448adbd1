#pragma once
#include <vector>

#include "isa/program.h"

namespace trn {

// How many loops of one engine may be open at once. No public figure; a sequencer has few loop registers.
inline constexpr int kMostOpenLoops = 16;

// One engine's instructions in order, with the places that control instructions lead to.
struct Stream {
  std::vector<uint32_t> instructions;  // in Program::instructions
  std::vector<uint32_t> target;        // by place: of loop its end_loop, of compare_branch its label; else 0
};

// The streams of a Program with control flow, by core * kEngines + engine. Throws trn::Error (illegal): a loop without
// end or an end without loop, more than kMostOpenLoops open at once, a label given twice, a branch to a label that its
// own stream and innermost loop do not have, a loop whose body writes its counter. The instructions' indices and
// arguments must be sound (dispatch.h: check).
std::vector<Stream> streams(const Program& p);

}  // namespace trn
