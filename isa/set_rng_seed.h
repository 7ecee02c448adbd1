#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/random_kernels.h"
#include "isa/rules.h"

namespace trn {

// The same seed gives the same words; how it becomes a state per partition is assumed (random.h).
struct SetRngSeed {
  static constexpr std::string_view name = "set_rng_seed";
  static constexpr std::string_view doc = "Vector's random numbers start anew from src_seeds";
  static constexpr std::string_view source = "nki.isa.set_rng_seed; the state it gives and the interval assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access src_seeds{};
  };
  static constexpr std::tuple fields{Field{"src_seeds", &Args::src_seeds, "[1, 1] tile of a 32-bit dtype"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = column("src_seeds", a.src_seeds, 1, s)) return bad;
    if (size_of(a.src_seeds.dtype) != 4)
      return breaks(RuleKind::dtype, "src_seeds must have 32 bits, not ", trn::name(a.src_seeds.dtype));
    return {};
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) { return random_cost(a.src_seeds, e, s); }

  static void run(const Args& a, const CoreMemory& m) { run_set_seed(a.src_seeds, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"a seed", {sbuf(1, 1, Dtype::uint32)}, ""},
        {"a seed per partition", {sbuf(128, 1, Dtype::uint32)}, "src_seeds has 128 partitions, not 1"},
        {"16 bits", {sbuf(1, 1, Dtype::uint16)}, "src_seeds must have 32 bits"},
    };
  }
};

}  // namespace trn
