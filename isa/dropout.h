#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/random_kernels.h"
#include "isa/rules.h"

namespace trn {

// Kept elements keep their bits; nothing is scaled.
struct Dropout {
  static constexpr std::string_view name = "dropout";
  static constexpr std::string_view doc = "dst = data with elements replaced by 0 at random";
  static constexpr std::string_view source =
      "nki.isa.dropout; cost formula of aws-neuron-sdk 1db4d74e; the random numbers are rng's (assumed)";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, data{};
    Operand prob{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "tile of data's dtype"}, Field{"data", &Args::data, "tile of the same size"},
      Field{"prob", &Args::prob, "chance of a 0: immediate, or [P, 1] tile of a float dtype (float32 with integers)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (auto bad = same_size("data", a.data, "dst", a.dst)) return bad;
    if (a.dst.dtype != a.data.dtype)
      return breaks(RuleKind::dtype, "dst is ", trn::name(a.dst.dtype), " but data is ", trn::name(a.data.dtype));
    if (auto bad = scalar_operand("prob", a.prob, a.data.partitions(), s)) return bad;
    if (!a.prob.is_tile() && !(a.prob.immediate >= 0 && a.prob.immediate <= 1))
      return illegal("prob must be from 0 to 1");
    if (!a.prob.is_tile()) return {};
    const Dtype p = a.prob.tile.dtype;
    if (!is_float(p)) return breaks(RuleKind::dtype, "prob must be of a float dtype, not ", trn::name(p));
    if (!is_float(a.data.dtype) && p != Dtype::float32)
      return breaks(RuleKind::dtype, "prob must be float32 with integer data, not ", trn::name(p));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.dst.free_elements()), s.vector_tensor_latency_ns,
                               s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_dropout(a.dst, a.data, a.prob, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16, i32 = Dtype::int32;
    return {
        {"one element in ten", {sbuf(128, 64, bf, 512), sbuf(128, 64, bf), number(0.1)}, ""},
        {"a chance per partition", {sbuf(128, 64, bf, 512), sbuf(128, 64, bf), {sbuf(128, 1, bf, 8192)}}, ""},
        {"a chance above 1", {sbuf(128, 64, bf, 512), sbuf(128, 64, bf), number(1.5)}, "prob must be from 0 to 1"},
        {"a cast", {sbuf(128, 64, bf, 512), sbuf(128, 64), number(0.1)}, "dst is bfloat16 but data is float32"},
        {"integers with a bfloat16 chance",
         {sbuf(128, 64, i32, 512), sbuf(128, 64, i32), {sbuf(128, 1, bf, 8192)}},
         "prob must be float32 with integer data"},
    };
  }
};

}  // namespace trn
