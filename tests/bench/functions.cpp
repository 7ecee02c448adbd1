// Host speed of what every elementwise instruction is made of: activation functions, ALU operators and dtype
// conversions, on arrays of one SBUF chunk.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "isa/activation_functions.h"
#include "isa/alu.h"

namespace {

using namespace trn;

constexpr size_t kElements = 2048;

struct Arrays {
  std::vector<float> a = std::vector<float>(kElements), b = a, out = a;
  std::vector<std::byte> bytes = std::vector<std::byte>(kElements * 8);
  Arrays() {
    for (size_t i = 0; i < kElements; ++i) {
      a[i] = static_cast<float>(i * 7919 % kElements) / 170 - 6;
      b[i] = 1 + a[(i * 31) % kElements];
    }
  }
};

void finish(benchmark::State& state) { state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kElements)); }

void activation(benchmark::State& state, Activation f) {
  Arrays x;
  for (auto _ : state) {
    apply_activation(f, x.out.data(), x.a.data(), kElements);
    benchmark::ClobberMemory();
  }
  finish(state);
}

void alu(benchmark::State& state, AluOp op) {
  Arrays x;
  for (auto _ : state) {
    apply_float(op, x.out.data(), x.a.data(), x.b.data(), kElements);
    benchmark::ClobberMemory();
  }
  finish(state);
}

void reduce(benchmark::State& state, AluOp op) {
  Arrays x;
  for (auto _ : state) benchmark::DoNotOptimize(reduce_float(op, x.a.data(), kElements));
  finish(state);
}

void read(benchmark::State& state, Dtype d) {
  Arrays x;
  write_float(d, x.bytes.data(), size_of(d), x.a.data(), kElements);
  for (auto _ : state) {
    read_as_float(d, x.bytes.data(), size_of(d), x.out.data(), kElements);
    benchmark::ClobberMemory();
  }
  finish(state);
}

void write(benchmark::State& state, Dtype d) {
  Arrays x;
  for (auto _ : state) {
    write_float(d, x.bytes.data(), size_of(d), x.a.data(), kElements);
    benchmark::ClobberMemory();
  }
  finish(state);
}

template <class Key>
void add(const char* group, Key key, void (*run)(benchmark::State&, Key)) {
  benchmark::RegisterBenchmark((std::string(group) + "/" + std::string(name(key))).c_str(),
                               [=](benchmark::State& s) { run(s, key); });
}

const bool registered = [] {
  for (const Activation f :
       {Activation::exp, Activation::tanh, Activation::sigmoid, Activation::silu, Activation::gelu, Activation::erf,
        Activation::log, Activation::sin, Activation::rsqrt, Activation::sqrt, Activation::reciprocal})
    add("activation_function", f, activation);
  for (const AluOp op : {AluOp::add, AluOp::multiply, AluOp::divide, AluOp::maximum, AluOp::less, AluOp::power})
    add("alu", op, alu);
  for (const AluOp op : {AluOp::add, AluOp::maximum}) add("reduce", op, reduce);
  for (const Dtype d :
       {Dtype::bfloat16, Dtype::float16, Dtype::float8_e4m3, Dtype::int32, Dtype::uint8, Dtype::boolean}) {
    add("read", d, read);
    add("write", d, write);
  }
  return true;
}();

}  // namespace
