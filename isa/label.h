#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/rules.h"
#include "isa/sequencer.h"

namespace trn {

// A place, not work: it takes no time. It may wait and post like any instruction.
struct Label {
  static constexpr std::string_view name = "label";
  static constexpr std::string_view doc = "where compare_branch with the same label_id of its stream goes on";
  static constexpr std::string_view source = "nki.language.while_loop; label_id of COMPARE_BRANCH in public profiles";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::label;

  struct Args {
    int32_t label_id = 0;
  };
  static constexpr std::tuple fields{Field{"label_id", &Args::label_id, "any number, once in a stream"}};

  static Verdict check(const Args&, Engine e, const Spec&) { return rules::runs_on(engines, e); }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(0, e, s); }
  static void step(const Args&, Sequencer&) {}
  static int32_t tag(const Args& a) { return a.label_id; }

  static std::vector<Example<Args>> examples() { return {{"a place", {.label_id = 896}, ""}}; }
};

}  // namespace trn
