#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/statistics_kernels.h"

namespace trn {

struct BnAggr {
  static constexpr std::string_view name = "bn_aggr";
  static constexpr std::string_view doc = "dst = mean and variance of each partition from bn_stats' triples";
  static constexpr std::string_view source =
      "nki.isa.bn_aggr; cost formula of aws-neuron-sdk 1db4d74e: 13 cycles a triple";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "[P, 2]"},
                                     Field{"data", &Args::data, "triples (count, mean, variance * count)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (a.dst.partitions() != a.data.partitions())
      return breaks(RuleKind::shape, "dst has ", a.dst.partitions(), " partitions but data has ", a.data.partitions());
    if (a.dst.free_elements() != 2)
      return breaks(RuleKind::shape, "dst must have 2 elements per partition, not ", a.dst.free_elements());
    if (a.data.free_elements() % 3 != 0)
      return breaks(RuleKind::shape, "data has ", a.data.free_elements(),
                    " elements per partition, not a multiple of 3");
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.data.free_elements()) * s.vector_bn_aggr_cycles_per_element,
                               s.vector_reduce_latency_ns, s.vector_reduce_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_bn_aggr(a.dst, a.data, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"two bn_stats", {sbuf(128, 2, Dtype::float32, 8192), sbuf(128, 12)}, ""},
        {"four elements", {sbuf(128, 2, Dtype::float32, 8192), sbuf(128, 4)}, "data has 4 elements"},
        {"3 results", {sbuf(128, 3, Dtype::float32, 8192), sbuf(128, 12)}, "dst must have 2 elements"},
    };
  }
};

}  // namespace trn
