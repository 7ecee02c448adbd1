#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

struct Reciprocal {
  static constexpr std::string_view name = "reciprocal";
  static constexpr std::string_view doc = "dst = 1 / data, correctly rounded in fp32";
  static constexpr std::string_view source = "nki.isa.reciprocal; nki.api.shared; two sizes in public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF or PSUM tile"},
                                     Field{"data", &Args::data, "tile of the same size"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    return same_size("data", a.data, "dst", a.dst);
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const double cycles = static_cast<double>(a.dst.free_elements()) * s.vector_reciprocal_cycles_per_element;
    return engine_cost::vector(cycles, s.vector_copy_latency_ns, s.vector_copy_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_tensor_scalar(a.dst, a.data, {AluOp::reciprocal, {}, false}, {}, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"fp32", {sbuf(128, 64, Dtype::float32, 512), sbuf(128, 64)}, ""},
        {"sizes differ", {sbuf(128, 64, Dtype::float32, 512), sbuf(128, 65)}, "data has 65 elements"},
    };
  }
};

}  // namespace trn
