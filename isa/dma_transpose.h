#pragma once
#include <tuple>
#include <vector>

#include "isa/dma_kernel.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/matmul_operands.h"
#include "isa/rules.h"

namespace trn {

// Indirect (AWS: vector_offset on src): dims[0] of src is the table's rows; index names the rows to turn, column after
// column. A row that is skipped leaves its column of dst alone.
struct DmaTranspose {
  static constexpr std::string_view name = "dma_transpose";
  static constexpr std::string_view doc = "dst = src with its first and last dims exchanged";
  static constexpr std::string_view source =
      "nki.isa.dma_transpose; nki-dge: up to 90 % (from HBM) or 50 % (from SBUF) of the DMA peak";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines{Engine::scalar, Engine::gpsimd, Engine::sync};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst{}, src{};
    int32_t axes = 10;
    Access index{};
    OobMode oob_mode = OobMode::error;
    DgeMode dge_mode = DgeMode::unknown;
    int32_t priority = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF [P, F]"},
      Field{"src", &Args::src, "HBM or SBUF [F, P], 2- or 4-byte elements"},
      Field{"axes", &Args::axes, "10 for AWS's (1, 0); 210 for (2, 1, 0), src [a, b, P]; 3120 for (3, 1, 2, 0)"},
      Field{"index", &Args::index, "rows of src: SBUF uint32, as many as dst has columns or more"},
      Field{"oob_mode", &Args::oob_mode, "index out of range: error (NRT status 1006) or skip that row"},
      Field{"dge_mode", &Args::dge_mode, "unknown; hwdge, or swdge with index"},
      Field{"priority", &Args::priority, "trn3: class of service, 0 (first) to 3; 0 elsewhere"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = dma_operand("dst", a.dst, s, false)) return bad;
    if (auto bad = dma_operand("src", a.src, s)) return bad;
    if (a.src.dtype != a.dst.dtype)
      return breaks(RuleKind::dtype, "dst is ", trn::name(a.dst.dtype), " but src is ", trn::name(a.src.dtype));
    if (size_of(a.src.dtype) != 2 && size_of(a.src.dtype) != 4)
      return breaks(RuleKind::dtype, "src elements must have 2 or 4 bytes, not ", size_of(a.src.dtype));
    if (a.dge_mode == DgeMode::none) return illegal("dge_mode must be unknown, hwdge or swdge, not none");
    if (auto bad = descriptors(a.dge_mode, a.index.present(), e, s)) return bad;
    if (auto bad = dma_priority(a.priority, s)) return bad;
    if (a.dge_mode == DgeMode::swdge && !a.index.present()) return illegal("dge_mode swdge needs index");
    if (auto bad = axes(a)) return bad;
    if (a.dge_mode == DgeMode::hwdge)
      if (auto bad = hardware(a)) return bad;
    return a.index.present() ? indices(a, s) : Verdict{};
  }

  static Cost cost(const Args& a, Engine e, const Spec&) {
    const bool software = a.index.present() || is_software(a.dge_mode, e);
    Transfer t = engine_cost::transfer(a.dst, a.src, software);
    t.chunk_bytes = a.dst.free_elements() * size_of(a.dst.dtype);
    t.chunks = 1;
    t.peak = a.src.space == Space::hbm ? 0.9 : 0.5;
    return engine_cost::dma(t);
  }

  static void run(const Args& a, const CoreMemory& m) {
    if (a.index.present())
      run_gather_transpose(a.dst, a.src, a.index, a.oob_mode, m);
    else if (a.axes == 10)
      run_transpose(a.dst, a.src, m);
    else
      run_axes_transpose(a.dst, a.src, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16, u32 = Dtype::uint32;
    const auto cube = [](Access a, int x, int y, int z) {
      a.ndim = 3;
      a.dims = {Dim{y * z, x}, Dim{z, y}, Dim{1, z}};
      return a;
    };
    const Access ids = sbuf(32, 1, u32, 8192);
    return {
        {"from HBM", {.dst = sbuf(128, 512, bf), .src = hbm(512, 128, bf)}, ""},
        {"three dims", {.dst = sbuf(64, 24, bf), .src = cube(hbm(1, 1, bf), 8, 3, 64), .axes = 210}, ""},
        {"by hardware", {.dst = sbuf(128, 16, bf), .src = hbm(16, 128, bf), .dge_mode = DgeMode::hwdge}, ""},
        {"by hardware, too many rows",
         {.dst = sbuf(128, 32, bf), .src = hbm(32, 128, bf), .dge_mode = DgeMode::hwdge},
         "src has 32 rows, not 16"},
        {"rows by index", {.dst = sbuf(64, 32, bf), .src = hbm(100, 64, bf), .index = ids}, ""},
        {"wide rows by index",
         {.dst = sbuf(64, 32), .src = hbm(100, 64), .index = ids},
         "src elements must have 2 bytes with index"},
        {"into HBM", {.dst = hbm(128, 128, bf), .src = sbuf(128, 128, bf)}, "dst must be in sbuf"},
        {"bytes",
         {.dst = sbuf(16, 16, Dtype::uint8), .src = hbm(16, 16, Dtype::uint8)},
         "src elements must have 2 or 4 bytes"},
        {"not turned", {.dst = sbuf(64, 32, bf), .src = hbm(64, 32, bf)}, "dst is [64, 32], not [32, 64]"},
        {"other axes", {.dst = sbuf(64, 24, bf), .src = cube(hbm(1, 1, bf), 8, 3, 64), .axes = 120}, "axes must be"},
    };
  }

 private:
  static Verdict axes(const Args& a) {
    using namespace rules;
    if (a.axes != 10 && a.axes != 210 && a.axes != 3120) return illegal("axes must be 10, 210 or 3120, not ", a.axes);
    const int dims = a.axes == 10 ? a.src.ndim : a.axes == 210 ? 3 : 4;
    if (a.src.ndim != dims)
      return breaks(RuleKind::shape, "src has ", int{a.src.ndim}, " dims, axes ", a.axes, " needs ", dims);
    const int64_t rows = a.index.present() ? a.dst.free_elements() : a.src.partitions();
    const int64_t p = a.axes == 10 ? a.src.free_elements() : a.src.dims[static_cast<size_t>(dims - 1)].count;
    const int64_t f = rows * (a.src.free_elements() / p);
    if (a.dst.partitions() != p || a.dst.free_elements() != f)
      return breaks(RuleKind::shape, "dst is [", a.dst.partitions(), ", ", a.dst.free_elements(), "], not [", p, ", ",
                    f, "]");
    return {};
  }

  static Verdict hardware(const Args& a) {
    using namespace rules;
    if (size_of(a.src.dtype) != 2) return breaks(RuleKind::dtype, "src elements must have 2 bytes with hwdge");
    const int64_t rows = a.src.partitions(), last = a.src.dims[static_cast<size_t>(a.src.ndim - 1)].count;
    if (last > 128) return breaks(RuleKind::shape, "src's last dim is ", last, ", more than 128 with hwdge");
    if (a.axes == 10)
      return rows == 16 ? Verdict{} : breaks(RuleKind::shape, "src has ", rows, " rows, not 16 as hwdge needs");
    const int64_t before = a.src.dims[static_cast<size_t>(a.src.ndim - 2)].count;
    const bool power = rows >= 1 && rows <= 16 && (rows & (rows - 1)) == 0;
    if (!power || rows * before % 16 != 0)
      return breaks(RuleKind::shape, "src's first dim is ", rows, ": hwdge needs 1, 2, 4, 8 or 16, and 16 to divide ",
                    rows * before);
    return {};
  }

  static Verdict indices(const Args& a, const Spec& s) {
    using namespace rules;
    if (auto bad = in_space("src", a.src, Space::hbm)) return bad;
    if (auto bad = in_space("index", a.index, Space::sbuf)) return bad;
    if (auto bad = dma_operand("index", a.index, s)) return bad;
    if (size_of(a.src.dtype) != 2) return breaks(RuleKind::dtype, "src elements must have 2 bytes with index");
    if (a.axes != 10) return Complaint{Fault::unsupported, "index with axes other than 10"};
    if (a.index.dtype != Dtype::uint32)
      return breaks(RuleKind::dtype, "index must be uint32, not ", trn::name(a.index.dtype));
    if (a.src.free_elements() > 128)
      return breaks(RuleKind::shape, "src's rows have ", a.src.free_elements(), " elements, more than 128");
    const int64_t rows = a.dst.free_elements(), p = a.index.partitions(), columns = a.index.free_elements();
    if (rows % 16 != 0) return breaks(RuleKind::shape, rows, " rows are gathered, not a multiple of 16");
    if (p < 16 || p % 16 != 0) return breaks(RuleKind::shape, "index has ", p, " partitions, not a multiple of 16");
    if (columns > 1 && p != 128)
      return breaks(RuleKind::shape, "index of ", columns, " columns must have 128 partitions, not ", p);
    if (a.index.elements() < rows)
      return breaks(RuleKind::shape, "index has ", a.index.elements(), " elements for ", rows, " rows");
    return {};
  }
};

}  // namespace trn
