#include "isa/tensor_copy.h"

#include <catch2/catch.hpp>

#include "isa/dma_copy.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_copy rounds floats to the nearest, ties to even") {
  using namespace example;
  Machine m;
  const TensorCopy::Args a{sbuf(128, 70, Dtype::bfloat16), psum(128, 70)};
  m.fill(a.src, Noise(4));
  m.set(a.src, 0, 1.00390625);  // halfway between 1 and 1 + 2^-7: to even, 1
  m.set(a.src, 1, 1.01171875);  // halfway: up to even
  TensorCopy::run(a, m.memory());
  CHECK(m.get(a.dst, 0) == 1);
  CHECK(m.get(a.dst, 1) == 1.015625);
  for (int64_t i = 2; i < a.dst.elements(); ++i) REQUIRE(m.get(a.dst, i) == round_bfloat16(m.get(a.src, i)));
}

TEST_CASE("engines and DMA cast to every float8 format by rounding to nearest") {
  using namespace example;
  Machine m({1 << 18});
  for (const Dtype d : {Dtype::float8_e3m4, Dtype::float8_e4m3, Dtype::float8_e5m2, Dtype::float8_e4m3fn}) {
    INFO(name(d));
    const Access x = sbuf(64, 40), narrow = sbuf(64, 40, d, 512), back = sbuf(64, 40, Dtype::float32, 1024);
    Access stored = hbm(64, 40, d);
    m.fill(x, [n = Noise(5)](int64_t i) mutable { return n() * std::ldexp(1.0, static_cast<int>(i % 30) - 12); });
    TensorCopy::run({narrow, x}, m.memory());
    DmaCopy::run({.dst = stored, .src = x}, m.memory());
    TensorCopy::run({back, narrow}, m.memory());
    for (int64_t i = 0; i < x.elements(); ++i) {
      const double want = round_float8(d, m.get(x, i));
      REQUIRE(m.get(narrow, i) == want);
      REQUIRE(m.get(stored, i) == want);
      REQUIRE(m.get(back, i) == want);
    }
  }
}

TEST_CASE("tfloat32 keeps ten bits of mantissa") {
  using namespace example;
  Machine m;
  const Access x = sbuf(64, 40), narrow = sbuf(64, 40, Dtype::tfloat32, 512);
  m.fill(x, Noise(6));
  TensorCopy::run({narrow, x}, m.memory());
  for (int64_t i = 0; i < x.elements(); ++i) {
    int exponent;
    const double significand = std::frexp(m.get(x, i), &exponent);
    REQUIRE(m.get(narrow, i) == std::ldexp(std::nearbyint(std::ldexp(significand, 11)), exponent - 11));
  }
}

TEST_CASE("tensor_copy converts between kinds") {
  using namespace example;
  Machine m;
  const Access f = sbuf(1, 6), i8 = sbuf(1, 6, Dtype::int8, 64), i32 = sbuf(1, 6, Dtype::int32, 128),
               i16 = sbuf(1, 6, Dtype::int16, 256);
  const double in[] = {2.5, 3.5, -1000, 1000, -0.4, 7};
  const double saturated[] = {2, 4, -128, 127, 0, 7};  // nearest even, saturating
  m.fill(f, [&](int64_t i) { return in[i]; });
  TensorCopy::run({i8, f}, m.memory());
  for (int i = 0; i < 6; ++i) CHECK(m.get(i8, i) == saturated[i]);

  const double whole[] = {65537, -65537, 32768, 16777217, -1, 0};
  m.fill(i32, [&](int64_t i) { return whole[i]; });
  TensorCopy::run({i16, i32}, m.memory());
  const double wrapped[] = {1, -1, -32768, 1, -1, 0};
  for (int i = 0; i < 6; ++i) CHECK(m.get(i16, i) == wrapped[i]);
  TensorCopy::run({f, i32}, m.memory());
  CHECK(m.get(f, 3) == 16777216);
}

TEST_CASE("tensor_copy keeps every bit of one dtype, whatever the patterns") {
  Machine m;
  for (const Dtype d : {Dtype::uint8, Dtype::bfloat16, Dtype::float32}) {
    const TensorCopy::Args a{tile(Space::sbuf, d, 0, 8192, {{1, 64}, {7, 6}, {1, 5}}),
                             tile(Space::sbuf, d, 64, 0, {{1, 64}, {1, 3}, {3, 10}})};
    const int size = size_of(d);
    Noise noise(9);
    for (int64_t i = 0; i < a.src.elements(); ++i)
      for (int b = 0; b < size; ++b) m.at(a.src, i)[b] = static_cast<std::byte>(noise() * 127);
    TensorCopy::run(a, m.memory());
    int64_t wrong = 0;
    for (int64_t i = 0; i < a.src.elements(); ++i) wrong += std::memcmp(m.at(a.dst, i), m.at(a.src, i), size) != 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("tensor_copy follows the profiles") {
  using namespace example;
  const auto ns = [](const TensorCopy::Args& a, Engine e) {
    return TensorCopy::cost(a, e, trn2()).latency / (e == Engine::vector ? 0.96 : 1.2);
  };
  CHECK(ns({sbuf(128, 512), psum(128, 512)}, Engine::vector) == Approx(690).epsilon(0.01));
  CHECK(ns({sbuf(128, 128), psum(128, 128)}, Engine::vector) == Approx(290).epsilon(0.01));
  CHECK(ns({sbuf(128, 512), psum(128, 512)}, Engine::scalar) == Approx(586).epsilon(0.01));
  // Strided fp16 writes are read-modify-write: 445 ns from SBUF.
  CHECK(ns({tile(Space::sbuf, Dtype::float16, 0, 0, {{1, 128}, {9, 128}}), sbuf(128, 128, Dtype::float16, 4096)},
           Engine::vector) == Approx(445).epsilon(0.02));
  // Published durations of 128 columns with a step of 9 elements on one side (asst4 captures).
  const auto strided = [](Dtype d) { return tile(Space::sbuf, d, 0, 0, {{1, 128}, {9, 128}}); };
  const auto fp = Dtype::float32, half = Dtype::float16;
  CHECK(ns({strided(half), psum(128, 128, half)}, Engine::vector) == Approx(706).epsilon(0.01));
  CHECK(ns({strided(fp), psum(128, 128)}, Engine::vector) == Approx(375).epsilon(0.01));
  CHECK(ns({strided(fp), psum(128, 128)}, Engine::scalar) == Approx(385).epsilon(0.01));
  CHECK(ns({strided(fp), sbuf(128, 128, fp, 8192)}, Engine::scalar) == Approx(416).epsilon(0.01));
  CHECK(ns({strided(half), sbuf(128, 128, half, 8192)}, Engine::scalar) == Approx(748).epsilon(0.02));
  CHECK(ns({sbuf(128, 128, fp, 8192), strided(fp)}, Engine::scalar) == Approx(411).epsilon(0.03));
}

}  // namespace trn::test
