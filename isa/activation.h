#pragma once
#include <tuple>
#include <vector>

#include "isa/activation_functions.h"
#include "isa/operands.h"

namespace trn {

struct Activate {
  static constexpr std::string_view name = "activation";
  static constexpr std::string_view doc = "dst = op(data * scale + bias), optionally summed along the free dims";
  static constexpr std::string_view source = "nki.isa.activation";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::scalar};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst;
    Activation op = Activation::copy;
    Access data;
    Operand bias;
    Operand scale{.tile = {}, .immediate = 1};
    AluOp reduce_op = AluOp::add;
    Access reduce_res;
    ReduceCmd reduce_cmd = ReduceCmd::idle;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"op", &Args::op, ""},
      Field{"data", &Args::data, ""},
      Field{"bias", &Args::bias, ""},
      Field{"scale", &Args::scale, ""},
      Field{"reduce_op", &Args::reduce_op, ""},
      Field{"reduce_res", &Args::reduce_res, ""},
      Field{"reduce_cmd", &Args::reduce_cmd, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
