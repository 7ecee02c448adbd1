#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct NcTranspose {
  static constexpr std::string_view name = "nc_transpose";
  static constexpr std::string_view doc = "dst = data.T (Tensor Engine: 128x128 into PSUM; Vector Engine: 32x32)";
  static constexpr std::string_view source = "nki.isa.nc_transpose";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::tensor, Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst, data;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data", &Args::data, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
