#pragma once
#include <tuple>
#include <vector>

#include "isa/activation_rules.h"
#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Same as activation with reset_reduce: the sum is of the fp32 results, and stays in Scalar's registers.
struct ActivationReduce {
  static constexpr std::string_view name = "activation_reduce";
  static constexpr std::string_view doc = "dst = op(data * scale + bias); reduce_res = sum of dst along the free dims";
  static constexpr std::string_view source = "nki.isa.activation_reduce; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::scalar};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Activation op = Activation::copy;
    Access data{};
    AluOp reduce_op = AluOp::add;
    Access reduce_res{};
    Operand bias{};
    Operand scale{.tile = {}, .immediate = 1};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"op", &Args::op, "activation function"},
      Field{"data", &Args::data, "tile of the same size"},
      Field{"reduce_op", &Args::reduce_op, "add"},
      Field{"reduce_res", &Args::reduce_res, "[P, 1] tile for the sums; absent: the registers keep them"},
      Field{"bias", &Args::bias, "immediate or [P, 1] tile, added before the function"},
      Field{"scale", &Args::scale, "immediate or [P, 1] float32 tile, multiplied first"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = activation_operands(a, name, s)) return bad;
    return accumulation(sums(a), {ReduceCmd::reset_reduce}, {AluOp::add}, a.data.partitions(), s);
  }

  static Accumulation sums(const Args& a) {
    return {.cmd = ReduceCmd::reset_reduce, .op = a.reduce_op, .result = a.reduce_res, .init = {}};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::activation(a.dst, a.data, a.op, a.reduce_res.present(), s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_activation(a.dst, a.op, a.data, multiply_by(a.scale), add_to(a.bias), {}, sums(a), scalar_registers(m), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access out = sbuf(128, 64, fp, 512), in = sbuf(128, 64), column = sbuf(128, 1, fp, 8192);
    return {
        {"softmax's numerators",
         {.dst = out, .op = Activation::exp, .data = in, .reduce_res = column, .bias = {sbuf(128, 1, fp, 8196)}},
         ""},
        {"sums kept in the registers", {.dst = out, .op = Activation::exp, .data = in}, ""},
        {"a maximum",
         {.dst = out, .data = in, .reduce_op = AluOp::maximum, .reduce_res = column},
         "reduce_op must be add"},
        {"a tfloat32 bias",
         {.dst = out, .data = in, .reduce_res = column, .bias = {sbuf(128, 1, Dtype::tfloat32, 8196)}},
         "bias may not be tfloat32"},
        {"two columns",
         {.dst = out, .data = in, .reduce_res = sbuf(128, 2, fp, 8192)},
         "reduce_res must have 1 element"},
    };
  }
};

}  // namespace trn
