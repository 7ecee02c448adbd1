#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

struct TensorTensor {
  static constexpr std::string_view name = "tensor_tensor";
  static constexpr std::string_view doc = "dst = data1 op data2";
  static constexpr std::string_view source = "nki.isa.tensor_tensor; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data1{}, data2{};
    AluOp op = AluOp::add;
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF or PSUM tile"},
                                     Field{"data1", &Args::data1, "left operand"},
                                     Field{"data2", &Args::data2, "right operand; not in PSUM if data1 is"},
                                     Field{"op", &Args::op, "binary operator"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data1", a.data1, s)) return bad;
    if (auto bad = tile("data2", a.data2, s)) return bad;
    if (auto bad = same_size("data1", a.data1, "dst", a.dst)) return bad;
    if (auto bad = same_size("data2", a.data2, "dst", a.dst)) return bad;
    if (auto bad = not_both_psum("data1", a.data1, "data2", a.data2)) return bad;
    if (auto bad = engine_reach(e, {&a.dst, &a.data1, &a.data2})) return bad;
    return alu("op", a.op, e, {a.dst.dtype, a.data1.dtype, a.data2.dtype});
  }

  static Cost cost(const Args& a, Engine e, const Spec& s) {
    if (e == Engine::gpsimd) return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
    return engine_cost::vector(engine_cost::vector_cycles(a.dst, a.data1, a.data2, s), s.vector_tensor_latency_ns,
                               s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_tensor_tensor(a.dst, a.data1, a.data2, a.op, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32, i32 = Dtype::int32;
    return {
        {"fp32", {sbuf(128, 64, fp, 512), sbuf(128, 64), sbuf(128, 64, fp, 256), AluOp::multiply}, ""},
        {"int32", {sbuf(64, 10, i32, 512), sbuf(64, 10, i32), sbuf(64, 10, i32, 256), AluOp::add}, ""},
        {"a comparison", {sbuf(128, 64, Dtype::uint8, 512), sbuf(128, 64), psum(128, 64), AluOp::greater}, ""},
        {"both in PSUM", {sbuf(128, 64), psum(128, 64), psum(128, 64, fp, 2048)}, "data1 and data2 are both in PSUM"},
        {"sizes differ", {sbuf(128, 64), sbuf(128, 64), sbuf(128, 63)}, "data2 has 63 elements"},
        {"bits of floats",
         {sbuf(128, 64), sbuf(128, 64), sbuf(128, 64), AluOp::bitwise_and},
         "op bitwise_and is a bitvec operator"},
        {"power", {sbuf(128, 64), sbuf(128, 64), sbuf(128, 64), AluOp::power}, "op power does not run on vector"},
        {"one operand only", {sbuf(128, 64), sbuf(128, 64), sbuf(128, 64), AluOp::relu}, "op relu takes 1 operand"},
    };
  }
};

}  // namespace trn
