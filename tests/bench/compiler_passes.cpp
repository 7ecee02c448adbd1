#include <benchmark/benchmark.h>

#include "backend/compiler/tile_builder.h"
#include "isa/isa.h"

namespace {

using namespace trn;
using namespace trn::compiler;

// C = A B of n-cubes in bfloat16, A given transposed: row blocks of A and column blocks of B stay in SBUF while they
// are needed.
TileProgram matmul(int n) {
  TileBuilder t("matmul", trn2());
  for (const char* name : {"at", "b", "c"})
    t.slot({.name = name,
            .use = *name == 'c' ? SlotUse::output : SlotUse::input,
            .dtype = Dtype::bfloat16,
            .bytes = int64_t{n} * n * 2,
            .shape = {n, n}});
  const auto block = [n](uint32_t slot, int row, int column, int columns) {
    Access a{.space = Space::hbm, .dtype = Dtype::bfloat16, .ndim = 2};
    a.buffer = slot;
    a.offset = (int64_t{row} * n + column) * 2;
    a.dims = {Dim{n, 128}, Dim{1, columns}};
    return a;
  };
  const int k_tiles = n / 128;
  for (int column = 0; column < n; column += 512) {
    std::vector<Tile> b;
    for (int k = 0; k < k_tiles; ++k) {
      b.push_back(t.sbuf(128, Dtype::bfloat16, {512}));
      t.load(b.back(), block(1, k * 128, column, 512));
    }
    for (int row = 0; row < n; row += 512) {
      std::vector<Tile> a;
      for (int k = 0; k < k_tiles; ++k) {
        a.push_back(t.sbuf(128, Dtype::bfloat16, {512}));
        t.load(a.back(), block(0, k * 128, row, 512));
      }
      for (int part = 0; part < 512; part += 128) {
        const Tile sum = t.psum(128, Dtype::float32, {512}), out = t.sbuf(128, Dtype::bfloat16, {512});
        for (int k = 0; k < k_tiles; ++k) {
          NcMatmul::Args m;
          m.dst = sum;
          m.stationary = a[k].columns(part, 128);
          m.moving = b[k];
          m.accumulate = k > 0;
          t.emit<NcMatmul>(Engine::tensor, m);
        }
        TensorCopy::Args copy;
        copy.dst = out;
        copy.src = sum;
        t.emit<TensorCopy>(t.least_loaded(EngineSet{Engine::vector, Engine::scalar}), copy);
        t.store(block(2, row + part, column, 512), out);
      }
    }
  }
  return std::move(t).finish();
}

// Columns [128, 4096] of many tiles through three engines: nothing saturates, so the list scheduler works.
TileProgram chains(int count) {
  TileBuilder t("chains", trn2());
  t.slot({.name = "x", .use = SlotUse::input, .bytes = 1 << 16, .shape = {}});
  Access hbm{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
  hbm.dims = {Dim{128, 128}, Dim{1, 128}};
  const Tile x = t.sbuf(128, Dtype::float32, {128});
  t.load(x, hbm);
  for (int b = 0; b < count; ++b) {
    Tile in = x;
    for (int turn = 0; turn < 4; ++turn) {
      const Tile sum = t.sbuf(128, Dtype::float32, {128}), out = t.sbuf(128, Dtype::float32, {128});
      TensorTensor::Args add;
      add.dst = sum;
      add.data1 = add.data2 = in;
      t.emit<TensorTensor>(Engine::vector, add);
      Activate::Args exp;
      exp.dst = out;
      exp.op = Activation::exp;
      exp.data = sum;
      t.emit<Activate>(Engine::scalar, exp);
      in = out;
    }
  }
  return std::move(t).finish();
}

void count(benchmark::State& state, const TileProgram& p) {
  state.counters["instructions"] = static_cast<double>(p.program.instructions.size());
}

void BM_matmul_tile(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(matmul(static_cast<int>(state.range(0))));
}
BENCHMARK(BM_matmul_tile)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_matmul_schedule(benchmark::State& state) {
  const TileProgram p = matmul(static_cast<int>(state.range(0)));
  count(state, p);
  for (auto _ : state) benchmark::DoNotOptimize(schedule(p, trn2()));
}
BENCHMARK(BM_matmul_schedule)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_chains_schedule(benchmark::State& state) {
  const TileProgram p = chains(3000);
  count(state, p);
  for (auto _ : state) benchmark::DoNotOptimize(schedule(p, trn2()));
}
BENCHMARK(BM_chains_schedule)->Unit(benchmark::kMillisecond);

void BM_matmul_allocate(benchmark::State& state) {
  const TileProgram p = matmul(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(allocate(p, trn2()));
}
BENCHMARK(BM_matmul_allocate)->Arg(4096)->Unit(benchmark::kMillisecond);

void BM_matmul_synchronise(benchmark::State& state) {
  const TileProgram p = allocate(matmul(static_cast<int>(state.range(0))), trn2());
  for (auto _ : state) benchmark::DoNotOptimize(synchronise(p, trn2()));
}
BENCHMARK(BM_matmul_synchronise)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace
