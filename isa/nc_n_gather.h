#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct NcNGather {
  static constexpr std::string_view name = "nc_n_gather";
  static constexpr std::string_view doc = "dst[p, i] = data[p, indices[p, i]]";
  static constexpr std::string_view source = "nki.isa.nc_n_gather";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{}, indices{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data", &Args::data, ""},
      Field{"indices", &Args::indices, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
