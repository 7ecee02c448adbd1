#pragma once
#include <tuple>
#include <vector>

#include "isa/control.h"
#include "isa/engine_cost.h"
#include "isa/examples.h"
#include "isa/rules.h"

namespace trn {

// Both cores come to it, both transfers run, both are complete before either core's engine goes on (nki.isa.sendrecv:
// "all operations in the group must complete before any can proceed"). Sendrecvs of one pipe_id meet in order.
struct SendRecv {
  static constexpr std::string_view name = "sendrecv";
  static constexpr std::string_view doc = "sends src to the other core's dst and receives its src in dst";
  static constexpr std::string_view source = "nki.isa.sendrecv; time assumed: core_barrier and a DMA copy";
  static constexpr Status status = Status::assumed;
  static constexpr Generation since = Generation::trn2;
  static constexpr EngineSet engines = control::kEverySequencer;
  static constexpr bool is_dma = true;
  static constexpr Flow flow = Flow::meeting;

  struct Args {
    Access src{}, dst{};
    int32_t send_to_rank = 1, recv_from_rank = 1;
    int32_t pipe_id = 0;
    DmaEngine dma_engine = DmaEngine::dma;
  };
  static constexpr std::tuple fields{
      Field{"src", &Args::src, "SBUF tile of this core"},
      Field{"dst", &Args::dst, "SBUF tile of this core, as large, of the same dtype"},
      Field{"send_to_rank", &Args::send_to_rank, "core that src goes to: 0 or 1"},
      Field{"recv_from_rank", &Args::recv_from_rank, "core that dst comes from; with two cores the same one"},
      Field{"pipe_id", &Args::pipe_id, "which sendrecvs belong together"},
      Field{"dma_engine", &Args::dma_engine, "dma, or gpsimd_dma for small tiles"}};

  static Verdict check(const Args& a, Engine e, const Spec& s) {
    using namespace rules;
    if (auto bad = runs_on(engines, e)) return bad;
    if (s.generation < since) return illegal("sendrecv needs NeuronCore-v3");
    if (auto bad = in_space("src", a.src, Space::sbuf)) return bad;
    if (auto bad = in_space("dst", a.dst, Space::sbuf)) return bad;
    if (auto bad = tile("src", a.src, s, true, true)) return bad;
    if (auto bad = tile("dst", a.dst, s, false, true)) return bad;
    if (auto bad = same_size("src", a.src, "dst", a.dst)) return bad;
    if (a.src.dtype != a.dst.dtype)
      return breaks(RuleKind::dtype, "src is ", trn::name(a.src.dtype), " but dst is ", trn::name(a.dst.dtype));
    if (a.send_to_rank < 0 || a.send_to_rank > 1) return illegal("send_to_rank must be 0 or 1, not ", a.send_to_rank);
    if (a.recv_from_rank != a.send_to_rank)
      return illegal("recv_from_rank ", a.recv_from_rank, " is not send_to_rank ", a.send_to_rank,
                     ": of two cores, each receives from where it sends");
    if (a.dma_engine != DmaEngine::gpsimd_dma) return {};
    if (e != Engine::gpsimd)
      return breaks(RuleKind::engine, "gpsimd_dma is triggered by the gpsimd engine, not ", trn::name(e));
    const int64_t most = 256 * size_of(a.src.dtype), have = a.src.free_elements() * size_of(a.src.dtype);
    if (have > most)
      return breaks(RuleKind::shape, "gpsimd_dma moves at most ", most, " bytes per partition, not ", have);
    return {};
  }
  static Cost cost(const Args& a, Engine, const Spec&) {
    return engine_cost::dma(engine_cost::transfer(a.dst, a.src, false));
  }
  static int32_t tag(const Args& a) { return a.pipe_id; }
  static void exchange(const Args& a, const CoreMemory& m, const Args& b, const CoreMemory& n);

  static std::vector<Example<Args>> examples() {
    using namespace example;
    const auto bf = Dtype::bfloat16;
    return {
        {"a swap", {.src = sbuf(128, 512, bf), .dst = sbuf(128, 512, bf, 4096)}, ""},
        {"by GpSimd",
         {.src = sbuf(128, 256), .dst = sbuf(128, 256, Dtype::float32, 4096), .dma_engine = DmaEngine::gpsimd_dma},
         ""},
        {"a cast", {.src = sbuf(128, 512, bf), .dst = sbuf(128, 512)}, "src is bfloat16 but dst is float32"},
        {"in a ring",
         {.src = sbuf(128, 512), .dst = sbuf(128, 512), .send_to_rank = 1, .recv_from_rank = 0},
         "recv_from_rank 0 is not send_to_rank 1"},
        {"to HBM", {.src = sbuf(128, 512), .dst = hbm(128, 512)}, "dst must be in sbuf, not hbm"},
    };
  }
};

}  // namespace trn
