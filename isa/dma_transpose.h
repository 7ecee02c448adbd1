#pragma once
#include <tuple>
#include <vector>

#include "isa/dma_kernel.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/matmul_operands.h"
#include "isa/rules.h"

namespace trn {

struct DmaTranspose {
  static constexpr std::string_view name = "dma_transpose";
  static constexpr std::string_view doc = "dst[p, f] = src[f, p]";
  static constexpr std::string_view source =
      "nki.isa.dma_transpose; nki-dge: up to 90 % (from HBM) or 50 % (from SBUF) of the DMA peak, as whole rows here";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines{Engine::scalar, Engine::gpsimd, Engine::sync};
  static constexpr bool is_dma = true;

  struct Args {
    Access dst{}, src{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF [P, F]"},
                                     Field{"src", &Args::src, "HBM or SBUF [F, P], 2- or 4-byte elements"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = dma_operand("dst", a.dst, s, false)) return bad;
    if (auto bad = dma_operand("src", a.src, s)) return bad;
    if (a.src.dtype != a.dst.dtype)
      return illegal("dst is ", trn::name(a.dst.dtype), " but src is ", trn::name(a.src.dtype));
    if (size_of(a.src.dtype) != 2 && size_of(a.src.dtype) != 4)
      return illegal("src elements must have 2 or 4 bytes, not ", size_of(a.src.dtype));
    const int64_t f = a.src.partitions(), p = a.src.free_elements();
    if (a.dst.partitions() != p || a.dst.free_elements() != f)
      return illegal("dst is [", a.dst.partitions(), ", ", a.dst.free_elements(), "], not [", p, ", ", f, "]");
    return {};
  }

  static Cost cost(const Args& a, Engine e, const Spec&) {
    Transfer t = engine_cost::transfer(a.dst, a.src, e == Engine::gpsimd);
    t.chunk_bytes = a.dst.free_elements() * size_of(a.dst.dtype) * (a.src.space == Space::hbm ? 1 : 2);
    t.chunks = 1;
    return engine_cost::dma(t);
  }

  static void run(const Args& a, const CoreMemory& m) { run_transpose(a.dst, a.src, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16;
    return {
        {"from HBM", {.dst = sbuf(128, 512, bf), .src = hbm(512, 128, bf)}, ""},
        {"into HBM", {.dst = hbm(128, 128, bf), .src = sbuf(128, 128, bf)}, "dst must be in sbuf"},
        {"bytes",
         {.dst = sbuf(16, 16, Dtype::uint8), .src = hbm(16, 16, Dtype::uint8)},
         "src elements must have 2 or 4 bytes"},
        {"not turned", {.dst = sbuf(64, 32, bf), .src = hbm(64, 32, bf)}, "dst is [64, 32], not [32, 64]"},
    };
  }
};

}  // namespace trn
