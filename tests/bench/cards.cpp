// Host speed of the instructions that models spend their time in: GFLOP/s of products, bytes/s (read + written) of the
// rest, on full tiles.
#include <benchmark/benchmark.h>

#include "isa/isa.h"
#include "isa/threads.h"

namespace {

using namespace trn;
using namespace trn::example;

struct Machine {
  PartitionedMemory sbuf{128, 224 * 1024}, psum{128, 16 * 1024};
  std::vector<std::byte> slot = std::vector<std::byte>(32 << 20);
  std::span<std::byte> bound[1] = {slot};
  CoreMemory memory{&sbuf, &psum, bound};

  Machine() {
    for (int p = 0; p < 128; ++p) {
      auto* f = reinterpret_cast<float*>(sbuf.at(p, 0));
      for (int i = 0; i < 224 * 256; ++i) f[i] = static_cast<float>((i * 7 + p) % 64) / 32 - 1;
      std::memcpy(psum.at(p, 0), f, 16 * 1024);
    }
  }
};
Machine& machine() {
  static Machine m;
  return m;
}

template <class C>
void run(benchmark::State& state, const typename C::Args& args) {
  const CoreMemory& m = machine().memory;
  for (auto _ : state) {
    C::run(args, m);
    benchmark::ClobberMemory();
  }
  int64_t bytes = 0;
  for_each_access<C>(args, [&](const Access& a, bool) { bytes += a.bytes(); });
  state.SetBytesProcessed(bytes * state.iterations());
}

constexpr int64_t kSecond = 64 * 1024, kThird = 128 * 1024;
constexpr auto kF32 = Dtype::float32;
constexpr auto kBf16 = Dtype::bfloat16;

void matmul(benchmark::State& state, Dtype d) {
  set_threads(static_cast<int>(state.range(1)));
  const auto n = static_cast<int>(state.range(0));
  const NcMatmul::Args a{
      .dst = psum(128, n), .stationary = sbuf(128, 128, d), .moving = sbuf(128, n, d, kSecond), .accumulate = true};
  run<NcMatmul>(state, a);
  state.counters["GFLOP/s"] = benchmark::Counter(2.0 * 128 * 128 * n * static_cast<double>(state.iterations()) / 1e9,
                                                 benchmark::Counter::kIsRate);
  set_threads(0);
}

Access hbm_of(Dtype d, std::initializer_list<Dim> dims) {
  Access a;
  a.space = Space::hbm;
  a.dtype = d;
  for (const Dim& dim : dims) a.dims[a.ndim++] = dim;
  return a;
}

template <class C>
void add(const char* label, const typename C::Args& args) {
  benchmark::RegisterBenchmark(label, [args](benchmark::State& s) { run<C>(s, args); });
}

const bool kRegistered = [] {
  add<NcTranspose>("nc_transpose fp32 128x128", {psum(128, 128), sbuf(128, 128)});
  add<NcTranspose>("nc_transpose bf16 128x128", {psum(128, 128, kBf16), sbuf(128, 128, kBf16)});
  add<TensorCopy>("tensor_copy PSUM->SBUF fp32", {sbuf(128, 512), psum(128, 512)});
  add<TensorCopy>("tensor_copy PSUM->SBUF bf16", {sbuf(128, 512, kBf16), psum(128, 512)});
  add<TensorTensor>("tensor_tensor add fp32",
                    {sbuf(128, 512, kF32, kThird), sbuf(128, 512), sbuf(128, 512, kF32, kSecond), AluOp::add});
  add<TensorTensor>("tensor_tensor add bf16",
                    {sbuf(128, 512, kBf16, kThird), sbuf(128, 512, kBf16), sbuf(128, 512, kBf16, kSecond), AluOp::add});
  add<TensorScalar>("tensor_scalar mul add fp32", {sbuf(128, 512, kF32, kThird), sbuf(128, 512), AluOp::multiply,
                                                   number(3), false, AluOp::add, number(1), false});
  add<TensorReduce>("tensor_reduce add fp32", {sbuf(128, 1, kF32, kThird), AluOp::add, sbuf(128, 512), false});
  add<TensorReduce>("tensor_reduce max 64 groups of 8",
                    {sbuf(128, 64, kF32, kThird), AluOp::maximum, sbuf(128, 512), false});
  add<Activate>("activation exp fp32", {sbuf(128, 512, kF32, kThird), Activation::exp, sbuf(128, 512)});
  add<Activate>("activation gelu fp32", {sbuf(128, 512, kF32, kThird), Activation::gelu, sbuf(128, 512)});
  add<Activate>("activation tanh bf16", {sbuf(128, 512, kBf16, kThird), Activation::tanh, sbuf(128, 512, kBf16)});
  add<ActivationReduce>("activation_reduce exp fp32", {sbuf(128, 512, kF32, kThird), Activation::exp, sbuf(128, 512),
                                                       AluOp::add, sbuf(128, 1, kF32, kSecond)});
  add<TensorCopyPredicated>("tensor_copy_predicated fp32", {sbuf(128, 512, kF32, kThird), Operand{sbuf(128, 512)},
                                                            sbuf(128, 512, Dtype::uint8, kSecond)});
  add<Max8>("max8 fp32 512", {sbuf(128, 8, kF32, kThird), sbuf(128, 512)});
  add<DmaCopy>("dma_copy load fp32 2 KiB rows", {sbuf(128, 512), hbm(128, 512)});
  add<DmaCopy>("dma_copy load with cast", {sbuf(128, 512, kBf16), hbm(128, 512)});
  add<DmaCopy>("dma_copy transposing fp32", {sbuf(128, 512), hbm_of(kF32, {{1, 128}, {128, 512}})});
  add<DmaCopy>("dma_copy transposing bf16", {sbuf(128, 512, kBf16), hbm_of(kBf16, {{1, 128}, {128, 512}})});
  add<DmaCopy>("dma_copy heads, 64 B runs", {sbuf(128, 512), hbm_of(kF32, {{16, 128}, {2048, 32}, {1, 16}})});
  add<DmaCopy>("dma_copy every second fp32", {sbuf(128, 512), hbm_of(kF32, {{1024, 128}, {2, 512}})});
  return true;
}();

}  // namespace

BENCHMARK_CAPTURE(matmul, fp32, kF32)->Args({512, 1})->Args({512, 2})->Args({64, 1});
BENCHMARK_CAPTURE(matmul, bf16, kBf16)->Args({512, 1})->Args({512, 2})->Args({64, 1});
