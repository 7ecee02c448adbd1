#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

struct AffineSelect {
  static constexpr std::string_view name = "affine_select";
  static constexpr std::string_view doc =
      "dst = (affine value of the position cmp_op 0) ? on_true_tile : on_false_value";
  static constexpr std::string_view source = "nki.isa.affine_select; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Pattern pattern{};
    int32_t channel_multiplier = 0;
    Access on_true_tile{};
    float on_false_value = 0;
    AluOp cmp_op = AluOp::equal;
    int32_t offset = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF tile"},
      Field{"pattern", &Args::pattern, "[[step, count], ...], outermost first, as in iota"},
      Field{"channel_multiplier", &Args::channel_multiplier, "added per partition"},
      Field{"on_true_tile", &Args::on_true_tile, "SBUF tile of the same size"},
      Field{"on_false_value", &Args::on_false_value, "where the comparison fails"},
      Field{"cmp_op", &Args::cmp_op, "comparison with 0"},
      Field{"offset", &Args::offset, "first affine value"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = in_space("on_true_tile", a.on_true_tile, Space::sbuf)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("on_true_tile", a.on_true_tile, s)) return bad;
    if (auto bad = same_size("on_true_tile", a.on_true_tile, "dst", a.dst)) return bad;
    if (auto bad = pattern_covers("pattern", a.pattern, "dst", a.dst)) return bad;
    if (a.cmp_op < AluOp::equal || a.cmp_op > AluOp::less)
      return illegal("cmp_op must be a comparison, not ", trn::name(a.cmp_op));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_affine_select(a.dst, {a.pattern, a.offset, a.channel_multiplier}, a.on_true_tile, a.on_false_value, a.cmp_op,
                      m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access out = sbuf(128, 128, Dtype::float32, 512), x = sbuf(128, 128);
    return {
        {"causal mask", {out, pattern({{-1, 128}}), 1, x, -1e30f, AluOp::greater_equal, 0}, ""},
        {"another size", {out, pattern({{-1, 127}}), 1, x, 0, AluOp::greater_equal, 0}, "pattern has 127 elements"},
        {"no comparison", {out, pattern({{-1, 128}}), 1, x, 0, AluOp::add, 0}, "cmp_op must be a comparison"},
        {"PSUM", {out, pattern({{-1, 128}}), 1, psum(128, 128), 0, AluOp::equal, 0}, "on_true_tile must be in sbuf"},
    };
  }
};

}  // namespace trn
