#pragma once
#include <tuple>
#include <vector>

#include "isa/activation_rules.h"
#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// fp32 throughout; scale and bias are two roundings. Sums are of the fp32 results before they are rounded to dst's
// dtype, kept in Scalar's registers (one per partition) until another instruction resets them.
struct Activate {
  static constexpr std::string_view name = "activation";
  static constexpr std::string_view doc = "dst = op(data * scale + bias), optionally summed along the free dims";
  static constexpr std::string_view source = "nki.isa.activation; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::scalar};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Activation op = Activation::copy;
    Access data{};
    Operand bias{};
    Operand scale{.tile = {}, .immediate = 1};
    AluOp reduce_op = AluOp::add;
    Access reduce_res{};
    ReduceCmd reduce_cmd = ReduceCmd::idle;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"op", &Args::op, "activation function"},
      Field{"data", &Args::data, "tile of the same size"},
      Field{"bias", &Args::bias, "immediate or [P, 1] tile, added before the function"},
      Field{"scale", &Args::scale, "immediate or [P, 1] float32 tile, multiplied first"},
      Field{"reduce_op", &Args::reduce_op, "add"},
      Field{"reduce_res", &Args::reduce_res, "optional [P, 1] tile that gets the registers"},
      Field{"reduce_cmd", &Args::reduce_cmd, "idle, reset, reduce (onto what the registers hold) or reset_reduce"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = activation_operands(a, name, s)) return bad;
    using enum ReduceCmd;
    return accumulation(sums(a), {idle, reset, reduce, reset_reduce}, {AluOp::add}, a.data.partitions(), s);
  }

  static Accumulation sums(const Args& a) {
    return {.cmd = a.reduce_cmd, .op = a.reduce_op, .result = a.reduce_res, .init = {}};
  }

  // Reading the accumulators costs another short instruction (nki.isa.activation: "a small overhead").
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
        {"exp from PSUM", {.dst = out, .op = Activation::exp, .data = psum(128, 64)}, ""},
        {"scale and bias per partition",
         {.dst = out, .op = Activation::tanh, .data = in, .bias = {column}, .scale = {sbuf(128, 1, fp, 8196)}},
         ""},
        {"with sums",
         {.dst = out,
          .op = Activation::square,
          .data = in,
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::reset_reduce},
         ""},
        {"a bfloat16 scale",
         {.dst = out, .data = in, .scale = {sbuf(128, 1, Dtype::bfloat16, 8192)}},
         "scale must be float32"},
        {"a maximum",
         {.dst = out,
          .data = in,
          .reduce_op = AluOp::maximum,
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::reset_reduce},
         "reduce_op must be add"},
        {"onto sums kept by an earlier one", {.dst = out, .data = in, .reduce_cmd = ReduceCmd::reduce}, ""},
        {"a value loaded",
         {.dst = out, .data = in, .reduce_cmd = ReduceCmd::load_reduce},
         "reduce_cmd must be one of idle, reset, reduce, reset_reduce"},
        {"prelu", {.dst = out, .op = Activation::prelu, .data = in}, "op prelu"},
        {"sizes differ", {.dst = out, .data = sbuf(128, 65)}, "data has 65 elements"},
    };
  }
};

}  // namespace trn
