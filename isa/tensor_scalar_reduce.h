#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// The reduction is of the fp32 results, before they are rounded to dst's dtype, in Vector's registers.
struct TensorScalarReduce {
  static constexpr std::string_view name = "tensor_scalar_reduce";
  static constexpr std::string_view doc =
      "dst = data op0 operand0; reduce_res = dst reduced by reduce_op along the free dims";
  static constexpr std::string_view source =
      "nki.isa.tensor_scalar_reduce; time as tensor_scalar, and a short instruction to read the sums (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
    AluOp op0 = AluOp::add;
    Operand operand0{};
    AluOp reduce_op = AluOp::add;
    Access reduce_res{};
    bool reverse0 = false;
    ReduceCmd reduce_cmd = ReduceCmd::reset_reduce;
    Operand reduce_init{};
    bool reduce_res_negate = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"data", &Args::data, "tile of the same size"},
      Field{"op0", &Args::op0, "arithmetic operator"},
      Field{"operand0", &Args::operand0, "immediate or [P, 1] float32 tile"},
      Field{"reduce_op", &Args::reduce_op, "add, multiply, maximum or minimum"},
      Field{"reduce_res", &Args::reduce_res, "optional [P, 1] tile that gets the registers"},
      Field{"reverse0", &Args::reverse0, "not supported by AWS yet: false"},
      Field{"reduce_cmd", &Args::reduce_cmd, "reset_reduce, reduce, or load_reduce to start from reduce_init"},
      Field{"reduce_init", &Args::reduce_init, "immediate or [P, 1] float32 tile"},
      Field{"reduce_res_negate", &Args::reduce_res_negate, "write the negative"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
    if (auto bad = scalar_operand("operand0", a.operand0, a.dst.partitions(), s)) return bad;
    if (auto bad = alu_with_scalar("op0", a.op0, "operand0", a.operand0, e, a.dst.dtype, a.data.dtype)) return bad;
    if (info(a.op0).is_bitvec) return illegal("op0 must be arithmetic, not ", trn::name(a.op0));
    if (a.reverse0)
      return Complaint{Fault::unsupported, "reverse0: nki.isa.tensor_scalar_reduce does not support it yet"};
    using enum ReduceCmd;
    const auto ops = {AluOp::add, AluOp::multiply, AluOp::maximum, AluOp::minimum};
    if (auto bad = accumulation(sums(a), {reset_reduce, reduce, load_reduce}, ops, a.dst.partitions(), s)) return bad;
    const bool loads = a.reduce_init.is_tile() || a.reduce_init.immediate != 0;
    if (loads && a.reduce_cmd != load_reduce) return illegal("reduce_init is for reduce_cmd load_reduce");
    return {};
  }

  static Accumulation sums(const Args& a) {
    return {a.reduce_cmd, a.reduce_op, a.reduce_res, a.reduce_init, a.reduce_res_negate};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    Cost c = engine_cost::vector(engine_cost::vector_cycles(a.dst, a.data, s), s.vector_scalar_latency_ns,
                                 s.vector_scalar_overhead_ns, s);
    if (!a.reduce_res.present()) return c;
    c.busy += s.vector_min_cycles;
    c.latency += s.vector_min_cycles;
    return c;
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_tensor_scalar_reduce(a.dst, a.data, {a.op0, a.operand0, false}, sums(a), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access out = sbuf(128, 64, fp, 512), x = sbuf(128, 64), column = sbuf(128, 1, fp, 8192);
    return {
        {"a sum", {.dst = out, .data = x, .op0 = AluOp::multiply, .operand0 = number(2), .reduce_res = column}, ""},
        {"going on from a value",
         {.dst = out,
          .data = x,
          .op0 = AluOp::add,
          .operand0 = number(1),
          .reduce_op = AluOp::maximum,
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::load_reduce,
          .reduce_init = {sbuf(128, 1, fp, 8196)},
          .reduce_res_negate = true},
         ""},
        {"bits",
         {.dst = sbuf(128, 64, Dtype::uint8, 512),
          .data = sbuf(128, 64, Dtype::uint8),
          .op0 = AluOp::bitwise_and,
          .operand0 = number(1),
          .reduce_res = column},
         "op0 must be arithmetic"},
        {"a comparison", {.dst = out, .data = x, .reduce_op = AluOp::less, .reduce_res = column}, "reduce_op must be"},
        {"onto kept registers", {.dst = out, .data = x, .reduce_res = column, .reduce_cmd = ReduceCmd::reduce}, ""},
        {"idle", {.dst = out, .data = x, .reduce_cmd = ReduceCmd::idle}, "reduce_cmd must be one of"},
        {"a value that nothing loads",
         {.dst = out, .data = x, .reduce_res = column, .reduce_init = number(1)},
         "reduce_init is for"},
    };
  }
};

}  // namespace trn
