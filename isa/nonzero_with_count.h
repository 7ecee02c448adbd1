#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

struct NonzeroWithCount {
  static constexpr std::string_view name = "nonzero_with_count";
  static constexpr std::string_view doc =
      "dst = indices of the nonzero elements, padding, and their count, in every 16th partition";
  static constexpr std::string_view source = "nki.isa.nonzero_with_count; time assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
    int32_t index_offset = 0;
    int32_t padding_val = -1;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF [P, T + 1] int32; partitions other than 0, 16, ..., 112 keep their values"},
      Field{"src", &Args::src, "SBUF [P, T] float32 or int32"},
      Field{"index_offset", &Args::index_offset, "added to each index"},
      Field{"padding_val", &Args::padding_val, "after the last index"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = in_space("src", a.src, Space::sbuf)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("src", a.src, s)) return bad;
    if (a.src.partitions() != a.dst.partitions())
      return breaks(RuleKind::shape, "src has ", a.src.partitions(), " partitions but dst has ", a.dst.partitions());
    if (a.dst.free_elements() != a.src.free_elements() + 1)
      return breaks(RuleKind::shape, "dst has ", a.dst.free_elements(), " elements per partition, not ",
                    a.src.free_elements() + 1);
    if (a.dst.dtype != Dtype::int32) return breaks(RuleKind::dtype, "dst must be int32, not ", trn::name(a.dst.dtype));
    if (a.src.dtype != Dtype::float32 && a.src.dtype != Dtype::int32)
      return breaks(RuleKind::dtype, "src must be float32 or int32, not ", trn::name(a.src.dtype));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::gpsimd(static_cast<double>(a.src.free_elements()), s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_nonzero(a.dst, a.src, a.index_offset, a.padding_val, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto i32 = Dtype::int32;
    return {
        {"a row", {sbuf(32, 9, i32, 512), sbuf(32, 8, i32), 16, -1}, ""},
        {"no room for the count", {sbuf(32, 8, i32, 512), sbuf(32, 8, i32)}, "dst has 8 elements per partition, not 9"},
        {"float indices", {sbuf(32, 9, Dtype::float32, 512), sbuf(32, 8, i32)}, "dst must be int32"},
    };
  }
};

}  // namespace trn
