#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct Max8 {
  static constexpr std::string_view name = "max8";
  static constexpr std::string_view doc = "dst = the 8 largest values of each partition, descending";
  static constexpr std::string_view source = "nki.isa.max8";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
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
