#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct DmaCompute {
  static constexpr std::string_view name = "dma_compute";
  static constexpr std::string_view doc = "dst = src0 op src1, or read-modify-write of rows chosen by index";
  static constexpr std::string_view source = "nki.isa.dma_compute";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd, Engine::sync, Engine::scalar};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst, src0, src1;
    Access index;
    AluOp reduce_op = AluOp::add;
    bool unique_indices = true;
    OobMode oob_mode = OobMode::error;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"src0", &Args::src0, ""},
      Field{"src1", &Args::src1, ""},
      Field{"index", &Args::index, ""},
      Field{"reduce_op", &Args::reduce_op, ""},
      Field{"unique_indices", &Args::unique_indices, ""},
      Field{"oob_mode", &Args::oob_mode, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
