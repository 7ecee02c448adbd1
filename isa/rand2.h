#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/random_kernels.h"
#include "isa/rules.h"

namespace trn {

struct Rand2 {
  static constexpr std::string_view name = "rand2";
  static constexpr std::string_view doc = "dst = uniform random numbers from min to max";
  static constexpr std::string_view source =
      "nki.isa.rand2; trainium3_arch (xorwow, four words a cycle); how a word becomes a float assumed";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn3;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Operand min{};
    Operand max{.tile = {}, .immediate = 1};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF or PSUM tile; fp32 until it is written"},
                                     Field{"min", &Args::min, "immediate or [P, 1] float32 tile"},
                                     Field{"max", &Args::max, "immediate or [P, 1] float32 tile, above min"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    for (const auto& [field, bound] : {std::pair{"min", &a.min}, {"max", &a.max}}) {
      if (auto bad = scalar_operand(field, *bound, a.dst.partitions(), s)) return bad;
      if (bound->is_tile() && bound->tile.dtype != Dtype::float32)
        return breaks(RuleKind::dtype, field, " must be float32, not ", trn::name(bound->tile.dtype));
    }
    if (!a.min.is_tile() && !a.max.is_tile() && !(a.min.immediate < a.max.immediate))
      return illegal("min must be below max");
    return {};
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) { return random_cost(a.dst, e, s, s.vector_rate_random); }

  static void run(const Args& a, const CoreMemory& m) { run_uniform(a.dst, a.min, a.max, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"from 0 to 1", {.dst = sbuf(128, 512)}, ""},
        {"bounds per partition",
         {sbuf(64, 30, Dtype::bfloat16), {sbuf(64, 1, Dtype::float32, 8192)}, {sbuf(64, 1, Dtype::float32, 8196)}},
         ""},
        {"nothing between", {sbuf(128, 512), number(2), number(2)}, "min must be below max"},
        {"an integer bound", {sbuf(128, 512), {sbuf(128, 1, Dtype::int32, 8192)}, number(9)}, "min must be float32"},
    };
  }
};

}  // namespace trn
