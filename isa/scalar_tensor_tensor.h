#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct ScalarTensorTensor {
  static constexpr std::string_view name = "scalar_tensor_tensor";
  static constexpr std::string_view doc = "dst = (data op0 operand0) op1 operand1";
  static constexpr std::string_view source = "nki.isa.scalar_tensor_tensor";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst, data;
    AluOp op0 = AluOp::add;
    Operand operand0;
    AluOp op1 = AluOp::add;
    Access operand1;
    bool reverse0 = false;
    bool reverse1 = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data", &Args::data, ""},
      Field{"op0", &Args::op0, ""},
      Field{"operand0", &Args::operand0, ""},
      Field{"op1", &Args::op1, ""},
      Field{"operand1", &Args::operand1, ""},
      Field{"reverse0", &Args::reverse0, ""},
      Field{"reverse1", &Args::reverse1, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
