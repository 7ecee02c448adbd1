#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/random_kernels.h"
#include "isa/rules.h"

namespace trn {

struct RandGetState {
  static constexpr std::string_view name = "rand_get_state";
  static constexpr std::string_view doc = "dst = the state of the engine's random numbers";
  static constexpr std::string_view source = "nki.isa.rand_get_state; the order of the words and the interval assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "uint32 tile: [P, 6] on GpSimd, [P, 24] (four states) on Vector, which is trn3's"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    return random_state("dst", a.dst, e, s, false);
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) { return random_cost(a.dst, e, s); }

  static void run(const Args& a, Engine e, const CoreMemory& m) { run_get_state(a.dst, e, m); }

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
