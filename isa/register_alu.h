#pragma once
#include <tuple>
#include <vector>

#include "isa/alu.h"
#include "isa/control.h"
#include "isa/rules.h"
#include "isa/sequencer.h"

namespace trn {

// What counts iterations and makes addresses. Signed 32 bits that wrap; comparisons give 1 or 0. No function of nki.isa
// is it: NKI's compiler derives it from a kernel's register expressions. Which operators the sequencers have is not
// public, so all that have an integer form are here.
struct RegisterAlu {
  static constexpr std::string_view name = "register_alu";
  static constexpr std::string_view doc = "dst = operand0 op operand1, in the registers of the engine's sequencer";
  static constexpr std::string_view source =
      "nki.isa.register_alloc; register ALU operations of nki/guides/architecture/trainium_inferentia2_arch; time "
      "assumed: a NOP of public profiles";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::registers;

  struct Args {
    Register dst{};
    AluOp op = AluOp::add;
    RegisterOperand operand0{}, operand1{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "register"},
                                     Field{"op", &Args::op, "operator of two integers"},
                                     Field{"operand0", &Args::operand0, "constant or register"},
                                     Field{"operand1", &Args::operand1, "constant or register"}};

  static Verdict check(const Args& a, Engine e, const Spec&) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (info(a.op).arity != 2 || !info(a.op).on_int)
      return illegal("op ", trn::name(a.op), " is no operator of two integers");
    return {};
  }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(s.register_op_ns, e, s); }
  static void step(const Args& a, Sequencer& q) {
    const Word x = q.registers.read(a.operand0), y = q.registers.read(a.operand1);
    q.registers.write(a.dst, {info(a.op).on_int(x.value, y.value, false), x.known && y.known});
  }

  static std::vector<Example<Args>> examples() {
    const RegisterOperand r1 = RegisterOperand::of({1}), r2 = RegisterOperand::of({2});
    return {
        {"counting", {.dst = {1}, .op = AluOp::add, .operand0 = r1, .operand1 = {1}}, ""},
        {"an address", {.dst = {3}, .op = AluOp::multiply, .operand0 = r1, .operand1 = r2}, ""},
        {"a float operator", {.dst = {3}, .op = AluOp::rsqrt, .operand0 = r1}, "op rsqrt is no operator"},
    };
  }
};

}  // namespace trn
