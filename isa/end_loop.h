#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/rules.h"
#include "isa/sequencer.h"

namespace trn {

struct EndLoop {
  static constexpr std::string_view name = "end_loop";
  static constexpr std::string_view doc = "back to the innermost open loop for its next iteration, if it has one";
  static constexpr std::string_view source = "nki.language.dynamic_range; time assumed: COMPARE_BRANCH";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::end_loop;

  struct Args {};
  static constexpr std::tuple<> fields{};

  static Verdict check(const Args&, Engine e, const Spec&) { return rules::runs_on(engines, e); }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::branch(e, s); }
  static void step(const Args&, Sequencer& q) { q.end_loop(); }

  static std::vector<Example<Args>> examples() { return {{"the end of a loop's body", {}, ""}}; }
};

}  // namespace trn
