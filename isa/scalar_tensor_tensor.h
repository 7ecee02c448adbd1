#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

struct ScalarTensorTensor {
  static constexpr std::string_view name = "scalar_tensor_tensor";
  static constexpr std::string_view doc = "dst = (data op0 operand0) op1 operand1: a scalar operand, then a tile";
  static constexpr std::string_view source = "nki.isa.scalar_tensor_tensor; time as tensor_tensor";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
    AluOp op0 = AluOp::add;
    Operand operand0{};
    AluOp op1 = AluOp::add;
    Access operand1{};
    bool reverse0 = false;
    bool reverse1 = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"data", &Args::data, "tile of the same size"},
      Field{"op0", &Args::op0, "operator with operand0"},
      Field{"operand0", &Args::operand0, "immediate or [P, 1] tile"},
      Field{"op1", &Args::op1, "operator with operand1"},
      Field{"operand1", &Args::operand1, "tile of the same size; not in PSUM if data is"},
      Field{"reverse0", &Args::reverse0, "operand0 op0 data"},
      Field{"reverse1", &Args::reverse1, "operand1 op1 (first result)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = tile("operand1", a.operand1, s)) return bad;
    if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
    if (auto bad = same_size("operand1", a.operand1, "dst", a.dst)) return bad;
    if (auto bad = not_both_psum("data", a.data, "operand1", a.operand1)) return bad;
    if (auto bad = scalar_operand("operand0", a.operand0, a.data.partitions(), s)) return bad;
    for (const auto& [field, op] : {std::pair{"op0", a.op0}, {"op1", a.op1}})
      if (info(op).is_bitvec) return illegal(field, " must be arithmetic, not ", trn::name(op));
    if (auto bad = alu_with_scalar("op0", a.op0, "operand0", a.operand0, e, a.dst.dtype, a.data.dtype)) return bad;
    if (auto bad = alu("op1", a.op1, e, {a.dst.dtype, a.data.dtype, a.operand1.dtype})) return bad;
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(engine_cost::vector_cycles(a.dst, a.data, a.operand1, s), s.vector_tensor_latency_ns,
                               s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_scalar_tensor_tensor(a.dst, a.data, {a.op0, a.operand0, a.reverse0}, a.op1, a.operand1, a.reverse1, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access out = sbuf(128, 64, fp, 512), in = sbuf(128, 64), other = sbuf(128, 64, fp, 256);
    return {
        {"axpy", {out, in, AluOp::multiply, number(0.5), AluOp::add, other}, ""},
        {"data in PSUM", {out, psum(128, 64), AluOp::subtract, number(1), AluOp::multiply, other, true, false}, ""},
        {"both in PSUM",
         {out, psum(128, 64), AluOp::add, number(1), AluOp::add, psum(128, 64, fp, 2048)},
         "data and operand1 are both in PSUM"},
        {"bits",
         {sbuf(32, 8, Dtype::int32, 64), sbuf(32, 8, Dtype::int32), AluOp::bitwise_and, number(3), AluOp::bitwise_or,
          sbuf(32, 8, Dtype::int32, 128)},
         "op0 must be arithmetic, not bitwise_and"},
        {"sizes differ", {out, in, AluOp::add, number(1), AluOp::add, sbuf(128, 65)}, "operand1 has 65 elements"},
    };
  }
};

}  // namespace trn
