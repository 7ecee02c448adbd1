#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// The reduced axes are data's last free dims: dst has one element for each consecutive group of data.free_elements() /
// dst.free_elements() elements in data's pattern order (AWS's `axis` and `keepdims` are these two shapes). fp32 sums
// run in a fixed order: that of reduce_float (alu.h), or one element after the other for many short or scattered
// groups.
struct TensorReduce {
  static constexpr std::string_view name = "tensor_reduce";
  static constexpr std::string_view doc = "dst = data reduced by op along its last free dims";
  static constexpr std::string_view source = "nki.isa.tensor_reduce; intervals from public trn2 profiles";
  static constexpr Status status = Status::measured;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    AluOp op = AluOp::add;
    Access data{};
    bool negate = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "[P, groups]"}, Field{"op", &Args::op, "reduction operator"},
      Field{"data", &Args::data, "[P, groups, reduced...]"},
      Field{"negate", &Args::negate, "multiply the result by -1 (arithmetic operators)"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (a.dst.partitions() != a.data.partitions())
      return breaks(RuleKind::shape, "dst has ", a.dst.partitions(), " partitions but data has ", a.data.partitions());
    if (a.data.free_elements() % a.dst.free_elements() != 0)
      return breaks(RuleKind::shape, "dst has ", a.dst.free_elements(),
                    " elements per partition, which do not divide data's ", a.data.free_elements());
    if (auto bad = reduction("op", a.op, {a.dst.dtype, a.data.dtype})) return bad;
    if (a.negate && info(a.op).is_bitvec) return illegal("negate needs an arithmetic operator, not ", trn::name(a.op));
    return {};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const bool psum = a.data.space == Space::psum;  // as slow to reach as for a copy
    return engine_cost::vector(static_cast<double>(a.data.free_elements()),
                               psum ? s.vector_copy_latency_ns : s.vector_reduce_latency_ns,
                               psum ? s.vector_copy_overhead_ns : s.vector_reduce_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_reduce(a.dst, a.op, a.data, a.negate, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    return {
        {"a row each", {sbuf(128, 1, fp, 8192), AluOp::add, sbuf(128, 512), false}, ""},
        {"groups of 8", {sbuf(64, 8, fp, 8192), AluOp::maximum, sbuf(64, 64), true}, ""},
        {"bits", {sbuf(32, 1, Dtype::uint8, 8192), AluOp::bitwise_or, sbuf(32, 64, Dtype::uint8), false}, ""},
        {"uneven groups",
         {sbuf(64, 7, fp, 8192), AluOp::add, sbuf(64, 64), false},
         "dst has 7 elements per partition, which do not divide"},
        {"no reduction", {sbuf(64, 1, fp, 8192), AluOp::equal, sbuf(64, 64), false}, "op equal is no reduction"},
        {"partitions differ",
         {sbuf(64, 1, fp, 8192), AluOp::add, sbuf(128, 64), false},
         "dst has 64 partitions but data has 128"},
        {"negated bits",
         {sbuf(32, 1, Dtype::uint8, 8192), AluOp::bitwise_or, sbuf(32, 64, Dtype::uint8), true},
         "negate needs"},
    };
  }
};

}  // namespace trn
