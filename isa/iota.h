#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct Iota {
  static constexpr std::string_view name = "iota";
  static constexpr std::string_view doc = "dst = offset + partition * channel_multiplier + affine pattern of the free index";
  static constexpr std::string_view source = "nki.isa.iota";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst;
    Pattern pattern{};
    int32_t offset = 0;
    int32_t channel_multiplier = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"pattern", &Args::pattern, ""},
      Field{"offset", &Args::offset, ""},
      Field{"channel_multiplier", &Args::channel_multiplier, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
