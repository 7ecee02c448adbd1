#pragma once
#include <tuple>
#include <vector>

#include "isa/dma_kernel.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Elements go from src's pattern order to dst's; the shapes need not match, only the element counts. Casts go through
// fp32, integer kinds keep 32 bits exactly; 64-bit dtypes are storage (memory/dtype.h) and may appear on either side.
//
// A transfer that GpSimd triggers has its descriptors built by GpSimd too, unless dge_mode says otherwise; `none`
// (descriptors that lie ready in HBM) is timed as hardware descriptors.
//
// Indirect (AWS: vector_offset): dims[0] of one side is the table's rows, of which `index` names one for each row
// moved. Descriptors are then built in software by GpSimd, whichever engine triggers. Rows are moved in index order, so
// the last of equal scatter indices wins.
struct DmaCopy {
  static constexpr std::string_view name = "dma_copy";
  static constexpr std::string_view doc = "dst = src between HBM and SBUF; rows of one side may be chosen by index";
  static constexpr std::string_view source =
      "nki.isa.dma_copy; packet law from public trn2 profiles; indirect packets assumed to follow it";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::tensor, Engine::vector, Engine::scalar, Engine::gpsimd, Engine::sync};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst{}, src{};
    Access index{};
    bool index_selects_dst = false;
    OobMode oob_mode = OobMode::error;
    DgeMode dge_mode = DgeMode::unknown;
    int32_t priority = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "HBM or SBUF"},
      Field{"src", &Args::src, "HBM or SBUF, as many elements (rows of the table aside)"},
      Field{"index", &Args::index, "integer row numbers, one for each row moved, in SBUF or HBM; absent: direct copy"},
      Field{"index_selects_dst", &Args::index_selects_dst,
            "scatter: index chooses rows of dst; else gather: rows of src"},
      Field{"oob_mode", &Args::oob_mode, "index out of range: error (NRT status 1006) or skip that row"},
      Field{"dge_mode", &Args::dge_mode, "who makes the descriptors: unknown, swdge, hwdge or none"},
      Field{"priority", &Args::priority, "trn3: class of service, 0 (first) to 3; 0 elsewhere"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = dma_operand("dst", a.dst, s, false)) return bad;
    if (auto bad = dma_operand("src", a.src, s)) return bad;
    if (auto bad = castable(a.dst.dtype, a.src.dtype)) return bad;
    if (auto bad = descriptors(a.dge_mode, a.index.present(), e, s)) return bad;
    if (auto bad = dma_priority(a.priority, s)) return bad;
    if (a.index.present()) return indirect("src", a.src, "dst", a.dst, a.index, a.index_selects_dst, s);
    if (a.src.elements() != a.dst.elements())
      return breaks(RuleKind::shape, "src has ", a.src.elements(), " elements but dst has ", a.dst.elements());
    return {};
  }

  // The table, where there is an index.
  static const Access* indexed(const Args& a) { return a.index_selects_dst ? &a.dst : &a.src; }

  static Cost cost(const Args& a, Engine e, const Spec&) {
    if (!a.index.present()) return engine_cost::dma(engine_cost::transfer(a.dst, a.src, is_software(a.dge_mode, e)));
    return engine_cost::dma(indirect_transfer(a.dst, a.src, a.index.elements(), a.index_selects_dst));
  }

  static void run(const Args& a, const CoreMemory& m) {
    if (!a.index.present()) return copy_elements(a.dst, a.src, m);
    const IndirectRows rows(a.dst, a.src, a.index, a.index_selects_dst, a.oob_mode, m);
    rows.copy();
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16, i32 = Dtype::int32;
    const Access ids = sbuf(16, 1, i32, 8192);
    return {
        {"a load with a cast", {.dst = sbuf(128, 512, bf), .src = hbm(128, 512)}, ""},
        {"a store of another shape", {.dst = hbm(64, 1024), .src = sbuf(128, 512)}, ""},
        {"a gather", {.dst = sbuf(16, 64), .src = hbm(1000, 64), .index = ids}, ""},
        {"a scatter",
         {.dst = hbm(1000, 64),
          .src = sbuf(16, 64),
          .index = ids,
          .index_selects_dst = true,
          .oob_mode = OobMode::skip},
         ""},
        {"a gather by hardware",
         {.dst = sbuf(16, 64), .src = hbm(1000, 64), .index = ids, .dge_mode = DgeMode::hwdge},
         "dge_mode must be unknown or swdge for an indirect transfer"},
        {"a first class", {.dst = sbuf(16, 64), .src = hbm(16, 64), .priority = 1}, "priority needs trn3"},
        {"packed elements as floats",
         {.dst = sbuf(16, 64), .src = hbm(16, 64, Dtype::float8_e4m3fn_x4)},
         "a packed dtype cannot be cast"},
        {"sizes differ", {.dst = sbuf(128, 512), .src = hbm(128, 511)}, "src has 65408 elements but dst has 65536"},
        {"PSUM", {.dst = hbm(128, 512), .src = psum(128, 512)}, "src must be in HBM or SBUF"},
        {"float indices",
         {.dst = sbuf(16, 64), .src = hbm(1000, 64), .index = sbuf(16, 1)},
         "index must be of an integer dtype"},
        {"rows that do not fit",
         {.dst = sbuf(16, 63), .src = hbm(1000, 64), .index = ids},
         "dst has 1008 elements, not 16 rows of 64"},
    };
  }
};

}  // namespace trn
