#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

// Values are compared in fp32. NaN counts as the largest value (assumed: the documentation is silent).
struct Max8 {
  static constexpr std::string_view name = "max8";
  static constexpr std::string_view doc = "dst = the 8 largest values of each partition, descending";
  static constexpr std::string_view source = "nki.isa.max8; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "[P, 8]"},
                                     Field{"src", &Args::src, "8 to 16384 elements per partition"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("src", a.src, s)) return bad;
    if (auto bad = eight("dst", a.dst, a.src)) return bad;
    return searched("src", a.src);
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const auto cycles = static_cast<double>(a.src.free_elements());
    return engine_cost::vector(cycles, s.vector_reduce_latency_ns, s.vector_reduce_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_max8(a.dst, a.src, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"a row", {sbuf(128, 8, Dtype::float32, 8192), sbuf(128, 100)}, ""},
        {"7 elements", {sbuf(128, 8, Dtype::float32, 8192), sbuf(128, 7)}, "src has 7 elements per partition"},
        {"9 results", {sbuf(128, 9, Dtype::float32, 8192), sbuf(128, 100)}, "dst must have 8 elements per partition"},
    };
  }
};

}  // namespace trn
