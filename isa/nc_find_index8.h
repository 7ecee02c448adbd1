#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct NcFindIndex8 {
  static constexpr std::string_view name = "nc_find_index8";
  static constexpr std::string_view doc = "dst[i] = index of the first element of data equal to vals[i]";
  static constexpr std::string_view source = "nki.isa.nc_find_index8";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{}, vals{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data", &Args::data, ""},
      Field{"vals", &Args::vals, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
