#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Each core posts to the other and waits for the other's post (nki.isa.core_barrier). The engine that issues it waits,
// others do not; its own waits say what of `data` this core has written. Barriers of one id meet in order: the n-th of
// core 0 with the n-th of core 1.
struct CoreBarrier {
  static constexpr std::string_view name = "core_barrier";
  static constexpr std::string_view doc = "waits until the other physical core of the logical core has come here too";
  static constexpr std::string_view source =
      "nki.isa.core_barrier; id as in CoreBarriers of neuron-explorer's schema; time assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = false;
  static constexpr Flow flow = Flow::meeting;

  struct Args {
    Access data{};
    int32_t id = 0;
  };
  static constexpr std::tuple fields{Field{"data", &Args::data, "shared HBM that both cores have written"},
                                     Field{"id", &Args::id, "which barrier"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (s.generation < since) return illegal("core_barrier needs NeuronCore-v3");
    return in_space("data", a.data, Space::hbm);
  }
  static Cost cost(const Args&, Engine e, const Spec& s) { return control::cost(s.core_barrier_ns, e, s); }
  static int32_t tag(const Args& a) { return a.id; }
  static void exchange(const Args&, const CoreMemory&, const Args&, const CoreMemory&) {}

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"halves of a tensor", {.data = hbm(128, 512)}, ""},
        {"SBUF", {.data = sbuf(128, 512)}, "data must be in hbm, not sbuf"},
    };
  }
};

}  // namespace trn
