#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct DmaTranspose {
  static constexpr std::string_view name = "dma_transpose";
  static constexpr std::string_view doc = "dst[p, f] = src[f, p]";
  static constexpr std::string_view source = "nki.isa.dma_transpose";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::sync, Engine::scalar, Engine::gpsimd};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst, src;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"src", &Args::src, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
