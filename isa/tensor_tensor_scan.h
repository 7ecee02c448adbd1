#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct TensorTensorScan {
  static constexpr std::string_view name = "tensor_tensor_scan";
  static constexpr std::string_view doc = "dst[i] = (data0[i] op0 dst[i-1]) op1 data1[i]";
  static constexpr std::string_view source = "nki.isa.tensor_tensor_scan";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data0{}, data1{};
    Operand initial{};
    AluOp op0 = AluOp::multiply;
    AluOp op1 = AluOp::add;
    bool reverse0 = false;
    bool reverse1 = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"data0", &Args::data0, ""},
      Field{"data1", &Args::data1, ""},
      Field{"initial", &Args::initial, ""},
      Field{"op0", &Args::op0, ""},
      Field{"op1", &Args::op1, ""},
      Field{"reverse0", &Args::reverse0, ""},
      Field{"reverse1", &Args::reverse1, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
