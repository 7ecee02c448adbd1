#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Strictly in order in fp32; the last value stays in Vector's registers.
struct TensorScalarCumulative {
  static constexpr std::string_view name = "tensor_scalar_cumulative";
  static constexpr std::string_view doc = "dst[i] = (src[i] op0 imm0) op1 dst[i-1]";
  static constexpr std::string_view source = "nki.isa.tensor_scalar_cumulative; time as tensor_tensor_scan (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
    AluOp op0 = AluOp::add;
    AluOp op1 = AluOp::add;
    Operand imm0{};
    Operand imm1{};
    ReduceCmd reduce_cmd = ReduceCmd::reset_reduce;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"src", &Args::src, "tile of the same size"},
      Field{"op0", &Args::op0, "arithmetic operator"},
      Field{"op1", &Args::op1, "add, subtract, multiply, maximum or minimum"},
      Field{"imm0", &Args::imm0, "immediate or [P, 1] float32 tile"},
      Field{"imm1", &Args::imm1, "start value for load_reduce: immediate or [P, 1] float32 tile"},
      Field{"reduce_cmd", &Args::reduce_cmd, "reset_reduce (start from op1's neutral value), reduce or load_reduce"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("src", a.src, s)) return bad;
    if (auto bad = same_size("src", a.src, "dst", a.dst)) return bad;
    for (const Dtype d : {a.dst.dtype, a.src.dtype})
      if (d == Dtype::int32 || d == Dtype::uint32)
        return breaks(RuleKind::dtype, "dst and src may not be ", trn::name(d));
    if (auto bad = scalar_operand("imm0", a.imm0, a.dst.partitions(), s)) return bad;
    if (auto bad = scalar_operand("imm1", a.imm1, a.dst.partitions(), s)) return bad;
    if (auto bad = alu_with_scalar("op0", a.op0, "imm0", a.imm0, e, a.dst.dtype, a.src.dtype)) return bad;
    if (info(a.op0).is_bitvec) return illegal("op0 must be arithmetic, not ", trn::name(a.op0));
    const bool known = a.op1 == AluOp::add || a.op1 == AluOp::subtract || a.op1 == AluOp::multiply ||
                       a.op1 == AluOp::maximum || a.op1 == AluOp::minimum;
    if (!known) return illegal("op1 must be add, subtract, multiply, maximum or minimum, not ", trn::name(a.op1));
    using enum ReduceCmd;
    const Accumulation state{.cmd = a.reduce_cmd, .op = a.op1, .result = {}, .init = a.imm1};
    return accumulation(state, {reset_reduce, reduce, load_reduce}, {a.op1}, a.dst.partitions(), s);
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.dst.free_elements()) * s.vector_scan_cycles_per_element,
                               s.vector_tensor_latency_ns, s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    const Accumulation state{.cmd = a.reduce_cmd, .op = a.op1, .result = {}, .init = a.imm1};
    run_cumulative(a.dst, a.src, {a.op0, a.imm0, false}, state, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access out = sbuf(128, 64, Dtype::float32, 512), x = sbuf(128, 64);
    return {
        {"running sum of squares' neighbour", {.dst = out, .src = x, .op0 = AluOp::multiply, .imm0 = number(2)}, ""},
        {"running maximum from a value",
         {.dst = out, .src = x, .op1 = AluOp::maximum, .imm1 = number(3), .reduce_cmd = ReduceCmd::load_reduce},
         ""},
        {"int32", {.dst = out, .src = sbuf(128, 64, Dtype::int32)}, "dst and src may not be int32"},
        {"a running comparison", {.dst = out, .src = x, .op1 = AluOp::less}, "op1 must be"},
        {"from the kept registers", {.dst = out, .src = x, .reduce_cmd = ReduceCmd::reduce}, ""},
        {"idle", {.dst = out, .src = x, .reduce_cmd = ReduceCmd::idle}, "reduce_cmd must be one of"},
    };
  }
};

}  // namespace trn
