#pragma once
#include <tuple>
#include <vector>

#include "isa/alu.h"
#include "isa/control.h"
#include "isa/rules.h"
#include "isa/sequencer.h"

namespace trn {

// Forwards it skips (if), backwards it repeats (while): nki's `while reg` is a label, a branch past the loop on
// reg == 0, the body, and a branch back. It may not enter or leave a loop's body.
struct CompareBranch {
  static constexpr std::string_view name = "compare_branch";
  static constexpr std::string_view doc = "go on at label_id of the same stream if cmp0 cmp_op cmp1";
  static constexpr std::string_view source = "nki.language.while_loop; COMPARE_BRANCH of public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::branch;

  struct Args {
    AluOp cmp_op = AluOp::equal;
    RegisterOperand cmp0{}, cmp1{};
    int32_t label_id = 0;
  };
  static constexpr std::tuple fields{
      Field{"cmp_op", &Args::cmp_op, "equal, not_equal, greater_equal, greater, less_equal or less, signed"},
      Field{"cmp0", &Args::cmp0, "constant or register"}, Field{"cmp1", &Args::cmp1, "constant or register"},
      Field{"label_id", &Args::label_id, "of a label in the same stream and the same innermost loop"}};

  static Verdict check(const Args& a, Engine e, const Spec&) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (a.cmp_op < AluOp::equal || a.cmp_op > AluOp::less)
      return illegal("cmp_op ", trn::name(a.cmp_op), " is no comparison");
    return {};
  }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::branch(e, s); }
  static void step(const Args& a, Sequencer& q) {
    const Word x = q.registers.read(a.cmp0), y = q.registers.read(a.cmp1);
    q.branch({info(a.cmp_op).on_int(x.value, y.value, false), x.known && y.known});
  }
  static int32_t tag(const Args& a) { return a.label_id; }

  static std::vector<Example<Args>> examples() {
    return {
        {"past a loop that is not needed", {.cmp0 = RegisterOperand::of({0}), .label_id = 896}, ""},
        {"a sum", {.cmp_op = AluOp::add, .cmp0 = RegisterOperand::of({0})}, "cmp_op add is no comparison"},
    };
  }
};

}  // namespace trn
