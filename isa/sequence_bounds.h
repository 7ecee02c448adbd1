#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

struct SequenceBounds {
  static constexpr std::string_view name = "sequence_bounds";
  static constexpr std::string_view doc = "dst = start and end index of the segment that each element belongs to";
  static constexpr std::string_view source = "nki.isa.sequence_bounds; time assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, segment_ids{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF [1, 2, n]: starts, then ends (exclusive); n and -1 for padding"},
      Field{"segment_ids", &Args::segment_ids, "SBUF [1, n], non-negative; 0 is padding"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = in_space("segment_ids", a.segment_ids, Space::sbuf)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("segment_ids", a.segment_ids, s)) return bad;
    if (a.segment_ids.partitions() != 1 || a.dst.partitions() != 1)
      return breaks(RuleKind::shape, "dst and segment_ids must have 1 partition");
    if (a.dst.free_elements() != 2 * a.segment_ids.free_elements())
      return breaks(RuleKind::shape, "dst has ", a.dst.free_elements(), " elements, not twice ",
                    a.segment_ids.free_elements());
    for (const Dtype d : {a.dst.dtype, a.segment_ids.dtype})
      if (d != Dtype::float32 && d != Dtype::int32)
        return breaks(RuleKind::dtype, "dst and segment_ids must be float32 or int32, not ", trn::name(d));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_sequence_bounds(a.dst, a.segment_ids, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto i32 = Dtype::int32;
    return {
        {"a row", {sbuf(1, 18, i32, 512), sbuf(1, 9, i32)}, ""},
        {"two partitions", {sbuf(2, 18, i32, 512), sbuf(2, 9, i32)}, "dst and segment_ids must have 1 partition"},
        {"too small", {sbuf(1, 9, i32, 512), sbuf(1, 9, i32)}, "dst has 9 elements"},
    };
  }
};

}  // namespace trn
