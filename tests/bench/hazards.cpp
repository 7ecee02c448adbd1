// What strict mode costs: looking for hazards once, as the runtime does when it first executes a Program that it has
// loaded, against computing and timing that Program once.
#include <benchmark/benchmark.h>

#include <chrono>

#include "backend/compiler/compile.h"
#include "backend/compiler/view.h"
#include "sim/execute.h"
#include "sim/hazards.h"
#include "sim/simulate.h"
#include "tests/bench/mixed.h"

namespace {

using namespace trn;
using namespace trn::compiler;

struct Source {
  Graph g{"bench"};
  NodeId input(Dims shape, Dtype d) {
    return g.input(slot(shape, d, SlotUse::input), d, shape, contiguous_strides(shape));
  }
  Program compiled(NodeId result) {
    const Node& n = g[result];
    g.output(result, slot(n.shape, n.dtype, SlotUse::output), contiguous_strides(n.shape));
    return compile(g, trn2());
  }

 private:
  uint32_t slot(const Dims& shape, Dtype d, SlotUse use) {
    int64_t n = size_of(d);
    for (const int64_t x : shape) n *= x;
    return g.slot({.name = "s", .use = use, .dtype = d, .bytes = n, .constant_offset = 0, .shape = shape});
  }
};

Program matmul(int64_t n) {
  Source s;
  return s.compiled(s.g.matmul(s.input({n, n}, Dtype::bfloat16), s.input({n, n}, Dtype::bfloat16), Dtype::bfloat16));
}

Program add(int64_t n) {
  Source s;
  const NodeId a = s.input({n, n}, Dtype::float32);
  return s.compiled(s.g.map(AluOp::add, a, s.input({n, n}, Dtype::float32)));
}

double milliseconds(auto&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Counter `percent`: of function + time.
void measure(benchmark::State& state, const Program& p, bool execute_it) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::span<std::byte>> slots;
  for (const Slot& s : p.slots) {
    memory.emplace_back(execute_it ? static_cast<size_t>(s.bytes) : 0);
    slots.push_back(memory.back());
  }
  static CoreState core(trn2());
  CoreState* cores[] = {&core};
  double run = 0, hazards = 0;
  for (auto _ : state) {
    hazards += milliseconds([&] { benchmark::DoNotOptimize(find_hazards_of_legal(p, trn2())); });
    state.PauseTiming();
    run += milliseconds([&] {
      if (execute_it) execute(p, cores, slots);
      benchmark::DoNotOptimize(simulate(p, trn2()));
    });
    state.ResumeTiming();
  }
  state.counters["instructions"] = static_cast<double>(p.instructions.size());
  if (execute_it) state.counters["percent"] = 100 * hazards / run;
}

void BM_hazards_matmul(benchmark::State& state) { measure(state, matmul(state.range(0)), state.range(0) < 4096); }
BENCHMARK(BM_hazards_matmul)->Arg(256)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_hazards_add(benchmark::State& state) { measure(state, add(state.range(0)), true); }
BENCHMARK(BM_hazards_add)->Arg(64)->Arg(512)->Arg(2048)->Unit(benchmark::kMillisecond);

void BM_hazards_mixed(benchmark::State& state) { measure(state, bench::mixed(state.range(0) / 10, 128), true); }
BENCHMARK(BM_hazards_mixed)->Arg(100)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
