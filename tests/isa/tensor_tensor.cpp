#include "isa/tensor_tensor.h"

#include <catch2/catch.hpp>

#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_tensor computes in fp32") {
  using namespace example;
  Machine m;
  const Access x = sbuf(128, 3000), y = sbuf(128, 3000, Dtype::float32, 12288),
               out = sbuf(128, 3000, Dtype::float32, 24576);
  m.fill(x, Noise(1));
  m.fill(y, Noise(2));
  const std::pair<AluOp, float (*)(float, float)> cases[] = {
      {AluOp::add, [](float a, float b) { return a + b; }},
      {AluOp::subtract, [](float a, float b) { return a - b; }},
      {AluOp::multiply, [](float a, float b) { return a * b; }},
      {AluOp::divide, [](float a, float b) { return a / b; }},
      {AluOp::maximum, [](float a, float b) { return std::max(a, b); }},
      {AluOp::less, [](float a, float b) { return a < b ? 1.f : 0.f; }},
  };
  for (const auto& [op, f] : cases) {
    INFO(name(op));
    TensorTensor::run({out, x, y, op}, m.memory());
    int64_t wrong = 0;
    for (int64_t i = 0; i < out.elements(); ++i)
      wrong += m.get(out, i) != f(static_cast<float>(m.get(x, i)), static_cast<float>(m.get(y, i)));
    CHECK(wrong == 0);
  }
}

TEST_CASE("tensor_tensor rounds once, to dst's dtype") {
  using namespace example;
  Machine m;
  const auto bf = Dtype::bfloat16;
  const Access x = sbuf(64, 33, bf), y = sbuf(64, 33, bf, 512), out = sbuf(64, 33, bf, 1024);
  m.fill(x, [n = Noise(1)](int64_t) mutable { return round_bfloat16(n()); });
  m.fill(y, [n = Noise(2)](int64_t) mutable { return round_bfloat16(n()); });
  TensorTensor::run({out, x, y, AluOp::multiply}, m.memory());
  for (int64_t i = 0; i < out.elements(); ++i)
    REQUIRE(m.get(out, i) == round_bfloat16(m.get(x, i) * m.get(y, i)));  // a product of two fits fp32
}

TEST_CASE("tensor_tensor is exact in 32-bit integers") {
  using namespace example;
  Machine m;
  const auto i32 = Dtype::int32;
  const Access x = sbuf(1, 4, i32), y = sbuf(1, 4, i32, 64), out = sbuf(1, 4, i32, 128),
               truth = sbuf(1, 4, Dtype::float32, 192);
  const double a[] = {16777217, 2147483647, -7, 65537}, b[] = {16777216, 1, 3, 65537};
  m.fill(x, [&](int64_t i) { return a[i]; });
  m.fill(y, [&](int64_t i) { return b[i]; });
  TensorTensor::run({out, x, y, AluOp::add}, m.memory());
  CHECK(m.get(out, 0) == 33554433);
  CHECK(m.get(out, 1) == -2147483648.0);
  TensorTensor::run({out, x, y, AluOp::multiply}, m.memory());
  CHECK(m.get(out, 3) == 131073);  // 65537^2 mod 2^32
  TensorTensor::run({truth, x, y, AluOp::equal}, m.memory());
  CHECK(m.get(truth, 0) == 0);
  CHECK(m.get(truth, 3) == 1);
}

TEST_CASE("tensor_tensor's bit operators see patterns, not values") {
  using namespace example;
  Machine m;
  const auto i8 = Dtype::int8;
  const Access x = sbuf(1, 2, i8), y = sbuf(1, 2, i8, 64), out = sbuf(1, 2, i8, 128);
  m.fill(x, [](int64_t i) { return i ? 6 : -128; });
  m.fill(y, [](int64_t) { return 1; });
  TensorTensor::run({out, x, y, AluOp::right_shift}, m.memory());
  CHECK(m.get(out, 0) == 64);  // logical: no sign comes in
  CHECK(m.get(out, 1) == 3);
}

TEST_CASE("tensor_tensor broadcasts by step 0 and works in place") {
  Machine m;
  const Access x = tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 32}, {10, 8}, {1, 10}});
  const Access row = tile(Space::sbuf, Dtype::float32, 0, 4096, {{1, 32}, {0, 8}, {1, 10}});
  const Access column = tile(Space::sbuf, Dtype::float32, 0, 8192, {{1, 32}, {1, 8}, {0, 10}});
  m.fill(x, Noise(1));
  for (int64_t i = 0; i < row.elements(); ++i)
    m.set(row, i, static_cast<double>(i % 10)), m.set(column, i, static_cast<double>(i / 10 % 8));
  std::vector<double> before(x.elements());
  for (size_t i = 0; i < before.size(); ++i) before[i] = m.get(x, i);
  TensorTensor::run({x, x, row, AluOp::add}, m.memory());
  TensorTensor::run({x, column, x, AluOp::multiply}, m.memory());
  for (int64_t i = 0; i < x.elements(); ++i)
    REQUIRE(m.get(x, i) ==
            static_cast<float>(i / 10 % 8) * (static_cast<float>(before[i]) + static_cast<float>(i % 10)));
}

TEST_CASE("tensor_tensor follows the profiles") {
  using namespace example;
  const auto ns = [](int n) {
    return TensorTensor::cost({sbuf(128, n), sbuf(128, n), sbuf(128, n), AluOp::add}, Engine::vector, trn2()).latency /
           0.96;
  };
  CHECK(ns(420) == Approx(420 / 0.96 + 159).margin(2));
  CHECK(ns(2000) == Approx(2000 / 0.96 + 159).margin(2));
}

}  // namespace trn::test
