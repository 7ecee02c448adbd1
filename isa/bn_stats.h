#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/statistics_kernels.h"

namespace trn {

struct BnStats {
  static constexpr std::string_view name = "bn_stats";
  static constexpr std::string_view doc =
      "dst = count, mean and variance * count of the even, then of the odd elements of each partition";
  static constexpr std::string_view source = "nki.isa.bn_stats; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "[P, 6]"},
                                     Field{"data", &Args::data, "2 to 512 elements per partition"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (a.dst.partitions() != a.data.partitions())
      return breaks(RuleKind::shape, "dst has ", a.dst.partitions(), " partitions but data has ", a.data.partitions());
    if (a.dst.free_elements() != 6)
      return breaks(RuleKind::shape, "dst must have 6 elements per partition, not ", a.dst.free_elements());
    const int64_t n = a.data.free_elements();
    if (n < 2 || n > 512) return breaks(RuleKind::shape, "data has ", n, " elements per partition, not 2 to 512");
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.data.free_elements()), s.vector_reduce_latency_ns,
                               s.vector_reduce_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_bn_stats(a.dst, a.data, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"512 elements", {sbuf(128, 6, Dtype::float32, 8192), sbuf(128, 512)}, ""},
        {"513 elements", {sbuf(128, 6, Dtype::float32, 8192), sbuf(128, 513)}, "data has 513 elements"},
        {"5 results", {sbuf(128, 5, Dtype::float32, 8192), sbuf(128, 512)}, "dst must have 6 elements"},
    };
  }
};

}  // namespace trn
