// The cards that keep sums in their engine's registers.
#include "isa/activate2.h"

#include <catch2/catch.hpp>

#include "isa/activation.h"
#include "isa/activation_reduce.h"
#include "isa/exponential.h"
#include "isa/range_select.h"
#include "isa/select_reduce.h"
#include "isa/tensor_scalar_cumulative.h"
#include "isa/tensor_scalar_reduce.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

using namespace example;
constexpr auto kFp = Dtype::float32;

double row_sum(Machine& m, const Access& a, int p) {
  const auto n = static_cast<int>(a.free_elements());
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += m.get(a, p * n + i);
  return sum;
}

}  // namespace

TEST_CASE("activate2 runs its two operators, the function and a reduction") {
  Machine m;
  const Access x = sbuf(64, 90), out = sbuf(64, 90, kFp, 512), column = sbuf(64, 1, kFp, 8192),
               slope = sbuf(64, 1, kFp, 8196);
  m.fill(x, Noise(1));
  m.fill(slope, [](int64_t p) { return p / 64.0; });
  Activate2::Args a{.dst = out,
                    .op = Activation::prelu,
                    .data = x,
                    .imm0 = number(2),
                    .imm1 = number(0.25),
                    .op0 = AluOp::multiply,
                    .op1 = AluOp::subtract,
                    .relu_param = {slope},
                    .reverse1 = true,
                    .reduce_op = AluOp::abs_max,
                    .reduce_res = column,
                    .reduce_cmd = ReduceCmd::reset_reduce};
  REQUIRE_FALSE(Activate2::check(a, Engine::scalar, trn3()));
  Activate2::run(a, m.memory());
  for (int p = 0; p < 64; ++p) {
    double most = 0;
    for (int i = 0; i < 90; ++i) {
      const double v = 0.25 - 2 * m.get(x, p * 90 + i), want = v > 0 ? v : v * p / 64;
      REQUIRE(m.get(out, p * 90 + i) == Approx(want).margin(1e-6));
      if (std::fabs(m.get(out, p * 90 + i)) > std::fabs(most)) most = m.get(out, p * 90 + i);
    }
    REQUIRE(m.get(column, p) == most);
  }
}

TEST_CASE("activation keeps sums in Scalar's registers from one instruction to the next") {
  Machine m;
  const Access x = sbuf(128, 100), out = sbuf(128, 100, kFp, 512), column = sbuf(128, 1, kFp, 8192);
  m.fill(x, Noise(2));
  Activate::Args a{.dst = out, .op = Activation::copy, .data = x, .reduce_cmd = ReduceCmd::reset_reduce};
  Activate::run(a, m.memory());
  a.reduce_cmd = ReduceCmd::idle;  // leaves them alone
  Activate::run(a, m.memory());
  a.reduce_cmd = ReduceCmd::reduce;
  a.scale = number(3);
  a.reduce_res = column;
  Activate::run(a, m.memory());
  for (int p = 0; p < 128; ++p) CHECK(m.get(column, p) == Approx(4 * row_sum(m, x, p)).margin(1e-4));
  a.reduce_cmd = ReduceCmd::reset;
  Activate::run(a, m.memory());
  for (int p = 0; p < 128; ++p) CHECK(m.get(column, p) == 0);

  // A lane is a partition: partitions 64 and on do not see the first ones' sums.
  ActivationReduce::run({.dst = out, .op = Activation::copy, .data = x}, m.memory());
  const Access lower = at_partition(sbuf(32, 100), 64), lower_column = at_partition(sbuf(32, 1, kFp, 8192), 64);
  Activate::run({.dst = at_partition(sbuf(32, 100, kFp, 512), 64),
                 .data = lower,
                 .reduce_res = lower_column,
                 .reduce_cmd = ReduceCmd::reduce},
                m.memory());
  for (int p = 0; p < 32; ++p) CHECK(m.get(lower_column, p) == Approx(2 * row_sum(m, lower, p)).margin(1e-4));
}

TEST_CASE("registers that nothing has reset are NaN") {
  Machine m;
  const Access x = sbuf(16, 8), out = sbuf(16, 8, kFp, 512), column = sbuf(16, 1, kFp, 8192);
  m.fill(x, Noise(3));
  Activate::run({.dst = out, .data = x, .reduce_res = column, .reduce_cmd = ReduceCmd::reduce}, m.memory());
  CHECK(std::isnan(m.get(column, 0)));
  TensorScalarReduce::run({.dst = out, .data = x, .reduce_res = column, .reduce_cmd = ReduceCmd::reduce}, m.memory());
  CHECK(std::isnan(m.get(column, 0)));
}

TEST_CASE("Vector's instructions share their registers") {
  Machine m;
  const Access x = sbuf(128, 50), y = sbuf(128, 50, kFp, 512), out = sbuf(128, 50, kFp, 1024),
               column = sbuf(128, 1, kFp, 8192), where = sbuf(128, 50, Dtype::uint8, 4096);
  m.fill(x, Noise(4));
  m.fill(y, Noise(5));
  m.fill(where, [](int64_t i) { return i % 2; });
  TensorScalarReduce::Args a{.dst = out, .data = x, .op0 = AluOp::bypass, .reduce_op = AluOp::maximum};
  TensorScalarReduce::run(a, m.memory());
  SelectReduce::run({.dst = out,
                     .predicate = where,
                     .on_true = y,
                     .on_false = number(-5),
                     .reduce_res = column,
                     .reduce_cmd = ReduceCmd::reduce},
                    m.memory());
  for (int p = 0; p < 128; ++p) {
    double most = -5;
    for (int i = 0; i < 50; ++i) most = std::max(most, m.get(x, p * 50 + i));
    for (int i = 1; i < 50; i += 2) most = std::max(most, m.get(y, p * 50 + i));
    REQUIRE(m.get(column, p) == most);
  }
  // tensor_scalar_cumulative goes on where another one stopped.
  TensorScalarCumulative::Args c{.dst = out, .src = x, .op0 = AluOp::bypass, .op1 = AluOp::add};
  TensorScalarCumulative::run(c, m.memory());
  c.src = y, c.reduce_cmd = ReduceCmd::reduce;
  TensorScalarCumulative::run(c, m.memory());
  for (int p = 0; p < 128; ++p)
    CHECK(m.get(out, p * 50 + 49) == Approx(row_sum(m, x, p) + row_sum(m, y, p)).margin(1e-4));
  // select_reduce's idle may change the registers: they are undefined.
  SelectReduce::run({.dst = out, .predicate = where, .on_true = y}, m.memory());
  a.reduce_cmd = ReduceCmd::reduce, a.reduce_res = column;
  TensorScalarReduce::run(a, m.memory());
  CHECK(std::isnan(m.get(column, 0)));
}

TEST_CASE("exponential subtracts, exponentiates and sums") {
  Machine m;
  const Access x = psum(128, 300), out = sbuf(128, 300), most = sbuf(128, 1, kFp, 8192), sums = sbuf(128, 1, kFp, 8196);
  m.fill(x, [n = Noise(6)](int64_t) mutable { return static_cast<float>(n() * 20); });
  m.fill(most, Noise(7));
  Exponential::Args a{
      .dst = out, .src = x, .max_value = {most}, .reduce_res = sums, .reduce_cmd = ReduceCmd::load_reduce};
  a.reduce_init = number(1000);
  REQUIRE_FALSE(Exponential::check(a, Engine::vector, trn3()));
  Exponential::run(a, m.memory());
  for (int p = 0; p < 128; ++p) {
    double sum = 1000;
    for (int i = 0; i < 300; ++i) {
      const double want =
          std::exp(static_cast<double>(static_cast<float>(m.get(x, p * 300 + i)) - static_cast<float>(m.get(most, p))));
      REQUIRE(m.get(out, p * 300 + i) == Approx(want).epsilon(1e-6));
      sum += want;
    }
    REQUIRE(m.get(sums, p) == Approx(sum).epsilon(1e-5));
  }
  // Four elements a cycle on trn3.
  const auto at = [](int n) {
    return Exponential::cost({.dst = sbuf(128, n, kFp, 65536), .src = sbuf(128, n)}, Engine::vector, trn3()).busy;
  };
  CHECK(at(4096) - at(2048) == Approx(2048 / 4.0));
}

}  // namespace trn::test
