#pragma once
#include "isa/register_move.h"

namespace trn {

// A Program's registers are physical and every engine's own, so allocation is the compiler's; what is left is the
// initial value. An uninitialised register (x = None) is no instruction.
struct RegisterAlloc : RegisterMove {
  static constexpr std::string_view name = "register_alloc";
  static constexpr std::string_view doc = "takes a register of the engine's sequencer and sets it to x";
  static constexpr std::string_view source = "nki.isa.register_alloc; time assumed: a NOP of public profiles";

  struct Args {
    Register dst{};
    int32_t x = 0;
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "register that is returned"},
                                     Field{"x", &Args::x, "initial value"}};

  static Verdict check(const Args&, Engine e, const Spec&) { return rules::runs_on(engines, e); }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(s.register_op_ns, e, s); }
  static void step(const Args& a, Sequencer& q) { q.registers.write(a.dst, {a.x}); }

  static std::vector<Example<Args>> examples() {
    return {{"a loop's first value", {.dst = {0}, .x = 0}, ""}, {"a negative one", {.dst = {1}, .x = -5}, ""}};
  }
};

}  // namespace trn
