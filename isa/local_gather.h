#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

// An index outside src_buffer stops the run (undefined on hardware).
struct LocalGather {
  static constexpr std::string_view name = "local_gather";
  static constexpr std::string_view doc = "dst = src_buffer's elements at index, by groups of 16 partitions";
  static constexpr std::string_view source = "nki.isa.local_gather; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src_buffer{}, index{};
    int32_t num_elem_per_idx = 1;
    int32_t num_valid_indices = 0;  // 0: all
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF [P, indices * num_elem_per_idx]"},
      Field{"src_buffer", &Args::src_buffer, "SBUF tile of dst's dtype, P a multiple of 16"},
      Field{"index", &Args::index, "uint16 tile; a group of 16 partitions flattens its indices, partition fastest"},
      Field{"num_elem_per_idx", &Args::num_elem_per_idx, "consecutive elements per index: 1, 2, 4, 8, 16 or 32"},
      Field{"num_valid_indices", &Args::num_valid_indices, "indices of a group that count; 0: all"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    for (const auto& [field, tile_] : {std::pair{"dst", &a.dst}, {"src_buffer", &a.src_buffer}, {"index", &a.index}}) {
      if (auto bad = in_space(field, *tile_, Space::sbuf)) return bad;
      if (auto bad = tile(field, *tile_, s, tile_ != &a.dst)) return bad;
      if (tile_->partitions() != a.dst.partitions())
        return breaks(RuleKind::shape, field, " has ", tile_->partitions(), " partitions but dst has ",
                      a.dst.partitions());
    }
    if (a.dst.partitions() % 16 != 0)
      return breaks(RuleKind::shape, "dst has ", a.dst.partitions(), " partitions, not a multiple of 16");
    if (a.src_buffer.dtype != a.dst.dtype)
      return breaks(RuleKind::dtype, "src_buffer is ", trn::name(a.src_buffer.dtype), " but dst is ",
                    trn::name(a.dst.dtype));
    if (a.index.dtype != Dtype::uint16)
      return breaks(RuleKind::dtype, "index must be uint16, not ", trn::name(a.index.dtype));
    const int n = a.num_elem_per_idx;
    if (n < 1 || n > 32 || (n & (n - 1)) != 0) return illegal("num_elem_per_idx must be 1, 2, 4, 8, 16 or 32, not ", n);
    if (a.num_valid_indices < 0 || valid(a) > 16 * a.index.free_elements() || valid(a) > 4096)
      return illegal("num_valid_indices ", valid(a), " passes the group's ", 16 * a.index.free_elements(),
                     " indices or 4096");
    if (a.dst.free_elements() != valid(a) * n)
      return breaks(RuleKind::shape, "dst has ", a.dst.free_elements(), " elements per partition, not ", valid(a) * n);
    return {};
  }

  static int64_t valid(const Args& a) {
    return a.num_valid_indices > 0 ? a.num_valid_indices : 16 * a.index.free_elements();
  }

  // 150 + indices * elements / C with C = ((28 + 4 e) / (4 e)) / min(4 / bytes, e) (aws-neuron-sdk 1db4d74e).
  static Cost cost(const Args& a, Engine, const Spec& s) {
    const double e = a.num_elem_per_idx, bytes = size_of(a.dst.dtype);
    const double rate = (28 + 4 * e) / (4 * e) / std::min(4 / bytes, e);
    return engine_cost::gpsimd(static_cast<double>(valid(a)) * e / rate, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_local_gather(a.dst, a.src_buffer, a.index, a.num_elem_per_idx, valid(a), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access ids = sbuf(32, 2, Dtype::uint16, 8192), from = sbuf(32, 100);
    return {
        {"pairs", {sbuf(32, 64, Dtype::float32, 4096), from, ids, 2, 0}, ""},
        {"20 of 32", {sbuf(32, 20, Dtype::float32, 4096), from, ids, 1, 20}, ""},
        {"threes", {sbuf(32, 96, Dtype::float32, 4096), from, ids, 3, 0}, "num_elem_per_idx must be"},
        {"wide indices",
         {sbuf(32, 32, Dtype::float32, 4096), from, sbuf(32, 2, Dtype::uint32, 8192), 1, 0},
         "index must be uint16"},
    };
  }
};

}  // namespace trn
