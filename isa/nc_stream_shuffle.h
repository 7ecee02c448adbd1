#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

struct NcStreamShuffle {
  static constexpr std::string_view name = "nc_stream_shuffle";
  static constexpr std::string_view doc = "dst[p] = src[shuffle_mask[p mod 32]] within each group of 32 partitions";
  static constexpr std::string_view source = "nki.isa.nc_stream_shuffle; time as tensor_copy (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
    ShuffleMask shuffle_mask{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF or PSUM tile"},
                                     Field{"src", &Args::src, "tile of the same size and dtype"},
                                     Field{"shuffle_mask", &Args::shuffle_mask,
                                           "32 source partitions inside a group; 255 leaves the destination alone"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("src", a.src, s, false)) return bad;
    if (a.src.free_elements() != a.dst.free_elements())
      return breaks(RuleKind::shape, "src has ", a.src.free_elements(), " elements per partition but dst has ",
                    a.dst.free_elements());
    if (a.src.dtype != a.dst.dtype)
      return breaks(RuleKind::dtype, "src is ", trn::name(a.src.dtype), " but dst is ", trn::name(a.dst.dtype));
    const int group = static_cast<int>(a.shuffle_mask.size());
    for (int p = 0; p < a.dst.partitions(); ++p) {
      const int from = a.shuffle_mask[p % group];
      if (from == 255) continue;
      if (from >= group) return illegal("shuffle_mask names partition ", from, " of ", group);
      if (p / group * group + from >= a.src.partitions())
        return illegal("shuffle_mask reads partition ", p / group * group + from, " of ", a.src.partitions());
    }
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.dst.free_elements()), s.vector_copy_latency_ns,
                               s.vector_copy_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_shuffle(a.dst, a.src, a.shuffle_mask, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    ShuffleMask first{}, wrong{};
    wrong[3] = 32;
    return {
        {"the first of each group to all", {sbuf(128, 64, Dtype::float32, 512), sbuf(128, 64), first}, ""},
        {"partition 32", {sbuf(128, 64, Dtype::float32, 512), sbuf(128, 64), wrong}, "shuffle_mask names partition 32"},
        {"another dtype",
         {sbuf(128, 64, Dtype::bfloat16, 512), sbuf(128, 64), first},
         "src is float32 but dst is bfloat16"},
    };
  }
};

}  // namespace trn
