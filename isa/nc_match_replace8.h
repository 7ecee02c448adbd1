#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct NcMatchReplace8 {
  static constexpr std::string_view name = "nc_match_replace8";
  static constexpr std::string_view doc = "dst = data with the first match of each of the 8 vals replaced by imm";
  static constexpr std::string_view source = "nki.isa.nc_match_replace8";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{}, vals{};
    float imm = 0;
    Access dst_idx{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data", &Args::data, ""},
      Field{"vals", &Args::vals, ""},
      Field{"imm", &Args::imm, ""},
      Field{"dst_idx", &Args::dst_idx, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
