#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct LocalGather {
  static constexpr std::string_view name = "local_gather";
  static constexpr std::string_view doc = "dst = src_buffer's elements at index, by groups of 16 partitions";
  static constexpr std::string_view source = "nki.isa.local_gather";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src_buffer{}, index{};
    int32_t num_elem_per_idx = 1;
    int32_t num_valid_indices = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"src_buffer", &Args::src_buffer, ""},
      Field{"index", &Args::index, ""},
      Field{"num_elem_per_idx", &Args::num_elem_per_idx, ""},
      Field{"num_valid_indices", &Args::num_valid_indices, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
