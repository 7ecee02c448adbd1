#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// fp32 throughout; accumulates in the registers that activation uses.
struct Activate2 {
  static constexpr std::string_view name = "activate2";
  static constexpr std::string_view doc = "dst = op((data op0 imm0) op1 imm1), optionally reduced along the free dims";
  static constexpr std::string_view source = "nki.isa.activate2; time as activation's on trn2 (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn3;
  static constexpr EngineSet engines{Engine::scalar};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Activation op = Activation::copy;
    Access data{};
    Operand imm0{}, imm1{};
    AluOp op0 = AluOp::bypass, op1 = AluOp::bypass;
    Operand relu_param{};
    bool reverse0 = false, reverse1 = false;
    AluOp reduce_op = AluOp::add;
    Access reduce_res{};
    ReduceCmd reduce_cmd = ReduceCmd::idle;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"op", &Args::op, "activation function"},
      Field{"data", &Args::data, "tile of the same size"},
      Field{"imm0", &Args::imm0, "immediate or [P, 1] tile"},
      Field{"imm1", &Args::imm1, "immediate or [P, 1] tile of imm0's dtype"},
      Field{"op0", &Args::op0, "multiply, add, subtract or bypass"},
      Field{"op1", &Args::op1, "after multiply: add, subtract or bypass; else bypass"},
      Field{"relu_param", &Args::relu_param, "prelu's slope for negative values: immediate or [P, 1] tile"},
      Field{"reverse0", &Args::reverse0, "imm0 op0 data"},
      Field{"reverse1", &Args::reverse1, "imm1 op1 (first result)"},
      Field{"reduce_op", &Args::reduce_op, "add, maximum, minimum, abs_max or abs_min"},
      Field{"reduce_res", &Args::reduce_res, "optional [P, 1] tile that gets the registers"},
      Field{"reduce_cmd", &Args::reduce_cmd, "idle, reset, reduce or reset_reduce"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
    for (const auto& [field, o] : {std::pair{"imm0", &a.imm0}, {"imm1", &a.imm1}, {"relu_param", &a.relu_param}})
      if (auto bad = scalar_operand(field, *o, a.data.partitions(), s)) return bad;
    if (a.imm0.is_tile() && a.imm1.is_tile() && a.imm0.tile.dtype != a.imm1.tile.dtype)
      return breaks(RuleKind::dtype, "imm0 is ", trn::name(a.imm0.tile.dtype), " but imm1 is ",
                    trn::name(a.imm1.tile.dtype));
    using enum AluOp;
    const bool known = (a.op0 == multiply && (a.op1 == add || a.op1 == subtract || a.op1 == bypass)) ||
                       ((a.op0 == add || a.op0 == subtract || a.op0 == bypass) && a.op1 == bypass);
    if (!known) return illegal("op0 ", trn::name(a.op0), " and op1 ", trn::name(a.op1), " are no pair of activate2");
    if (a.reverse0 && a.op0 == bypass) return illegal("reverse0 needs op0");
    if (a.reverse1 && a.op1 == bypass) return illegal("reverse1 needs op1");
    return accumulation(sums(a), {ReduceCmd::idle, ReduceCmd::reset, ReduceCmd::reduce, ReduceCmd::reset_reduce},
                        {add, maximum, minimum, abs_max, abs_min}, a.data.partitions(), s);
  }

  static Accumulation sums(const Args& a) {
    return {.cmd = a.reduce_cmd, .op = a.reduce_op, .result = a.reduce_res, .init = {}};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::activation(a.dst, a.data, a.op, a.reduce_res.present(), s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_activation(a.dst, a.op, a.data, {a.op0, a.imm0, a.reverse0}, {a.op1, a.imm1, a.reverse1}, a.relu_param, sums(a),
                   scalar_registers(m), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access out = sbuf(128, 64, fp, 512), x = sbuf(128, 64), column = sbuf(128, 1, fp, 8192);
    return {
        {"scale and shift",
         {.dst = out,
          .op = Activation::gelu,
          .data = x,
          .imm0 = number(2),
          .imm1 = number(0.5),
          .op0 = AluOp::multiply,
          .op1 = AluOp::subtract},
         ""},
        {"a leaky relu and its largest magnitude",
         {.dst = out,
          .op = Activation::prelu,
          .data = x,
          .relu_param = number(0.1),
          .reduce_op = AluOp::abs_max,
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::reset_reduce},
         ""},
        {"two sums", {.dst = out, .data = x, .op0 = AluOp::add, .op1 = AluOp::add}, "op0 add and op1 add are no pair"},
        {"nothing reversed", {.dst = out, .data = x, .reverse0 = true}, "reverse0 needs op0"},
        {"products",
         {.dst = out, .data = x, .reduce_op = AluOp::multiply, .reduce_cmd = ReduceCmd::reduce},
         "reduce_op must be add"},
    };
  }
};

}  // namespace trn
