#include "isa/tensor_tensor_scan.h"

#include <catch2/catch.hpp>

#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_tensor_scan carries fp32 state in order") {
  using namespace example;
  Machine m;
  const Access x = sbuf(128, 5000), y = sbuf(128, 5000, Dtype::float32, 20000),
               out = sbuf(128, 5000, Dtype::float32, 40000);
  const Access start = sbuf(128, 1, Dtype::float32, 60000);
  m.fill(x, Noise(1));
  m.fill(y, Noise(2));
  m.fill(start, Noise(3));
  TensorTensorScan::run({.dst = out, .data0 = x, .data1 = y, .initial = {start}}, m.memory());
  for (int p = 0; p < 128; ++p) {
    auto state = static_cast<float>(m.get(start, p));
    for (int i = 0; i < 5000; ++i) {
      const float product = static_cast<float>(m.get(x, p * 5000 + i)) * state;
      state = product + static_cast<float>(m.get(y, p * 5000 + i));
      REQUIRE(m.get(out, p * 5000 + i) == state);
    }
  }
}

TEST_CASE("tensor_tensor_scan is exact in integers and reverses operands") {
  using namespace example;
  Machine m;
  const auto i32 = Dtype::int32;
  const Access ones = sbuf(1, 3000, i32), y = sbuf(1, 3000, i32, 16384), out = sbuf(1, 3000, i32, 32768);
  m.fill(ones, [](int64_t) { return 1; });
  m.fill(y, [](int64_t i) { return 1000003 * (i % 7); });
  TensorTensorScan::run({.dst = out, .data0 = ones, .data1 = y}, m.memory());
  int64_t sum = 0;
  for (int i = 0; i < 3000; ++i) {
    sum += 1000003 * (i % 7);
    REQUIRE(m.get(out, i) == static_cast<int32_t>(sum));
  }
  // data1 - (state * 1): alternating sums.
  TensorTensorScan::run({.dst = out, .data0 = ones, .data1 = y, .op1 = AluOp::subtract, .reverse1 = true}, m.memory());
  CHECK(m.get(out, 0) == 0);
  CHECK(m.get(out, 2) == 2 * 1000003 - 1000003);
}

}  // namespace trn::test
