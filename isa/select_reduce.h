#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

struct SelectReduce {
  static constexpr std::string_view name = "select_reduce";
  static constexpr std::string_view doc =
      "dst = predicate ? on_true : on_false, optionally with each partition's maximum";
  static constexpr std::string_view source = "nki.isa.select_reduce; time as tensor_tensor (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, predicate{}, on_true{};
    Operand on_false{};
    Access reduce_res{};
    ReduceCmd reduce_cmd = ReduceCmd::idle;
    AluOp reduce_op = AluOp::maximum;
    bool reverse_pred = false;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"predicate", &Args::predicate, "integer or bool tile of at most 16 bits"},
      Field{"on_true", &Args::on_true, "tile of the same size; not in PSUM if predicate is"},
      Field{"on_false", &Args::on_false, "immediate or [P, 1] tile"},
      Field{"reduce_res", &Args::reduce_res, "optional [P, 1] float tile for the maxima"},
      Field{"reduce_cmd", &Args::reduce_cmd, "idle, reset_reduce or reduce"},
      Field{"reduce_op", &Args::reduce_op, "maximum"},
      Field{"reverse_pred", &Args::reverse_pred, "0 chooses on_true"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = predicate("predicate", a.predicate, "dst", a.dst, s)) return bad;
    if (size_of(a.predicate.dtype) > 2)
      return breaks(RuleKind::dtype, "predicate must have at most 16 bits, not ", trn::name(a.predicate.dtype));
    if (auto bad = tile("on_true", a.on_true, s)) return bad;
    if (auto bad = same_size("on_true", a.on_true, "dst", a.dst)) return bad;
    if (auto bad = not_both_psum("on_true", a.on_true, "predicate", a.predicate)) return bad;
    if (auto bad = scalar_operand("on_false", a.on_false, a.dst.partitions(), s)) return bad;
    const Dtype d = a.on_true.dtype;
    if (d == Dtype::int32 || d == Dtype::uint32 || d == Dtype::tfloat32)
      return breaks(RuleKind::dtype, "on_true may not be ", trn::name(d));
    if (a.reduce_res.present() && !is_float(a.reduce_res.dtype))
      return breaks(RuleKind::dtype, "reduce_res must be of a float dtype, not ", trn::name(a.reduce_res.dtype));
    if (a.reduce_res.present() && a.reduce_cmd == ReduceCmd::idle)
      return illegal("reduce_res needs reduce_cmd reset_reduce or reduce, not idle");
    using enum ReduceCmd;
    return accumulation(maxima(a), {idle, reset_reduce, reduce}, {AluOp::maximum}, a.dst.partitions(), s);
  }

  static Accumulation maxima(const Args& a) {
    return {.cmd = a.reduce_cmd, .op = a.reduce_op, .result = a.reduce_res, .init = {}, .forgets = true};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    const auto cycles = static_cast<double>(a.dst.free_elements());
    return engine_cost::vector(cycles, s.vector_tensor_latency_ns, s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_select(a.dst, a.predicate, a.on_true, a.on_false, a.reverse_pred, maxima(a), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32, u8 = Dtype::uint8;
    const Access out = sbuf(128, 64, fp, 512), x = sbuf(128, 64), where = sbuf(128, 64, u8, 8192),
                 column = sbuf(128, 1, fp, 9000);
    return {
        {"a mask", {.dst = out, .predicate = where, .on_true = x, .on_false = number(-1e30)}, ""},
        {"with maxima",
         {.dst = out,
          .predicate = where,
          .on_true = x,
          .on_false = {sbuf(128, 1, fp, 9004)},
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::reset_reduce},
         ""},
        {"int32", {.dst = out, .predicate = where, .on_true = sbuf(128, 64, Dtype::int32)}, "on_true may not be int32"},
        {"a wide predicate",
         {.dst = out, .predicate = sbuf(128, 64, Dtype::uint32, 8192), .on_true = x},
         "predicate must have at most 16 bits"},
        {"sums",
         {.dst = out,
          .predicate = where,
          .on_true = x,
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::reset_reduce,
          .reduce_op = AluOp::add},
         "reduce_op must be maximum"},
        {"onto kept registers", {.dst = out, .predicate = where, .on_true = x, .reduce_cmd = ReduceCmd::reduce}, ""},
        {"maxima of nothing",
         {.dst = out, .predicate = where, .on_true = x, .reduce_res = column},
         "reduce_res needs reduce_cmd"},
    };
  }
};

}  // namespace trn
