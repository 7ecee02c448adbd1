// Function: a large bf16 product as a Program, against the same product in fp32 by oneDNN where it is installed. One
// thread each; compare by CPU time.
#include <benchmark/benchmark.h>

#include "backend/compiler/compile.h"
#include "backend/compiler/view.h"
#include "isa/threads.h"
#include "sim/execute.h"

#ifdef TRN_HAS_DNNL
#include <dnnl.h>
#endif

namespace {

using namespace trn;
using namespace trn::compiler;

void count_flops(benchmark::State& state, int64_t n) {
  const double flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  state.counters["flops"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

Program product(int64_t n) {
  Graph g{"product"};
  const Dims shape{n, n}, steps = contiguous_strides(shape);
  const auto slot = [&](SlotUse use) {
    return g.slot({.name = "s", .use = use, .dtype = Dtype::bfloat16, .bytes = n * n * 2, .shape = shape});
  };
  const auto input = [&] { return g.input(slot(SlotUse::input), Dtype::bfloat16, shape, steps); };
  const NodeId a = input(), b = input();
  g.output(g.matmul(a, b, Dtype::bfloat16), slot(SlotUse::output), steps);
  return compile(g, trn2());
}

void BM_product(benchmark::State& state) {
  const int64_t n = state.range(0);
  const Program p = product(n);
  std::vector<std::vector<std::byte>> memory(p.slots.size());
  std::vector<std::span<std::byte>> slots;
  for (size_t i = 0; i < memory.size(); ++i) {
    memory[i].resize(static_cast<size_t>(p.slots[i].bytes));
    slots.push_back(memory[i]);
  }
  CoreState core(trn2());
  CoreState* cores[] = {&core};
  set_threads(1);
  for (auto _ : state) execute(p, cores, slots);
  set_threads(0);
  count_flops(state, n);
}
BENCHMARK(BM_product)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond);

#ifdef TRN_HAS_DNNL
void BM_product_dnnl(benchmark::State& state) {
  const int64_t n = state.range(0);
  const auto size = static_cast<size_t>(n * n);
  const std::vector<float> a(size, 1.5F), b(size, 0.5F);
  std::vector<float> c(size);
  for (auto _ : state) dnnl_sgemm('N', 'N', n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
  count_flops(state, n);
}
BENCHMARK(BM_product_dnnl)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond);
#endif

}  // namespace
