#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct TensorTensor {
  static constexpr std::string_view name = "tensor_tensor";
  static constexpr std::string_view doc = "dst = data1 op data2";
  static constexpr std::string_view source = "nki.isa.tensor_tensor";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst, data1, data2;
    AluOp op = AluOp::add;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data1", &Args::data1, ""},
      Field{"data2", &Args::data2, ""},
      Field{"op", &Args::op, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
