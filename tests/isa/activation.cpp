#include "isa/activation.h"

#include <catch2/catch.hpp>

#include "isa/activation_reduce.h"
#include "isa/reciprocal.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("activation is the function of data * scale + bias") {
  using namespace example;
  Machine m;
  const Access x = sbuf(128, 90), out = sbuf(128, 90, Dtype::float32, 512), scale = sbuf(128, 1, Dtype::float32, 1024),
               bias = sbuf(128, 1, Dtype::float32, 1028);
  m.fill(x, Noise(1));
  m.fill(scale, Noise(2));
  m.fill(bias, Noise(3));
  const std::pair<Activation, double (*)(double)> cases[] = {
      {Activation::copy, [](double v) { return v; }},
      {Activation::exp, [](double v) { return std::exp(v); }},
      {Activation::tanh, [](double v) { return std::tanh(v); }},
      {Activation::erf, [](double v) { return std::erf(v); }},
      {Activation::gelu, [](double v) { return v * 0.5 * std::erfc(-v / std::sqrt(2.0)); }},
      {Activation::silu, [](double v) { return v / (1 + std::exp(-v)); }},
  };
  for (const auto& [fn, f] : cases) {
    INFO(name(fn));
    Activate::run({.dst = out, .op = fn, .data = x, .bias = {bias}, .scale = {scale}}, m.memory());
    for (int64_t i = 0; i < out.elements(); ++i) {
      const float product = static_cast<float>(m.get(x, i)) * static_cast<float>(m.get(scale, i / 90));
      const double want = f(product + static_cast<float>(m.get(bias, i / 90)));
      REQUIRE(m.get(out, i) == Approx(want).epsilon(3e-7).margin(1e-12));
    }
  }
}

TEST_CASE("activation_reduce sums the fp32 results") {
  using namespace example;
  Machine m;
  const Access x = psum(128, 3000), out = sbuf(128, 3000, Dtype::bfloat16), sums = sbuf(128, 1, Dtype::float32, 8192);
  m.fill(x, Noise(1));
  const ActivationReduce::Args a{
      .dst = out, .op = Activation::square, .data = x, .reduce_res = sums, .scale = number(2)};
  REQUIRE_FALSE(ActivationReduce::check(a, Engine::scalar, trn2()));
  ActivationReduce::run(a, m.memory());
  for (int p = 0; p < 128; ++p) {
    double sum = 0;
    for (int i = 0; i < 3000; ++i) {
      const double v = 2 * m.get(x, p * 3000 + i);
      sum += v * v;
      REQUIRE(m.get(out, p * 3000 + i) == round_bfloat16(static_cast<float>(v * v)));
    }
    REQUIRE(m.get(sums, p) == Approx(sum).epsilon(1e-6));
  }
}

TEST_CASE("reciprocal is correctly rounded") {
  using namespace example;
  Machine m;
  const Reciprocal::Args a{sbuf(128, 40, Dtype::float32, 512), sbuf(128, 40)};
  m.fill(a.data, Noise(1));
  Reciprocal::run(a, m.memory());
  for (int64_t i = 0; i < a.dst.elements(); ++i) REQUIRE(m.get(a.dst, i) == 1.f / static_cast<float>(m.get(a.data, i)));
}

TEST_CASE("activation follows the profiles and loads tables") {
  using namespace example;
  const auto cost = [](const Access& in, Activation f) {
    return Activate::cost({.dst = sbuf(128, 512, Dtype::float32, 8192), .op = f, .data = in}, Engine::scalar, trn2());
  };
  CHECK(cost(psum(128, 512), Activation::exp).latency / 1.2 == Approx(686).epsilon(0.01));
  const Cost alone = cost(sbuf(128, 512), Activation::exp);  // trn2.md section 11: first 720 ns, then 705
  CHECK(alone.latency / 1.2 == Approx(720).epsilon(0.01));
  CHECK((alone.latency - alone.fresh) / 1.2 == Approx(705).epsilon(0.01));
  CHECK(cost(sbuf(128, 512), Activation::exp).busy / 1.2 == Approx(611).epsilon(0.01));
  CHECK(cost(sbuf(128, 512), Activation::exp).table_load);
  CHECK_FALSE(cost(sbuf(128, 512), Activation::square).table_load);
}

}  // namespace trn::test
