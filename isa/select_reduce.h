#pragma once
#include <tuple>
#include <vector>

#include "isa/operands.h"

namespace trn {

struct SelectReduce {
  static constexpr std::string_view name = "select_reduce";
  static constexpr std::string_view doc = "dst = predicate ? on_true : on_false, optionally with the maximum of each partition";
  static constexpr std::string_view source = "nki.isa.select_reduce";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, predicate{}, on_true{};
    Operand on_false{};
    Access reduce_res{};
    ReduceCmd reduce_cmd = ReduceCmd::idle;
    AluOp reduce_op = AluOp::maximum;
    bool reverse_pred = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, ""},
      Field{"predicate", &Args::predicate, ""},
      Field{"on_true", &Args::on_true, ""},
      Field{"on_false", &Args::on_false, ""},
      Field{"reduce_res", &Args::reduce_res, ""},
      Field{"reduce_cmd", &Args::reduce_cmd, ""},
      Field{"reduce_op", &Args::reduce_op, ""},
      Field{"reverse_pred", &Args::reverse_pred, ""}};

  static Verdict check(const Args&, Engine, const Spec&) { return {}; }
  static Cost cost(const Args&, Engine, const Spec&) { throw Error(Fault::internal, "card under construction"); }
  static void run(const Args&, const CoreMemory&) { throw Error(Fault::internal, "card under construction"); }
  static std::vector<Example<Args>> examples() { return {}; }
};

}  // namespace trn
