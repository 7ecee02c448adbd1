#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

struct RangeSelect {
  static constexpr std::string_view name = "range_select";
  static constexpr std::string_view doc =
      "dst = on_true_tile where index comp_op0 bound0 and index comp_op1 bound1, else the least float32; optionally "
      "each partition's maximum";
  static constexpr std::string_view source = "nki.isa.range_select; cost formula of aws-neuron-sdk 1db4d74e";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, on_true_tile{};
    AluOp comp_op0 = AluOp::greater_equal;
    AluOp comp_op1 = AluOp::less;
    Access bound0{}, bound1{};
    ReduceCmd reduce_cmd = ReduceCmd::reset_reduce;
    Access reduce_res{};
    AluOp reduce_op = AluOp::maximum;
    int32_t range_start = 0;
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile"},
      Field{"on_true_tile", &Args::on_true_tile, "float tile of the same size"},
      Field{"comp_op0", &Args::comp_op0, "comparison of range_start + free index with bound0"},
      Field{"comp_op1", &Args::comp_op1, "the same with bound1"},
      Field{"bound0", &Args::bound0, "[P, 1] float32"},
      Field{"bound1", &Args::bound1, "[P, 1] float32"},
      Field{"reduce_cmd", &Args::reduce_cmd, "reset_reduce, reduce, reset or idle"},
      Field{"reduce_res", &Args::reduce_res, "optional [P, 1] tile for the maxima"},
      Field{"reduce_op", &Args::reduce_op, "maximum"},
      Field{"range_start", &Args::range_start, "index of the first element"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("on_true_tile", a.on_true_tile, s)) return bad;
    if (auto bad = same_size("on_true_tile", a.on_true_tile, "dst", a.dst)) return bad;
    if (!is_float(a.on_true_tile.dtype))
      return breaks(RuleKind::dtype, "on_true_tile must be of a float dtype, not ", trn::name(a.on_true_tile.dtype));
    for (const AluOp op : {a.comp_op0, a.comp_op1})
      if (op < AluOp::equal || op > AluOp::less || op == AluOp::not_equal)
        return illegal("comp_op must be equal, less, less_equal, greater or greater_equal, not ", trn::name(op));
    for (const Access* bound : {&a.bound0, &a.bound1}) {
      if (auto bad = column("bound", *bound, a.dst.partitions(), s)) return bad;
      if (bound->dtype != Dtype::float32)
        return breaks(RuleKind::dtype, "bound must be float32, not ", trn::name(bound->dtype));
    }
    if (a.range_start + a.dst.free_elements() > 1 << 24)
      return illegal("range_start ", a.range_start, " lets indices pass 2^24");
    using enum ReduceCmd;
    return accumulation(maxima(a), {reset_reduce, reduce, reset, idle}, {AluOp::maximum}, a.dst.partitions(), s);
  }

  static Accumulation maxima(const Args& a) {
    return {.cmd = a.reduce_cmd, .op = a.reduce_op, .result = a.reduce_res, .init = {}};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::vector(static_cast<double>(a.dst.free_elements()), s.vector_tensor_latency_ns,
                               s.vector_tensor_overhead_ns, s);
  }

  static void run(const Args& a, const CoreMemory& m) {
    run_range_select(a.dst, a.on_true_tile, {a.comp_op0, a.bound0}, {a.comp_op1, a.bound1}, a.range_start, maxima(a),
                     m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32;
    const Access out = sbuf(128, 64, fp, 512), x = sbuf(128, 64), low = sbuf(128, 1, fp, 8192),
                 high = sbuf(128, 1, fp, 8196);
    return {
        {"a window",
         {.dst = out, .on_true_tile = x, .bound0 = low, .bound1 = high, .reduce_res = sbuf(128, 1, fp, 8200)},
         ""},
        {"integers",
         {.dst = out, .on_true_tile = sbuf(128, 64, Dtype::int32), .bound0 = low, .bound1 = high},
         "on_true_tile must be of a float dtype"},
        {"unequal",
         {.dst = out, .on_true_tile = x, .comp_op0 = AluOp::not_equal, .bound0 = low, .bound1 = high},
         "comp_op must be"},
        {"a wide bound",
         {.dst = out, .on_true_tile = x, .bound0 = low, .bound1 = sbuf(128, 2)},
         "bound must have 1 element"},
    };
  }
};

}  // namespace trn
