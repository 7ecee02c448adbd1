#include "isa/tensor_scalar_reduce.h"

#include <catch2/catch.hpp>

#include "isa/tensor_scalar_cumulative.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_scalar_reduce reduces what it writes") {
  using namespace example;
  Machine m;
  const auto fp = Dtype::float32;
  const Access out = sbuf(128, 3000, fp, 16384), x = sbuf(128, 3000), total = sbuf(128, 1, fp, 65536),
               start = sbuf(128, 1, fp, 65540);
  m.fill(x, Noise(1));
  m.fill(start, Noise(2));
  TensorScalarReduce::run({.dst = out, .data = x, .op0 = AluOp::multiply, .operand0 = number(2.5), .reduce_res = total},
                          m.memory());
  for (int p = 0; p < 128; ++p) {
    double sum = 0;
    for (int i = 0; i < 3000; ++i) {
      const float want = static_cast<float>(m.get(x, p * 3000 + i)) * 2.5f;
      REQUIRE(m.get(out, p * 3000 + i) == want);
      sum += want;
    }
    CHECK(m.get(total, p) == Approx(sum).margin(1e-2));
  }
  TensorScalarReduce::run({.dst = out,
                           .data = x,
                           .op0 = AluOp::add,
                           .operand0 = number(-5),
                           .reduce_op = AluOp::maximum,
                           .reduce_res = total,
                           .reduce_cmd = ReduceCmd::load_reduce,
                           .reduce_init = {start},
                           .reduce_res_negate = true},
                          m.memory());
  for (int p = 0; p < 128; ++p) CHECK(m.get(total, p) == -m.get(start, p));  // every x - 5 is below
}

TEST_CASE("tensor_scalar_cumulative runs in order") {
  using namespace example;
  Machine m;
  const auto fp = Dtype::float32;
  const Access out = sbuf(128, 2500, fp, 16384), x = sbuf(128, 2500);
  m.fill(x, Noise(1));
  TensorScalarCumulative::run({.dst = out, .src = x, .op0 = AluOp::multiply, .op1 = AluOp::add, .imm0 = number(0.5)},
                              m.memory());
  for (int p = 0; p < 128; ++p) {
    float sum = 0;
    for (int i = 0; i < 2500; ++i) {
      sum = static_cast<float>(m.get(x, p * 2500 + i)) * 0.5f + sum;
      REQUIRE(m.get(out, p * 2500 + i) == sum);
    }
  }
  // nki.isa's pseudo code: reg = op1(op0(x, imm0), reg), so subtract gives x - reg.
  TensorScalarCumulative::run({.dst = out,
                               .src = x,
                               .op0 = AluOp::bypass,
                               .op1 = AluOp::subtract,
                               .imm1 = number(3),
                               .reduce_cmd = ReduceCmd::load_reduce},
                              m.memory());
  CHECK(m.get(out, 0) == static_cast<float>(m.get(x, 0)) - 3.f);
  CHECK(m.get(out, 1) == static_cast<float>(m.get(x, 1)) - static_cast<float>(m.get(out, 0)));
}

}  // namespace trn::test
