#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct NcStreamShuffle {
  static constexpr std::string_view name = "nc_stream_shuffle";
  static constexpr std::string_view doc = "dst[p] = src[shuffle_mask[p]] within each 32 partitions";
  static constexpr std::string_view source = "nki.isa.nc_stream_shuffle";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
    ShuffleMask shuffle_mask{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"src", &Args::src, ""},
      Field{"shuffle_mask", &Args::shuffle_mask, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
