#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

// An index outside data stops the run (undefined on hardware).
struct NcNGather {
  static constexpr std::string_view name = "nc_n_gather";
  static constexpr std::string_view doc = "dst[p, i] = data[p, indices[p, i]]";
  static constexpr std::string_view source = "nki.isa.nc_n_gather; time assumed";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{}, indices{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF tile"},
                                     Field{"data", &Args::data, "SBUF tile of dst's dtype, free dims flattened"},
                                     Field{"indices", &Args::indices, "SBUF uint32 tile of dst's size"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    for (const auto& [field, tile_] : {std::pair{"dst", &a.dst}, {"data", &a.data}, {"indices", &a.indices}}) {
      if (auto bad = in_space(field, *tile_, Space::sbuf)) return bad;
      if (auto bad = tile(field, *tile_, s, tile_ != &a.dst)) return bad;
    }
    if (auto bad = same_size("indices", a.indices, "dst", a.dst)) return bad;
    if (a.data.partitions() != a.dst.partitions())
      return breaks(RuleKind::shape, "data has ", a.data.partitions(), " partitions but dst has ", a.dst.partitions());
    if (a.data.dtype != a.dst.dtype)
      return breaks(RuleKind::dtype, "data is ", trn::name(a.data.dtype), " but dst is ", trn::name(a.dst.dtype));
    if (a.indices.dtype != Dtype::uint32)
      return breaks(RuleKind::dtype, "indices must be uint32, not ", trn::name(a.indices.dtype));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_gather(a.dst, a.data, a.indices, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access ids = sbuf(128, 64, Dtype::uint32, 8192);
    return {
        {"a row", {sbuf(128, 64, Dtype::bfloat16, 4096), sbuf(128, 1000, Dtype::bfloat16), ids}, ""},
        {"int32 indices",
         {sbuf(128, 64), sbuf(128, 1000), sbuf(128, 64, Dtype::int32, 8192)},
         "indices must be uint32"},
        {"another dtype",
         {sbuf(128, 64), sbuf(128, 1000, Dtype::bfloat16), ids},
         "data is bfloat16 but dst is float32"},
    };
  }
};

}  // namespace trn
