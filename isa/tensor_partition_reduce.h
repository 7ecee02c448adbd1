#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct TensorPartitionReduce {
  static constexpr std::string_view name = "tensor_partition_reduce";
  static constexpr std::string_view doc = "dst = data reduced by op across partitions";
  static constexpr std::string_view source = "nki.isa.tensor_partition_reduce";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    AluOp op = AluOp::add;
    Access data{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"op", &Args::op, ""},
      Field{"data", &Args::data, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
