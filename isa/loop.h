#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/rules.h"
#include "isa/sequencer.h"

namespace trn {

// Repeats the instructions of its own stream up to the matching end_loop, for counter = start, start + step, ... while
// counter < stop. Bounds are read once, on entry; with none the body is skipped. The body may read the counter but not
// write it (nki-language-guide: "frozen"). A kernel's loop is one of these in the stream of every engine that takes
// part in it.
struct Loop {
  static constexpr std::string_view name = "loop";
  static constexpr std::string_view doc = "for counter in range(start, stop, step): up to end_loop";
  static constexpr std::string_view source =
      "nki.language.dynamic_range, nki.language.fori_loop (a hardware loop instruction); time assumed: COMPARE_BRANCH";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::loop;

  struct Args {
    Register counter{};
    RegisterOperand start{}, stop{};
    int32_t step = 1;
  };
  static constexpr std::tuple fields{Field{"counter", &Args::counter, "register that holds the iteration's value"},
                                     Field{"start", &Args::start, "first value: constant or register"},
                                     Field{"stop", &Args::stop, "end, exclusive: constant or register"},
                                     Field{"step", &Args::step, "positive constant"}};

  static Verdict check(const Args& a, Engine e, const Spec&) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (a.step < 1) return illegal("step must be positive, not ", a.step);
    return {};
  }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::branch(e, s); }
  static void step(const Args& a, Sequencer& q) {
    q.begin_loop(a.counter, q.registers.read(a.start), q.registers.read(a.stop), a.step);
  }

  static std::vector<Example<Args>> examples() {
    return {
        {"ten times", {.counter = {0}, .stop = {10}}, ""},
        {"as often as a register says",
         {.counter = {0}, .start = {128}, .stop = RegisterOperand::of({1}), .step = 128},
         ""},
        {"backwards", {.counter = {0}, .start = {10}, .step = -1}, "step must be positive, not -1"},
    };
  }
};

}  // namespace trn
