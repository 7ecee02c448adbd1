#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

// AWS's page gives results of shape [P, K]; its library (nkilib gpsimd_topk) reads them from the first ceil(K / 16)
// columns in the source's own layout, 16 partitions a row, and takes everything else as unwritten. So here. It also
// relies on no order; the page's ascending one holds here, and of equal values the later places (assumed).
struct Topk {
  static constexpr std::string_view name = "topk";
  static constexpr std::string_view doc =
      "the K largest of n elements of each group of 16 partitions, and their places";
  static constexpr std::string_view source =
      "nki.isa.topk (cost formula too); layout of the results: nkilib gpsimd_topk";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access val_dst{}, idx_dst{}, src{};
    int32_t n = 8;
  };
  static constexpr std::tuple fields{
      Field{"val_dst", &Args::val_dst, "SBUF bfloat16 [P, K]: the values, ascending"},
      Field{"idx_dst", &Args::idx_dst, "SBUF uint32 [P, K]: their places in src"},
      Field{"src", &Args::src,
            "SBUF bfloat16 [P, X]; element i of 16 partitions is in partition i mod 16, column i / 16"},
      Field{"n", &Args::n, "elements of a group, at least 8"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    const std::tuple<std::string_view, const Access*, Dtype> tiles[] = {{"val_dst", &a.val_dst, Dtype::bfloat16},
                                                                        {"idx_dst", &a.idx_dst, Dtype::uint32},
                                                                        {"src", &a.src, Dtype::bfloat16}};
    for (const auto& [field, t, dtype] : tiles) {
      if (auto bad = in_space(field, *t, Space::sbuf)) return bad;
      if (auto bad = tile(field, *t, s, t == &a.src)) return bad;
      if (t->dtype != dtype)
        return breaks(RuleKind::dtype, field, " must be ", trn::name(dtype), ", not ", trn::name(t->dtype));
      if (t->partitions() != a.src.partitions())
        return breaks(RuleKind::shape, field, " has ", t->partitions(), " partitions but src has ", a.src.partitions());
    }
    if (a.src.partitions() % 16 != 0)
      return breaks(RuleKind::shape, "src has ", a.src.partitions(), " partitions, not a multiple of 16");
    if (a.n < 8 || a.n >= 65536) return illegal("n must be from 8 to 65535, not ", a.n);
    const int64_t k = a.val_dst.free_elements();
    if (a.idx_dst.free_elements() != k)
      return breaks(RuleKind::shape, "idx_dst has ", a.idx_dst.free_elements(),
                    " elements per partition but val_dst has ", k);
    if (k >= 32768 || k > a.n) return illegal("K is ", k, "; it must be at most n, ", a.n, ", and 32767");
    if (a.src.free_elements() < (a.n + 15) / 16)
      return breaks(RuleKind::shape, "src has ", a.src.free_elements(), " columns; n = ", a.n, " needs ",
                    (a.n + 15) / 16);
    return {};
  }

  // 4 n + K cycles.
  static Cost cost(const Args& a, Engine, const Spec&) {
    Cost c;
    c.busy = c.latency = 4.0 * a.n + static_cast<double>(a.val_dst.free_elements());
    return c;
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_topk(a.val_dst, a.idx_dst, a.src, a.n, a.val_dst.free_elements(), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16, u32 = Dtype::uint32;
    const Access values = sbuf(32, 8, bf, 4096), places = sbuf(32, 8, u32, 8192), x = sbuf(32, 3, bf);
    return {
        {"8 of 42", {values, places, x, 42}, ""},
        {"all of them", {values, places, x, 8}, ""},
        {"float32", {values, places, sbuf(32, 3), 42}, "src must be bfloat16"},
        {"20 partitions",
         {sbuf(20, 8, bf, 4096), sbuf(20, 8, u32, 8192), sbuf(20, 3, bf), 42},
         "src has 20 partitions, not a multiple of 16"},
        {"more than there are", {sbuf(32, 9, bf, 4096), sbuf(32, 9, u32, 8192), x, 8}, "K is 9"},
        {"few columns", {values, places, x, 49}, "src has 3 columns; n = 49 needs 4"},
        {"few elements", {values, places, x, 7}, "n must be from 8"},
    };
  }
};

}  // namespace trn
