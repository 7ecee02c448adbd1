#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct AffineSelect {
  static constexpr std::string_view name = "affine_select";
  static constexpr std::string_view doc = "dst = (affine value of the position cmp_op 0) ? on_true_tile : on_false_value";
  static constexpr std::string_view source = "nki.isa.affine_select";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Pattern pattern{};
    int32_t channel_multiplier = 0;
    Access on_true_tile;
    float on_false_value = 0;
    AluOp cmp_op = AluOp::equal;
    int32_t offset = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"pattern", &Args::pattern, ""},
      Field{"channel_multiplier", &Args::channel_multiplier, ""},
      Field{"on_true_tile", &Args::on_true_tile, ""},
      Field{"on_false_value", &Args::on_false_value, ""},
      Field{"cmp_op", &Args::cmp_op, ""},
      Field{"offset", &Args::offset, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
