#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/random_kernels.h"
#include "isa/rules.h"

namespace trn {

struct RandSetState {
  static constexpr std::string_view name = "rand_set_state";
  static constexpr std::string_view doc = "the engine's random numbers go on from src_seeds, a state per partition";
  static constexpr std::string_view source = "nki.isa.rand_set_state; the order of the words and the interval assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access src_seeds{};
  };
  static constexpr std::tuple fields{
      Field{"src_seeds", &Args::src_seeds,
            "uint32 SBUF tile: [P, 6] on GpSimd, [P, 24] (four states) on Vector, which is trn3's"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("src_seeds", a.src_seeds, Space::sbuf)) return bad;
    return random_state("src_seeds", a.src_seeds, e, s, true);
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) { return random_cost(a.src_seeds, e, s); }

  static void run(const Args& a, Engine e, const CoreMemory& m) { run_set_state(a.src_seeds, e, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"xorwow's six words", {sbuf(128, 6, Dtype::uint32)}, ""},
        {"Vector's four states on trn2", {sbuf(128, 24, Dtype::uint32)}, "Vector's random state"},
        {"signed", {sbuf(128, 6, Dtype::int32)}, "Vector's random state"},
    };
  }
};

}  // namespace trn
