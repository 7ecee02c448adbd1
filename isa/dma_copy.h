#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct DmaCopy {
  static constexpr std::string_view name = "dma_copy";
  static constexpr std::string_view doc = "dst = src between HBM and SBUF; rows of one side may be chosen by index";
  static constexpr std::string_view source = "nki.isa.dma_copy";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::scalar, Engine::gpsimd, Engine::sync, Engine::tensor};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst, src;
    Access index;
    bool index_selects_dst = false;
    OobMode oob_mode = OobMode::error;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"src", &Args::src, ""},
      Field{"index", &Args::index, ""},
      Field{"index_selects_dst", &Args::index_selects_dst, ""},
      Field{"oob_mode", &Args::oob_mode, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
