#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct NcMatmul {
  static constexpr std::string_view name = "nc_matmul";
  static constexpr std::string_view doc = "dst (+)= stationary.T @ moving";
  static constexpr std::string_view source = "nki.isa.nc_matmul; trn2.md";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::tensor};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst, stationary, moving;
    bool is_stationary_onezero = false;
    bool is_moving_onezero = false;
    bool is_transpose = false;
    bool accumulate = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"stationary", &Args::stationary, ""},
      Field{"moving", &Args::moving, ""},
      Field{"is_stationary_onezero", &Args::is_stationary_onezero, ""},
      Field{"is_moving_onezero", &Args::is_moving_onezero, ""},
      Field{"is_transpose", &Args::is_transpose, ""},
      Field{"accumulate", &Args::accumulate, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
