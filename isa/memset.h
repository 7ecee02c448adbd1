#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

struct Memset {
  static constexpr std::string_view name = "memset";
  static constexpr std::string_view doc = "dst = value";
  static constexpr std::string_view source = "nki.isa.memset; time as a tensor_copy from SBUF (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    double value = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile (GpSimd: SBUF only)"},
      Field{"value", &Args::value, "rounded to dst's dtype; whole numbers into integers exactly"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = packed_tile("dst", a.dst, s, false)) return bad;
    if (is_packed(a.dst.dtype) && a.value != 0)
      return breaks(RuleKind::dtype, "value must be 0 for packed ", trn::name(a.dst.dtype));
    return engine_reach(e, {&a.dst});
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) {
    if (e == Engine::gpsimd) return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
    return engine_cost::copy_on_vector(a.dst, a.dst, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_fill(a.dst, a.value, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"zeros", {sbuf(128, 512, Dtype::bfloat16), 0}, ""},
        {"an integer that fp32 cannot hold", {sbuf(32, 4, Dtype::int32), 16777217}, ""},
        {"packed zeros", {sbuf(128, 512, Dtype::float8_e4m3fn_x4), 0}, ""},
        {"packed ones", {sbuf(128, 512, Dtype::float8_e4m3fn_x4), 1}, "value must be 0 for packed"},
        {"HBM", {hbm(128, 512), 0}, "dst must be a tile"},
        {"written twice", {.dst = repeated(sbuf(128, 4), 3)}, "dst dim 1 has step 0"},
    };
  }
};

}  // namespace trn
