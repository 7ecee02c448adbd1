#pragma once
#include <tuple>
#include <vector>

#include "isa/examples.h"
#include "isa/random_kernels.h"
#include "isa/rules.h"

namespace trn {

// Vector before NeuronCore-v4: a stand-in generator (random.h), because the hardware's is not public; GpSimd: xorwow.
struct Rng {
  static constexpr std::string_view name = "rng";
  static constexpr std::string_view doc = "dst = 32 random bits per element, the least significant ones kept";
  static constexpr std::string_view source =
      "nki.isa.rng; Vector's shift register and every interval assumed, xorwow from Marsaglia 2003";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "int8, int16, int32, uint8, uint16 or uint32 tile (GpSimd: SBUF only)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (e == Engine::gpsimd && s.generation < Generation::trn2)
      return illegal("gpsimd draws random numbers from trn2 (NeuronCore-v3) on; this machine is ", s.name);
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = engine_reach(e, {&a.dst})) return bad;
    if (!is_integer(a.dst.dtype))
      return breaks(RuleKind::dtype, "dst must be of an integer dtype, not ", trn::name(a.dst.dtype));
    return {};
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) { return random_cost(a.dst, e, s, s.vector_rate_random); }

  static void run(const Args& a, Engine e, const CoreMemory& m) { run_rng(a.dst, e, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"words", {sbuf(128, 512, Dtype::uint32)}, ""},
        {"bytes into PSUM", {psum(32, 100, Dtype::uint8)}, ""},
        {"floats", {sbuf(128, 512)}, "dst must be of an integer dtype"},
        {"HBM", {hbm(128, 512, Dtype::uint32)}, "dst must be a tile"},
    };
  }
};

}  // namespace trn
