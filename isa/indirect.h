#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

// AWS's tensor indirection: an operand view `.indirect(index)`, of which offset i stands in partition i mod 16, column
// i / 16 of the index, for each group of 16 partitions. Here it is an instruction of its own, a copy: an instruction
// with such an operand is this gather before it, or this scatter after it.
struct Indirect {
  static constexpr std::string_view name = "indirect";
  static constexpr std::string_view doc = "dst[p, i] = src[p, offset i], or the scatter dst[p, offset i] = src[p, i]";
  static constexpr std::string_view source =
      "nki.isa.tensor_copy: tensor indirection; nki.language.NkiTensor.indirect; time as tensor_copy without faster "
      "modes (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn3;
  static constexpr EngineSet engines{Engine::vector, Engine::scalar, Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{}, index{};
    int32_t num_elem = 0;
    bool index_selects_dst = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"}, Field{"src", &Args::src, "SBUF or PSUM tile of the same dtype"},
      Field{"index", &Args::index, "SBUF uint16 or uint32 offsets along the free dims, [P, ...]"},
      Field{"num_elem", &Args::num_elem, "offsets that count; 0: all 16 a column"},
      Field{"index_selects_dst", &Args::index_selects_dst, "scatter: index chooses elements of dst; else of src"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("src", a.src, s)) return bad;
    if (auto bad = in_space("index", a.index, Space::sbuf)) return bad;
    if (auto bad = tile("index", a.index, s)) return bad;
    if (auto bad = engine_reach(e, {&a.dst, &a.src})) return bad;
    if (a.dst.dtype != a.src.dtype)
      return breaks(RuleKind::dtype, "dst is ", trn::name(a.dst.dtype), " but src is ", trn::name(a.src.dtype));
    if (a.index.dtype != Dtype::uint16 && a.index.dtype != Dtype::uint32)
      return breaks(RuleKind::dtype, "index must be uint16 or uint32, not ", trn::name(a.index.dtype));
    if (a.index.partition % 32 != 0)
      return breaks(RuleKind::partition_start, "index starts at partition ", int{a.index.partition},
                    ", not a multiple of 32");
    const Access& table = a.index_selects_dst ? a.dst : a.src;
    const Access& plain = a.index_selects_dst ? a.src : a.dst;
    const auto table_field = a.index_selects_dst ? "dst" : "src", plain_field = a.index_selects_dst ? "src" : "dst";
    if (table.partitions() != plain.partitions() || table.partitions() != a.index.partitions())
      return breaks(RuleKind::shape, "dst, src and index have ", a.dst.partitions(), ", ", a.src.partitions(), " and ",
                    a.index.partitions(), " partitions");
    if (table.partitions() % 16 != 0)
      return breaks(RuleKind::shape, table_field, " has ", table.partitions(), " partitions, not a multiple of 16");
    const Access& aligned = a.index_selects_dst ? plain : table;
    if (aligned.space == Space::sbuf && aligned.partition != a.index.partition)
      return breaks(RuleKind::partition_start, a.index_selects_dst ? plain_field : table_field, " starts at partition ",
                    int{aligned.partition}, " but index at ", int{a.index.partition});
    if (a.index_selects_dst && e == Engine::scalar && a.dst.space == Space::psum)
      return breaks(RuleKind::engine, "scalar cannot scatter into PSUM");
    if (a.num_elem < 0 || count(a) > 16 * a.index.free_elements())
      return illegal("num_elem ", a.num_elem, " passes the group's ", 16 * a.index.free_elements(), " offsets");
    if (plain.free_elements() != count(a))
      return breaks(RuleKind::shape, plain_field, " has ", plain.free_elements(), " elements per partition, not ",
                    count(a));
    return {};
  }

  static int64_t count(const Args& a) { return a.num_elem > 0 ? a.num_elem : 16 * a.index.free_elements(); }

  static Cost cost(const Args& a, Engine e, const Spec& s) {
    const Access& plain = a.index_selects_dst ? a.src : a.dst;
    if (e == Engine::gpsimd) return engine_cost::gpsimd(static_cast<double>(plain.free_elements()), s);
    if (e == Engine::scalar) return engine_cost::copy_on_scalar(plain, plain, s);
    return engine_cost::vector(static_cast<double>(plain.free_elements()), s.vector_copy_latency_ns,
                               s.vector_copy_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_indirect(a.dst, a.src, a.index, count(a), a.index_selects_dst, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto u16 = Dtype::uint16, fp = Dtype::float32;
    const Access ids = sbuf(32, 2, u16, 8192), table = sbuf(32, 100);
    return {
        {"a gather", {sbuf(32, 32, fp, 4096), table, ids}, ""},
        {"a scatter of 20", {sbuf(32, 100, fp, 4096), sbuf(32, 20), ids, 20, true}, ""},
        {"a cast", {sbuf(32, 32, Dtype::bfloat16, 4096), table, ids}, "dst is bfloat16 but src is float32"},
        {"signed offsets", {sbuf(32, 32, fp, 4096), table, sbuf(32, 2, Dtype::int16, 8192)}, "index must be uint16"},
        {"too many", {sbuf(32, 40, fp, 4096), table, ids, 40}, "num_elem 40 passes"},
        {"an index elsewhere",
         {sbuf(32, 32, fp, 4096), table, at_partition(ids, 32)},
         "src starts at partition 0 but index at 32"},
    };
  }
};

}  // namespace trn
