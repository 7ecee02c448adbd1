#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Strictly in order in fp32; 32-bit integers where every operand is an integer.
struct TensorTensorScan {
  static constexpr std::string_view name = "tensor_tensor_scan";
  static constexpr std::string_view doc = "dst[i] = (data0[i] op0 dst[i-1]) op1 data1[i], dst[-1] = initial";
  static constexpr std::string_view source = "nki.isa.tensor_tensor_scan; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data0{}, data1{};
    Operand initial{};
    AluOp op0 = AluOp::multiply;
    AluOp op1 = AluOp::add;
    bool reverse0 = false;
    bool reverse1 = false;
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF or PSUM tile"},
                                     Field{"data0", &Args::data0, "tile of the same size"},
                                     Field{"data1", &Args::data1, "tile of the same size; not in PSUM if data0 is"},
                                     Field{"initial", &Args::initial, "immediate or [P, 1] tile"},
                                     Field{"op0", &Args::op0, "binary arithmetic operator"},
                                     Field{"op1", &Args::op1, "binary arithmetic operator"},
                                     Field{"reverse0", &Args::reverse0, "dst[i-1] op0 data0[i]"},
                                     Field{"reverse1", &Args::reverse1, "data1[i] op1 (first result)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data0", a.data0, s)) return bad;
    if (auto bad = tile("data1", a.data1, s)) return bad;
    if (auto bad = same_size("data0", a.data0, "dst", a.dst)) return bad;
    if (auto bad = same_size("data1", a.data1, "dst", a.dst)) return bad;
    if (auto bad = not_both_psum("data0", a.data0, "data1", a.data1)) return bad;
    if (auto bad = scalar_operand("initial", a.initial, a.dst.partitions(), s)) return bad;
    if (auto bad = alu("op0", a.op0, e, {})) return bad;
    if (auto bad = alu("op1", a.op1, e, {})) return bad;
    if (info(a.op0).is_bitvec || info(a.op1).is_bitvec)
      return illegal("op0 and op1 must be arithmetic, not ", trn::name(a.op0), " and ", trn::name(a.op1));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const double cycles = static_cast<double>(a.dst.free_elements()) * s.vector_scan_cycles_per_element;
    return engine_cost::vector(cycles, s.vector_tensor_latency_ns, s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_scan(a.dst, a.data0, a.data1, a.initial, {a.op0, a.op1, a.reverse0, a.reverse1}, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access out = sbuf(128, 64, fp, 512), x = sbuf(128, 64), y = sbuf(128, 64, fp, 256);
    return {
        {"decay", {.dst = out, .data0 = x, .data1 = y}, ""},
        {"running maximum",
         {.dst = out,
          .data0 = x,
          .data1 = y,
          .initial = {sbuf(128, 1, fp, 8192)},
          .op0 = AluOp::maximum,
          .op1 = AluOp::maximum},
         ""},
        {"both in PSUM",
         {.dst = out, .data0 = psum(128, 64), .data1 = psum(128, 64, fp, 2048)},
         "data0 and data1 are both in PSUM"},
        {"sizes differ", {.dst = out, .data0 = x, .data1 = sbuf(128, 32)}, "data1 has 32 elements"},
        {"shifts", {.dst = out, .data0 = x, .data1 = y, .op0 = AluOp::left_shift}, "op0 and op1 must be arithmetic"},
    };
  }
};

}  // namespace trn
