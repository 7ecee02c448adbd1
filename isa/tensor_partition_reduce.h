#pragma once
#include <tuple>
#include <vector>

#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"
#include "isa/select_kernels.h"

namespace trn {

// In order of the partitions, in fp32 or exact integers. The arithmetic mean, which AWS lists too, is no ALU operator
// here.
struct TensorPartitionReduce {
  static constexpr std::string_view name = "tensor_partition_reduce";
  static constexpr std::string_view doc = "dst = data reduced by op across partitions";
  static constexpr std::string_view source =
      "nki.isa.tensor_partition_reduce; time: one pass over all partitions by the 8 cores (assumed)";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn1;
  static constexpr EngineSet engines{Engine::gpsimd};
  static constexpr bool is_dma = false;

  struct Args {
    Access dst{};
    AluOp op = AluOp::add;
    Access data{};
  };
  static constexpr std::tuple fields{Field{"dst", &Args::dst, "SBUF [1, F]"},
                                     Field{"op", &Args::op, "add, maximum, bitwise_or or bitwise_and"},
                                     Field{"data", &Args::data, "SBUF [P, F]"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = in_space("data", a.data, Space::sbuf)) return bad;
    if (auto bad = tile("dst", a.dst, s, false)) return bad;
    if (auto bad = tile("data", a.data, s)) return bad;
    if (a.dst.partitions() != 1) return breaks(RuleKind::shape, "dst has ", a.dst.partitions(), " partitions, not 1");
    if (a.dst.free_elements() != a.data.free_elements())
      return breaks(RuleKind::shape, "data has ", a.data.free_elements(), " elements per partition but dst has ",
                    a.dst.free_elements());
    const bool known =
        a.op == AluOp::add || a.op == AluOp::maximum || a.op == AluOp::bitwise_or || a.op == AluOp::bitwise_and;
    if (!known) return illegal("op must be add, maximum, bitwise_or or bitwise_and, not ", trn::name(a.op));
    return reduction("op", a.op, {a.dst.dtype, a.data.dtype});
  }

  static Cost cost(const Args& a, Engine, const Spec& s) {
    return engine_cost::gpsimd(static_cast<double>(a.data.free_elements()), s);
  }

  static void run(const Args& a, const CoreMemory& m) { run_partition_reduce(a.dst, a.op, a.data, m); }

  static std::vector<Example<Args>> examples() {
    using namespace example;
    return {
        {"a sum", {sbuf(1, 64, Dtype::float32, 512), AluOp::add, sbuf(128, 64)}, ""},
        {"a product", {sbuf(1, 64, Dtype::float32, 512), AluOp::multiply, sbuf(128, 64)}, "op must be add"},
        {"two partitions", {sbuf(2, 64, Dtype::float32, 512), AluOp::add, sbuf(128, 64)}, "dst has 2 partitions"},
    };
  }
};

}  // namespace trn
