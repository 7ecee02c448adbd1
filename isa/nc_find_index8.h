#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

// Values that are equal take successive matches, in ascending order (nki.isa.nc_match_replace8).
struct NcFindIndex8 {
  static constexpr std::string_view name = "nc_find_index8";
  static constexpr std::string_view doc = "dst[i] = index of the first element of data equal to vals[i]";
  static constexpr std::string_view source = "nki.isa.nc_find_index8; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{}, vals{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "[P, 8] uint16 or uint32; all ones where there is no match"},
      Field{"data", &Args::data, "8 to 16384 elements per partition"}, Field{"vals", &Args::vals, "[P, 8]"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = tile("vals", a.vals, s)) return bad;
    if (auto bad = eight("dst", a.dst, a.data)) return bad;
    if (auto bad = eight("vals", a.vals, a.data)) return bad;
    if (auto bad = index_dtype("dst", a.dst.dtype)) return bad;
    return searched("data", a.data);
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const auto cycles = static_cast<double>(a.data.free_elements());
    return engine_cost::vector(cycles, s.vector_reduce_latency_ns, s.vector_reduce_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_find_index8(a.dst, a.data, a.vals, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const Access vals = sbuf(128, 8, Dtype::float32, 8192);
    return {
        {"a row", {sbuf(128, 8, Dtype::uint32, 8224), sbuf(128, 100), vals}, ""},
        {"int32 indices", {sbuf(128, 8, Dtype::int32, 8224), sbuf(128, 100), vals}, "dst must be uint16 or uint32"},
        {"7 values",
         {sbuf(128, 8, Dtype::uint32, 8224), sbuf(128, 100), sbuf(128, 7)},
         "vals must have 8 elements per partition"},
    };
  }
};

}  // namespace trn
