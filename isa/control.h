#pragma once
#include "isa/card.h"
#include "isa/registers.h"

// What the control cards share.
namespace trn::control {

// Every sequencer has registers and branches (trainium_inferentia2_arch: "Control instructions are executed directly by
// the engine sequencer").
inline constexpr EngineSet kEverySequencer{Engine::tensor, Engine::vector, Engine::scalar, Engine::gpsimd,
                                           Engine::sync};

// A time of the sequencer: the next instruction starts after it.
Cost cost(double ns, Engine e, const Spec& s);
Cost branch(Engine e, const Spec& s);

// One word in HBM or SBUF that a register holds.
Verdict word(std::string_view field, const Access& a, const Spec& s, bool read);

}  // namespace trn::control
