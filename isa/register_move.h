#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/rules.h"
#include "isa/sequencer.h"

namespace trn {

// register_alloc(x) is this too, once the compiler has chosen the physical register of every engine that uses it: an
// uninitialised one (x = None) is no instruction.
struct RegisterMove {
  static constexpr std::string_view name = "register_move";
  static constexpr std::string_view doc = "dst = src, in the registers of the engine's sequencer";
  static constexpr std::string_view source =
      "nki.isa.register_move, nki.isa.register_alloc; time assumed: a NOP of public profiles";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::registers;

  struct Args {
    Register dst{};
    RegisterOperand src{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "register"},
                                     Field{"src", &Args::src, "constant or register"}};

  static Verdict check(const Args&, Engine e, const Spec&) { return rules::runs_on(engines, e); }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(s.register_op_ns, e, s); }
  static void step(const Args& a, Sequencer& q) { q.registers.write(a.dst, q.registers.read(a.src)); }

  static std::vector<Example<Args>> examples() {
    return {
        {"a constant", {.dst = {0}, .src = {-7}}, ""},
        {"another register", {.dst = {63}, .src = RegisterOperand::of({0})}, ""},
    };
  }
};

}  // namespace trn
