#pragma once
#include <tuple>
#include <vector>

#include "isa/dma_kernel.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Three forms, as on AWS's page:
//   no index:           dst = src0 op src1 op ... (2 to 16 sources, of which dst may be one)
//   index, dst in HBM:  dst[index] = dst[index] op src0     (scatter)
//   index, dst in SBUF: dst = dst op src0[index]            (gather)
// Wider than AWS's: operators other than add; and with unique_indices = false equal indices accumulate one after the
// other, in index order. AWS reserves both ("currently only add", "not yet supported"). AWS's scales are all 1.
struct DmaCompute {
  static constexpr std::string_view name = "dma_compute";
  static constexpr std::string_view doc = "dst = the sources added up, or read-modify-write of rows chosen by index";
  static constexpr std::string_view source = "nki.isa.dma_compute; time assumed: the packet law over all operands";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::scalar, Engine::gpsimd, Engine::sync};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst{};
    Access src0{}, src1{}, src2{}, src3{}, src4{}, src5{}, src6{}, src7{}, src8{}, src9{}, src10{}, src11{}, src12{},
        src13{}, src14{}, src15{};
    Access index{};
    AluOp reduce_op = AluOp::add;
    bool unique_indices = true;
    OobMode oob_mode = OobMode::error;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "HBM or SBUF"},
      Field{"src0", &Args::src0, "first source"},
      Field{"src1", &Args::src1, "second source, without index"},
      Field{"src2", &Args::src2, "a further source, or absent"},
      Field{"src3", &Args::src3, "a further source, or absent"},
      Field{"src4", &Args::src4, "a further source, or absent"},
      Field{"src5", &Args::src5, "a further source, or absent"},
      Field{"src6", &Args::src6, "a further source, or absent"},
      Field{"src7", &Args::src7, "a further source, or absent"},
      Field{"src8", &Args::src8, "a further source, or absent"},
      Field{"src9", &Args::src9, "a further source, or absent"},
      Field{"src10", &Args::src10, "a further source, or absent"},
      Field{"src11", &Args::src11, "a further source, or absent"},
      Field{"src12", &Args::src12, "a further source, or absent"},
      Field{"src13", &Args::src13, "a further source, or absent"},
      Field{"src14", &Args::src14, "a further source, or absent"},
      Field{"src15", &Args::src15, "a further source, or absent"},
      Field{"index", &Args::index, "integer row numbers, one for each row"},
      Field{"reduce_op", &Args::reduce_op, "add; maximum, minimum and multiply are ours"},
      Field{"unique_indices", &Args::unique_indices, "false: equal indices accumulate in order"},
      Field{"oob_mode", &Args::oob_mode, "index out of range: error (NRT status 1006) or skip that row"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = dma_operand("dst", a.dst, s, false)) return bad;
    if (auto bad = dma_operand("src0", a.src0, s)) return bad;
    if (auto bad = castable(a.dst.dtype, a.src0.dtype)) return bad;
    if (auto bad = descriptors(DgeMode::unknown, a.index.present(), e, s)) return bad;
    const bool known = a.reduce_op == AluOp::add || a.reduce_op == AluOp::multiply || a.reduce_op == AluOp::maximum ||
                       a.reduce_op == AluOp::minimum;
    if (!known) return illegal("reduce_op must be add, multiply, maximum or minimum, not ", trn::name(a.reduce_op));
    if (a.index.present()) {
      for (const Access* src : sources(a))
        if (src != &a.src0 && src->present()) return illegal("src1 to src15 must be absent with index");
      return indirect("src0", a.src0, "dst", a.dst, a.index, selects_dst(a), s);
    }
    if (!a.src1.present()) return illegal("src1 must be present without index");
    const Access* gap = nullptr;
    for (const Access* src : sources(a)) {
      if (!src->present()) gap = src;
      if (!src->present()) continue;
      if (gap) return illegal("sources must follow one another without a gap");
      if (auto bad = dma_operand("a source", *src, s)) return bad;
      if (auto bad = castable(a.dst.dtype, src->dtype)) return bad;
      if (src->elements() != a.dst.elements())
        return breaks(RuleKind::shape, "a source has ", src->elements(), " elements but dst has ", a.dst.elements());
    }
    return {};
  }

  // The table, where there is an index.
  static const Access* indexed(const Args& a) { return selects_dst(a) ? &a.dst : &a.src0; }
  static bool selects_dst(const Args& a) { return a.dst.space == Space::hbm; }

  static Cost cost(const Args& a, Engine e, const Spec&) {
    if (a.index.present())
      return engine_cost::dma(with_operands(indirect_transfer(a.dst, a.src0, a.index.elements(), selects_dst(a)), 2));
    int64_t operands = 0;
    for (const Access* src : sources(a)) operands += src->present();
    return engine_cost::dma(with_operands(engine_cost::transfer(a.dst, a.src0, e == Engine::gpsimd), operands));
  }

  static void run(const Args& a, const CoreMemory& m) {
    if (!a.index.present()) return run_dma_reduce(a.dst, a.reduce_op, sources(a), m);
    const IndirectRows rows(a.dst, a.src0, a.index, selects_dst(a), a.oob_mode, m);
    if (a.unique_indices) rows.require_unique();
    rows.combine(a.reduce_op);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access ids = sbuf(16, 1, Dtype::int32, 8192);
    return {
        {"a sum of two", {.dst = hbm(128, 64), .src0 = hbm(128, 64, Dtype::float32, 1), .src1 = sbuf(128, 64)}, ""},
        {"onto what dst holds",
         {.dst = sbuf(128, 64), .src0 = hbm(128, 64), .src1 = sbuf(128, 64), .src2 = hbm(128, 64, Dtype::float32, 1)},
         ""},
        {"a gap",
         {.dst = sbuf(128, 64), .src0 = hbm(128, 64), .src1 = sbuf(128, 64), .src3 = hbm(128, 64)},
         "sources must follow one another"},
        {"scatter-add", {.dst = hbm(1000, 64), .src0 = sbuf(16, 64), .index = ids, .unique_indices = false}, ""},
        {"gather-add", {.dst = sbuf(16, 64), .src0 = hbm(1000, 64), .index = ids, .unique_indices = false}, ""},
        {"subtract",
         {.dst = sbuf(16, 64), .src0 = hbm(16, 64), .src1 = hbm(16, 64), .reduce_op = AluOp::subtract},
         "reduce_op must be"},
        {"three operands and an index",
         {.dst = hbm(1000, 64), .src0 = sbuf(16, 64), .src1 = sbuf(16, 64), .index = ids},
         "src1 to src15 must be absent"},
    };
  }

 private:
  static std::array<const Access*, 16> sources(const Args& a) {
    return {&a.src0, &a.src1, &a.src2,  &a.src3,  &a.src4,  &a.src5,  &a.src6,  &a.src7,
            &a.src8, &a.src9, &a.src10, &a.src11, &a.src12, &a.src13, &a.src14, &a.src15};
  }
  // So many operands are read for each one written.
  static Transfer with_operands(Transfer t, int64_t operands) {
    t.chunks *= operands;
    return t;
  }
};

}  // namespace trn
