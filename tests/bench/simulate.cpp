// Time only: how many instructions a second the simulator times, nothing cached, one thread, and what memory it takes.
#include "sim/simulate.h"

#include <benchmark/benchmark.h>

#include <fstream>

#include "tests/bench/memory.h"
#include "tests/bench/mixed.h"
#include "traces/perfetto.h"

namespace {

using namespace trn;

// Counters: `bytes` an instruction that the simulator takes beside the Program, `program_bytes` that the Program does.
void BM_simulate_mixed(benchmark::State& state) {
  const size_t before = bench::bytes_now();
  const Program p = bench::mixed(state.range(0) / 10);
  const auto instructions = static_cast<double>(p.instructions.size());
  const size_t program = bench::bytes_now();
  bench::forget_peak();
  for (auto _ : state) benchmark::DoNotOptimize(simulate(p, trn2()));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(p.instructions.size()));
  state.counters["bytes"] = static_cast<double>(bench::bytes_peak() - program) / instructions;
  state.counters["program_bytes"] = static_cast<double>(program - before) / instructions;
}
BENCHMARK(BM_simulate_mixed)->Arg(50'000'000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_simulate_mixed)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

// The same with its timeline written for Perfetto meanwhile.
void BM_simulate_traced(benchmark::State& state) {
  const Program p = bench::mixed(state.range(0) / 10);
  const size_t program = bench::bytes_now();
  bench::forget_peak();
  for (auto _ : state) {
    std::ofstream out("/dev/null", std::ios::binary);
    PerfettoStream stream(p, trn2(), out);
    stream.end(simulate(p, trn2(), &stream));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(p.instructions.size()));
  state.counters["bytes"] =
      static_cast<double>(bench::bytes_peak() - program) / static_cast<double>(p.instructions.size());
}
BENCHMARK(BM_simulate_traced)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
