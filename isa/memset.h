#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct Memset {
  static constexpr std::string_view name = "memset";
  static constexpr std::string_view doc = "dst = value";
  static constexpr std::string_view source = "nki.isa.memset";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst;
    double value = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"value", &Args::value, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
