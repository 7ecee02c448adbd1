#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

struct TensorScalar {
  static constexpr std::string_view name = "tensor_scalar";
  static constexpr std::string_view doc = "dst = (data op0 operand0) op1 operand1";
  static constexpr std::string_view source = "nki.isa.tensor_scalar; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::scalar, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
    AluOp op0 = AluOp::add;
    Operand operand0{};
    bool reverse0 = false;
    AluOp op1 = AluOp::bypass;  // bypass: none
    Operand operand1{};
    bool reverse1 = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"data", &Args::data, "SBUF or PSUM tile of the same size"},
      Field{"op0", &Args::op0, "first operator"},
      Field{"operand0", &Args::operand0, "immediate or [P, 1] tile: float32, or an integer with integer data"},
      Field{"reverse0", &Args::reverse0, "operand0 op0 data"},
      Field{"op1", &Args::op1, "second operator, of the same kind (bitvec or arithmetic); bypass if none"},
      Field{"operand1", &Args::operand1, "as operand0"},
      Field{"reverse1", &Args::reverse1, "operand1 op1 (first result)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
    if (auto bad = scalar_operand("operand0", a.operand0, a.data.partitions(), s)) return bad;
    if (auto bad = scalar_operand("operand1", a.operand1, a.data.partitions(), s)) return bad;
    if (auto bad = engine_reach(e, {&a.dst, &a.data, &a.operand0.tile, &a.operand1.tile})) return bad;
    if (auto bad = alu_with_scalar("op0", a.op0, "operand0", a.operand0, e, a.dst.dtype, a.data.dtype)) return bad;
    if (auto bad = alu_with_scalar("op1", a.op1, "operand1", a.operand1, e, a.dst.dtype, a.data.dtype)) return bad;
    if (a.op1 != AluOp::bypass && a.op0 != AluOp::bypass && info(a.op0).is_bitvec != info(a.op1).is_bitvec)
      return illegal("op0 ", trn::name(a.op0), " and op1 ", trn::name(a.op1),
                     " must both be bitvec or both arithmetic");
    const auto on_gpsimd = [](AluOp op) { return op == AluOp::rsqrt || op == AluOp::power; };
    if (e == Engine::gpsimd && !on_gpsimd(a.op0) && !on_gpsimd(a.op1))
      return breaks(RuleKind::engine, "gpsimd runs tensor_scalar for rsqrt (and power) only, not ", trn::name(a.op0),
                    " then ", trn::name(a.op1));
    const bool plain = !a.reverse0 && !a.reverse1 &&
                       ((a.op0 == AluOp::multiply && (a.op1 == AluOp::add || a.op1 == AluOp::bypass)) ||
                        (a.op0 == AluOp::add && a.op1 == AluOp::bypass));
    if (e == Engine::scalar && !plain)
      return breaks(RuleKind::engine, "scalar runs only multiply then add, multiply, or add, not ", trn::name(a.op0),
                    " then ", trn::name(a.op1));
    if (e == Engine::scalar && s.generation < Generation::trn2)
      return illegal("scalar runs tensor_scalar from trn2 (NeuronCore-v3) on; this machine is ", s.name);
    return {};
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) {
    if (e == Engine::gpsimd) return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
    if (e == Engine::scalar) return engine_cost::activation(a.dst, a.data, Activation::copy, false, s);
    return engine_cost::vector(engine_cost::vector_cycles(a.dst, a.data, s), s.vector_scalar_latency_ns,
                               s.vector_scalar_overhead_ns, s.vector_scalar_fresh_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_tensor_scalar(a.dst, a.data, {a.op0, a.operand0, a.reverse0}, {a.op1, a.operand1, a.reverse1}, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto i32 = Dtype::int32;
    const Access out = sbuf(128, 64, Dtype::float32, 512), in = sbuf(128, 64);
    return {
        {"two operators", {out, in, AluOp::multiply, number(3), false, AluOp::add, number(-1), false}, ""},
        {"a value per partition, reversed",
         {.dst = out,
          .data = in,
          .op0 = AluOp::subtract,
          .operand0 = {sbuf(128, 1, Dtype::float32, 8192)},
          .reverse0 = true},
         ""},
        {"the reciprocal root on GpSimd",
         {.dst = out, .data = in, .op0 = AluOp::add, .operand0 = number(1e-5), .op1 = AluOp::rsqrt},
         ""},
        {"integer shift",
         {.dst = sbuf(32, 8, i32, 64), .data = sbuf(32, 8, i32), .op0 = AluOp::left_shift, .operand0 = number(3)},
         ""},
        {"mixed kinds",
         {sbuf(32, 8, i32, 64), sbuf(32, 8, i32), AluOp::bitwise_and, number(3), false, AluOp::add, number(1), false},
         "op0 bitwise_and and op1 add"},
        {"an operand of two columns",
         {.dst = out, .data = in, .op0 = AluOp::add, .operand0 = {sbuf(128, 2)}},
         "operand0 must have 1 element"},
        {"an operand of 64 partitions",
         {.dst = out, .data = in, .op0 = AluOp::add, .operand0 = {sbuf(64, 1)}},
         "operand0 has 64 partitions"},
        {"a bfloat16 operand",
         {.dst = out, .data = in, .op0 = AluOp::add, .operand0 = {sbuf(128, 1, Dtype::bfloat16)}},
         "operand0 must be float32"},
    };
  }
};

}  // namespace trn
