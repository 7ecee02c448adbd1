#include "isa/tensor_scalar.h"

#include <catch2/catch.hpp>

#include "isa/scalar_tensor_tensor.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_scalar applies two operators, each rounded to fp32") {
  using namespace example;
  Machine m;
  const Access x = sbuf(128, 300), out = sbuf(128, 300, Dtype::float32, 2048),
               column = sbuf(128, 1, Dtype::float32, 8192);
  m.fill(x, Noise(1));
  m.fill(column, Noise(2));
  TensorScalar::run({out, x, AluOp::multiply, number(3.25), false, AluOp::add, {column}, false}, m.memory());
  for (int64_t i = 0; i < out.elements(); ++i) {
    const float product = static_cast<float>(m.get(x, i)) * 3.25f;
    REQUIRE(m.get(out, i) == product + static_cast<float>(m.get(column, i / 300)));
  }
  TensorScalar::run({.dst = out, .data = x, .op0 = AluOp::subtract, .operand0 = {column}, .reverse0 = true},
                    m.memory());
  for (int64_t i = 0; i < out.elements(); ++i)
    REQUIRE(m.get(out, i) == static_cast<float>(m.get(column, i / 300)) - static_cast<float>(m.get(x, i)));
}

TEST_CASE("tensor_scalar is exact in 32-bit integers with whole operands") {
  using namespace example;
  Machine m;
  const auto i32 = Dtype::int32;
  const Access x = sbuf(2, 3, i32), out = sbuf(2, 3, i32, 64), column = sbuf(2, 1, i32, 128),
               truth = sbuf(2, 3, Dtype::uint8, 192);
  m.fill(x, [](int64_t i) { return 16777217 + i; });
  m.fill(column, [](int64_t i) { return 100 * (i + 1); });
  TensorScalar::run({out, x, AluOp::multiply, number(3), false, AluOp::add, {column}, false}, m.memory());
  for (int64_t i = 0; i < 6; ++i) CHECK(m.get(out, i) == (16777217 + i) * 3 + 100 * (i / 3 + 1));
  TensorScalar::run({.dst = truth, .data = x, .op0 = AluOp::greater, .operand0 = number(16777218)}, m.memory());
  for (int64_t i = 0; i < 6; ++i) CHECK(m.get(truth, i) == (i > 1));
  // The high half of a 32-bit product by shifts and masks stays exact too: what a counter-based generator needs.
  const Access u = sbuf(1, 1, Dtype::uint32, 256), v = sbuf(1, 1, Dtype::uint32, 320);
  m.set(u, 0, 0xDEADBEEF);
  TensorScalar::run({u, u, AluOp::right_shift, number(16), false, AluOp::bitwise_and, number(0xFFFF), false},
                    m.memory());
  CHECK(m.get(u, 0) == 0xDEAD);
  TensorScalar::run({.dst = v, .data = u, .op0 = AluOp::multiply, .operand0 = number(0xD2511F53)}, m.memory());
  CHECK(m.get(v, 0) == static_cast<uint32_t>(0xDEADull * 0xD2511F53ull));
}

TEST_CASE("tensor_scalar with a fractional operand leaves the integer path") {
  using namespace example;
  Machine m;
  const Access x = sbuf(1, 4, Dtype::int32), out = sbuf(1, 4, Dtype::int32, 64);
  m.fill(x, [](int64_t i) { return i; });
  TensorScalar::run({.dst = out, .data = x, .op0 = AluOp::multiply, .operand0 = number(2.5)}, m.memory());
  const double want[] = {0, 2, 5, 8};  // 2.5 and 7.5 to even
  for (int i = 0; i < 4; ++i) CHECK(m.get(out, i) == want[i]);
}

TEST_CASE("scalar_tensor_tensor applies a scalar, then a tile") {
  using namespace example;
  Machine m;
  const Access x = psum(64, 40), y = sbuf(64, 40), out = sbuf(64, 40, Dtype::float32, 512),
               column = sbuf(64, 1, Dtype::float32, 1024);
  m.fill(x, Noise(1));
  m.fill(y, Noise(2));
  m.fill(column, Noise(3));
  ScalarTensorTensor::run({out, x, AluOp::multiply, {column}, AluOp::subtract, y, false, true}, m.memory());
  for (int64_t i = 0; i < out.elements(); ++i) {
    const float product = static_cast<float>(m.get(x, i)) * static_cast<float>(m.get(column, i / 40));
    REQUIRE(m.get(out, i) == static_cast<float>(m.get(y, i)) - product);
  }
  // In place over either input.
  const Access before = sbuf(64, 40, Dtype::float32, 2048);
  for (int64_t i = 0; i < y.elements(); ++i) m.set(before, i, m.get(y, i));
  ScalarTensorTensor::run({y, x, AluOp::add, number(1), AluOp::multiply, y, false, false}, m.memory());
  for (int64_t i = 0; i < y.elements(); ++i)
    REQUIRE(m.get(y, i) == (static_cast<float>(m.get(x, i)) + 1.f) * static_cast<float>(m.get(before, i)));
}

TEST_CASE("tensor_scalar follows the profiles") {
  using namespace example;
  const auto ns = [](const Access& in, int n) {
    return TensorScalar::cost({.dst = sbuf(128, n, Dtype::float32, 8192), .data = in, .op0 = AluOp::add},
                              Engine::vector, trn2())
               .latency /
           0.96;
  };
  CHECK(ns(psum(128, 128), 128) == Approx(350).epsilon(0.01));
  CHECK(ns(sbuf(128, 512), 512) == Approx(481).epsilon(0.01));
}

}  // namespace trn::test
