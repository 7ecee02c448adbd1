#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/mx.h"
#include "isa/rules.h"

namespace trn {

// A group with an infinity or NaN gets the scale NaN (assumed: the page is silent).
struct QuantizeMx {
  static constexpr std::string_view name = "quantize_mx";
  static constexpr std::string_view doc =
      "dst, dst_scale = src as scaled float8, a scale for 8 partitions x 4 elements";
  static constexpr std::string_view source =
      "nki.isa.quantize_mx; trainium3_arch (four elements a cycle); overheads as tensor_copy's (assumed)";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn3;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{}, dst_scale{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF [P, F / 4] of float8_e5m2_x4 or float8_e4m3fn_x4"},
      Field{"src", &Args::src, "SBUF [P, F] float16 or bfloat16, P a multiple of 32, F of 4"},
      Field{"dst_scale", &Args::dst_scale, "SBUF float8_e8m0fnu or uint8: 4 rows a quadrant, F / 4 columns"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("src", a.src, Space::sbuf)) return bad;
    if (auto bad = tile("src", a.src, s)) return bad;
    if (auto bad = mx_pair("dst", a.dst, "dst_scale", a.dst_scale, s, false)) return bad;
    if (a.src.dtype != Dtype::float16 && a.src.dtype != Dtype::bfloat16)
      return breaks(RuleKind::dtype, "src must be float16 or bfloat16, not ", trn::name(a.src.dtype));
    if (a.dst.dtype == Dtype::float4_e2m1fn_x4)
      return breaks(RuleKind::dtype, "dst must be of float8, not float4_e2m1fn_x4");
    if (a.src.partitions() != a.dst.partitions() || a.src.free_elements() != 4 * a.dst.free_elements())
      return breaks(RuleKind::shape, "src is [", a.src.partitions(), ", ", a.src.free_elements(), "], not [",
                    a.dst.partitions(), ", ", 4 * a.dst.free_elements(), "]");
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.src.free_elements()) / s.vector_rate_16bit,
                               s.vector_copy_latency_ns, s.vector_copy_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_quantize(a.dst, a.src, a.dst_scale, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto f8 = Dtype::float8_e4m3fn_x4, e8 = Dtype::float8_e8m0fnu, bf = Dtype::bfloat16;
    const Access x = sbuf(128, 64, bf), out = sbuf(128, 16, f8, 512), scale = sbuf(100, 16, e8, 1024);
    return {
        {"a tile", {out, x, scale}, ""},
        {"float32", {out, sbuf(128, 64), scale}, "src must be float16 or bfloat16"},
        {"float4", {sbuf(128, 16, Dtype::float4_e2m1fn_x4, 512), x, scale}, "dst must be of float8"},
        {"a scale for each partition", {out, x, sbuf(128, 16, e8, 1024)}, "dst_scale has 128 partitions, not 100"},
        {"more elements", {out, sbuf(128, 68, bf), scale}, "src is [128, 68], not [128, 64]"},
    };
  }
};

}  // namespace trn
