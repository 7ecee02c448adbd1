#pragma once
#include <tuple>
#include <vector>

#include "isa/elementwise.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// fp32 throughout; sums in Vector's registers, which `idle` leaves undefined.
struct Exponential {
  static constexpr std::string_view name = "exponential";
  static constexpr std::string_view doc = "dst = exp(src - max_value), optionally summed along the free dims";
  static constexpr std::string_view source =
      "nki.isa.exponential; trainium3_arch (four times activation's rate); overheads as tensor_scalar's (assumed)";
  static constexpr Status status = Status::documented;
  static constexpr Generation since = Generation::trn3;
  static constexpr EngineSet engines{Engine::vector};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{}, src{};
    Operand max_value{};
    Access reduce_res{};
    ReduceCmd reduce_cmd = ReduceCmd::idle;
    Operand reduce_init{};
  };
  static constexpr std::tuple fields{
      Field{"dst", &Args::dst, "SBUF or PSUM tile, not uint32"},
      Field{"src", &Args::src, "tile of the same size, not tfloat32"},
      Field{"max_value", &Args::max_value, "subtracted first: immediate or [P, 1] float32 tile"},
      Field{"reduce_res", &Args::reduce_res, "optional [P, 1] float tile that gets the registers"},
      Field{"reduce_cmd", &Args::reduce_cmd, "idle, reset_reduce, reduce, or load_reduce to start from reduce_init"},
      Field{"reduce_init", &Args::reduce_init, "immediate or [P, 1] float32 tile"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("src", a.src, s)) return bad;
    if (auto bad = same_size("src", a.src, "dst", a.dst)) return bad;
    if (a.dst.dtype == Dtype::uint32) return breaks(RuleKind::dtype, "dst may not be uint32");
    if (a.src.dtype == Dtype::tfloat32) return breaks(RuleKind::dtype, "src may not be tfloat32");
    if (auto bad = scalar_operand("max_value", a.max_value, a.src.partitions(), s)) return bad;
    for (const auto& [field, o] : {std::pair{"max_value", &a.max_value}, {"reduce_init", &a.reduce_init}})
      if (o->is_tile() && o->tile.dtype != Dtype::float32)
        return breaks(RuleKind::dtype, field, " must be float32, not ", trn::name(o->tile.dtype));
    if (a.reduce_res.present() && !is_float(a.reduce_res.dtype))
      return breaks(RuleKind::dtype, "reduce_res must be of a float dtype, not ", trn::name(a.reduce_res.dtype));
    using enum ReduceCmd;
    if (auto bad =
            accumulation(sums(a), {idle, reset_reduce, reduce, load_reduce}, {AluOp::add}, a.src.partitions(), s))
      return bad;
    if (a.reduce_res.present() && a.reduce_cmd == idle) return illegal("reduce_res needs a reduce_cmd other than idle");
    const bool loads = a.reduce_init.is_tile() || a.reduce_init.immediate != 0;
    if (loads && a.reduce_cmd != load_reduce) return illegal("reduce_init is for reduce_cmd load_reduce");
    return {};
  }

  static Accumulation sums(const Args& a) {
    return {.cmd = a.reduce_cmd, .op = AluOp::add, .result = a.reduce_res, .init = a.reduce_init, .forgets = true};
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    Cost c = engine_cost::vector(static_cast<double>(a.dst.free_elements()) / s.vector_rate_exponential,
                                 s.vector_scalar_latency_ns, s.vector_scalar_overhead_ns, s);
    if (!a.reduce_res.present()) return c;
    c.busy += s.vector_min_cycles;
    c.latency += s.vector_min_cycles;
    return c;
  }

  static void run(const Args& a, const CoreMemory& m) {
    const bool shifts = a.max_value.is_tile() || a.max_value.immediate != 0;
    run_activation(a.dst, Activation::exp, a.src, {shifts ? AluOp::subtract : AluOp::bypass, a.max_value, false}, {},
                   {}, sums(a), vector_registers(m), m);
  }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto fp = Dtype::float32, bf = Dtype::bfloat16;
    const Access out = sbuf(128, 64, bf, 512), x = psum(128, 64), column = sbuf(128, 1, fp, 8192);
    return {
        {"softmax's numerators and their sum",
         {.dst = out,
          .src = x,
          .max_value = {sbuf(128, 1, fp, 8196)},
          .reduce_res = column,
          .reduce_cmd = ReduceCmd::reset_reduce},
         ""},
        {"going on from a value",
         {.dst = out, .src = x, .reduce_cmd = ReduceCmd::load_reduce, .reduce_init = number(3)},
         ""},
        {"uint32", {.dst = sbuf(128, 64, Dtype::uint32, 512), .src = x}, "dst may not be uint32"},
        {"a bfloat16 maximum", {.dst = out, .src = x, .max_value = {sbuf(128, 1, bf, 8196)}}, "max_value must be"},
        {"sums of nothing", {.dst = out, .src = x, .reduce_res = column}, "reduce_res needs a reduce_cmd"},
        {"a value that nothing loads", {.dst = out, .src = x, .reduce_init = number(1)}, "reduce_init is for"},
    };
  }
};

}  // namespace trn
