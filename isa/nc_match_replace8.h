#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

// vals are taken from the last to the first: equal ones take successive matches in descending order of their place.
struct NcMatchReplace8 {
  static constexpr std::string_view name = "nc_match_replace8";
  static constexpr std::string_view doc = "dst = data with the first match of each of the 8 vals replaced by imm";
  static constexpr std::string_view source = "nki.isa.nc_match_replace8; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{}, vals{};
    float imm = 0;
    Access dst_idx{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "tile of data's size"}, Field{"data", &Args::data, "8 to 16384 elements per partition"},
      Field{"vals", &Args::vals, "[P, 8]"}, Field{"imm", &Args::imm, "replacement"},
      Field{"dst_idx", &Args::dst_idx,
            "optional [P, 8] uint16 or uint32: where each val was found, all ones if nowhere"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = tile("vals", a.vals, s)) return bad;
    if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
    if (auto bad = eight("vals", a.vals, a.data)) return bad;
    if (auto bad = searched("data", a.data)) return bad;
    if (!a.dst_idx.present()) return {};
    if (auto bad = tile("dst_idx", a.dst_idx, s, false)) return bad;
    if (auto bad = eight("dst_idx", a.dst_idx, a.data)) return bad;
    return index_dtype("dst_idx", a.dst_idx.dtype);
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const auto cycles = static_cast<double>(a.data.free_elements());
    return engine_cost::vector(cycles, s.vector_reduce_latency_ns, s.vector_reduce_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_match_replace8(a.dst, a.data, a.vals, a.imm, a.dst_idx, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access vals = sbuf(128, 8, fp, 8192), x = sbuf(128, 100), out = sbuf(128, 100, fp, 512);
    return {
        {"a row", {.dst = out, .data = x, .vals = vals, .imm = -1e30f}, ""},
        {"with indices",
         {.dst = out, .data = x, .vals = vals, .imm = 0, .dst_idx = sbuf(128, 8, Dtype::uint16, 8224)},
         ""},
        {"sizes differ",
         {.dst = sbuf(128, 99), .data = x, .vals = vals},
         "data has 100 elements per partition but dst has 99"},
        {"float indices",
         {.dst = out, .data = x, .vals = vals, .imm = 0, .dst_idx = sbuf(128, 8, fp, 8224)},
         "dst_idx must be uint16 or uint32"},
    };
  }
};

}  // namespace trn
