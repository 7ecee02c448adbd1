#pragma once
#include <tuple>
#include <vector>

#include "isa/dma_kernel.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Three forms, as on AWS's page:
//   no index:           dst = src0 op src1
//   index, dst in HBM:  dst[index] = dst[index] op src0     (scatter)
//   index, dst in SBUF: dst = dst op src0[index]            (gather)
// Wider than AWS's: operators other than add; and with unique_indices = false equal indices accumulate one after the
// other, in index order. AWS reserves both ("currently only add", "not yet supported").
struct DmaCompute {
  static constexpr std::string_view name = "dma_compute";
  static constexpr std::string_view doc = "dst = src0 op src1, or read-modify-write of rows chosen by index";
  static constexpr std::string_view source = "nki.isa.dma_compute; time assumed: the packet law over all operands";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::scalar, Engine::gpsimd, Engine::sync};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst{}, src0{}, src1{};
    Access index{};
    AluOp reduce_op = AluOp::add;
    bool unique_indices = true;
    OobMode oob_mode = OobMode::error;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "HBM or SBUF"},
      Field{"src0", &Args::src0, "first source"},
      Field{"src1", &Args::src1, "second source, without index"},
      Field{"index", &Args::index, "integer row numbers, one for each row"},
      Field{"reduce_op", &Args::reduce_op, "add; maximum, minimum and multiply are ours"},
      Field{"unique_indices", &Args::unique_indices, "false: equal indices accumulate in order"},
      Field{"oob_mode", &Args::oob_mode, "index out of range: error (NRT status 1006) or skip that row"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = dma_operand("dst", a.dst, s, false)) return bad;
    if (auto bad = dma_operand("src0", a.src0, s)) return bad;
    const bool known = a.reduce_op == AluOp::add || a.reduce_op == AluOp::multiply || a.reduce_op == AluOp::maximum ||
                       a.reduce_op == AluOp::minimum;
    if (!known) return illegal("reduce_op must be add, multiply, maximum or minimum, not ", trn::name(a.reduce_op));
    if (a.index.present()) {
      if (a.src1.present()) return illegal("src1 must be absent with index");
      return indirect("src0", a.src0, "dst", a.dst, a.index, a.dst.space == Space::hbm, s);
    }
    if (auto bad = dma_operand("src1", a.src1, s)) return bad;
    for (const Access* src : {&a.src0, &a.src1})
      if (src->elements() != a.dst.elements())
        return illegal("a source has ", src->elements(), " elements but dst has ", a.dst.elements());
    return {};
  }

  static Cost cost(const Args& a, Engine e, const Spec&) {
    if (a.index.present())
      return engine_cost::dma(
          with_operands(indirect_transfer(a.dst, a.src0, a.index.elements(), a.dst.space == Space::hbm)));
    return engine_cost::dma(with_operands(engine_cost::transfer(a.dst, a.src0, e == Engine::gpsimd)));
  }

  static void run(const Args& a, const CoreMemory& m) {
    if (!a.index.present()) {
      copy_elements(a.dst, a.src0, m);
      return combine_elements(a.reduce_op, a.dst, a.src1, m);
    }
    const IndirectRows rows(a.dst, a.src0, a.index, a.dst.space == Space::hbm, a.oob_mode, m);
    if (a.unique_indices) rows.require_unique();
    rows.combine(a.reduce_op);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access ids = sbuf(16, 1, Dtype::int32, 8192);
    return {
        {"a sum of two", {.dst = hbm(128, 64), .src0 = hbm(128, 64, Dtype::float32, 1), .src1 = sbuf(128, 64)}, ""},
        {"scatter-add", {.dst = hbm(1000, 64), .src0 = sbuf(16, 64), .index = ids, .unique_indices = false}, ""},
        {"gather-add", {.dst = sbuf(16, 64), .src0 = hbm(1000, 64), .index = ids, .unique_indices = false}, ""},
        {"subtract",
         {.dst = sbuf(16, 64), .src0 = hbm(16, 64), .src1 = hbm(16, 64), .reduce_op = AluOp::subtract},
         "reduce_op must be"},
        {"three operands and an index",
         {.dst = hbm(1000, 64), .src0 = sbuf(16, 64), .src1 = sbuf(16, 64), .index = ids},
         "src1 must be absent"},
    };
  }

 private:
  // Two operands are read for each one written.
  static Transfer with_operands(Transfer t) {
    t.chunks *= 2;
    return t;
  }
};

}  // namespace trn
