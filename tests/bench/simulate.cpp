// Time only: how many instructions a second the simulator times, nothing cached, one thread.
#include "sim/simulate.h"

#include <benchmark/benchmark.h>

#include "isa/isa.h"
#include "tests/sim/programs.h"

namespace {

using namespace trn;
using namespace trn::test;

// Turns of ten instructions on all engines, two buffers deep: load, add, four products, copy out of PSUM, activation,
// iota, store. Each engine counts its completions; a consumer waits for a count.
Program mixed(int64_t turns) {
  enum : uint16_t { loaded, added, multiplied, copied, activated, counted, stored };
  const auto bf = Dtype::bfloat16, fp = Dtype::float32;
  Program p;
  for (int64_t turn = 0; turn < turns; ++turn) {
    const int64_t half = turn % 2 * 65536;
    const auto n = static_cast<uint32_t>(turn);
    const Access in = sbuf(bf, 128, half, 512), sum = sbuf(bf, 128, half + 2048, 512),
                 out = sbuf(fp, 128, half + 4096, 512);
    const Access product = psum(fp, 128, turn % 2 * 2048, 512);
    add<DmaCopy>(p, Engine::sync, dma(in, hbm(bf, 0, 128, 512)), {{added, n > 1 ? n - 1 : 0}}, loaded);
    TensorTensor::Args twice{};
    twice.dst = sum;
    twice.data1 = twice.data2 = in;
    twice.op = AluOp::add;
    add<TensorTensor>(p, Engine::vector, twice, {{loaded, n + 1}}, added);
    for (int part = 0; part < 4; ++part) {
      NcMatmul::Args m{};
      m.dst = product;
      m.stationary = sbuf(bf, 128, half + 2048 + part * 256, 128);
      m.moving = sum;
      m.accumulate = part > 0;
      if (part == 0)
        add<NcMatmul>(p, Engine::tensor, m, {{added, n + 1}, {copied, n > 1 ? n - 1 : 0}});
      else
        add<NcMatmul>(p, Engine::tensor, m, {}, part == 3 ? multiplied : Instruction::kNoUpdate);
    }
    add<TensorCopy>(p, Engine::vector, copy(out, product), {{multiplied, n + 1}}, copied);
    Activate::Args exp{};
    exp.dst = out;
    exp.data = out;
    exp.op = Activation::exp;
    add<Activate>(p, Engine::scalar, exp, {{copied, n + 1}}, activated);
    Iota::Args count{};
    count.dst = sbuf(Dtype::int32, 128, half + 8192, 64);
    add<Iota>(p, Engine::gpsimd, count, {}, counted);
    add<DmaCopy>(p, Engine::scalar, dma(hbm(fp, 1, 128, 512), out), {{activated, n + 1}}, stored);
  }
  for (size_t i = 0; i < p.instructions.size(); ++i)
    if (row(p.instructions[i]).is_dma) p.instructions[i].queue = p.instructions[i].engine == Engine::sync ? 0 : 1;
  return p;
}

void BM_simulate_mixed(benchmark::State& state) {
  const Program p = mixed(state.range(0) / 10);
  for (auto _ : state) benchmark::DoNotOptimize(simulate(p, trn2()));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(p.instructions.size()));
}
BENCHMARK(BM_simulate_mixed)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
