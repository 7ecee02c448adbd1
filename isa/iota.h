#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/index_kernels.h"
#include "isa/rules.h"

namespace trn {

struct Iota {
  static constexpr std::string_view name = "iota";
  static constexpr std::string_view doc =
      "dst[p, w, z, y, x] = offset + p * channel_multiplier + sum of index * step over the pattern";
  static constexpr std::string_view source = "nki.isa.iota; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    Pattern pattern{};
    int32_t offset = 0;
    int32_t channel_multiplier = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF tile of any dtype; values are int32 until they are written"},
      Field{"pattern", &Args::pattern,
            "[[step, count], ...], outermost first; the counts' product is dst's elements per partition"},
      Field{"offset", &Args::offset, "first value"},
      Field{"channel_multiplier", &Args::channel_multiplier, "added per partition"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    return pattern_covers("pattern", a.pattern, "dst", a.dst);
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::gpsimd(static_cast<double>(a.dst.free_elements()), s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_iota(a.dst, {a.pattern, a.offset, a.channel_multiplier}, m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto i32 = Dtype::int32;
    return {
        {"columns", {sbuf(128, 512, i32), pattern({{1, 512}})}, ""},
        {"two dims, per partition", {sbuf(4, 12, Dtype::float32), pattern({{10, 3}, {-1, 4}}), 5, 100}, ""},
        {"another size", {sbuf(128, 512, i32), pattern({{1, 511}})}, "pattern has 511 elements"},
        {"PSUM", {psum(128, 512, i32), pattern({{1, 512}})}, "dst must be in sbuf"},
    };
  }
};

}  // namespace trn
