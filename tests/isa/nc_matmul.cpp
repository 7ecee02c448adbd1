#include "isa/nc_matmul.h"

#include <catch2/catch.hpp>

#include "isa/threads.h"
#include "isa/tile_matmul.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

// One fused multiply-add per k in rising order from zero, then dst: the documented order, so equality is exact where
// the CPU has FMA.
float reference(Machine& m, const NcMatmul::Args& a, int row, int column, float before) {
  const int64_t rows = a.stationary.free_elements(), columns = a.moving.free_elements();
  float sum = 0;
  for (int k = 0; k < a.stationary.partitions(); ++k)
    sum = std::fma(static_cast<float>(m.get(a.stationary, k * rows + row)),
                   static_cast<float>(m.get(a.moving, k * columns + column)), sum);
  return a.accumulate ? before + sum : sum;
}

void compare(Machine& m, const NcMatmul::Args& a) {
  REQUIRE_FALSE(NcMatmul::check(a, Engine::tensor, trn2()));
  m.fill(a.dst, Noise(3));
  std::vector<double> before(a.dst.elements());
  for (size_t i = 0; i < before.size(); ++i) before[i] = m.get(a.dst, i);
  NcMatmul::run(a, m.memory());
  const int64_t columns = a.dst.free_elements();
  const bool exact = __builtin_cpu_supports("fma") && !(a.moving.dtype == Dtype::bfloat16 && has_tiles());
  int64_t wrong = 0;
  for (int64_t i = 0; i < a.dst.elements(); ++i) {
    const float want = reference(m, a, i / columns, i % columns, static_cast<float>(before[i])), got = m.get(a.dst, i);
    wrong += exact ? got != want : std::fabs(got - want) > 1e-4f;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("nc_matmul multiplies tiles of every size") {
  using namespace example;
  Machine m;
  for (const auto [k, rows, columns] :
       {std::array{128, 128, 512}, {128, 128, 500}, {1, 1, 1}, {7, 13, 31}, {64, 6, 16}, {65, 50, 17}, {128, 127, 9}}) {
    for (const bool accumulate : {false, true}) {
      INFO(k << " x " << rows << " x " << columns << (accumulate ? " accumulating" : ""));
      NcMatmul::Args a{.dst = psum(rows, columns),
                       .stationary = sbuf(k, rows),
                       .moving = sbuf(k, columns, Dtype::float32, 512),
                       .accumulate = accumulate};
      m.fill(a.stationary, Noise(1));
      m.fill(a.moving, Noise(2));
      compare(m, a);
    }
  }
}

TEST_CASE("nc_matmul widens bfloat16 exactly") {
  using namespace example;
  Machine m;
  NcMatmul::Args a{
      .dst = psum(40, 100), .stationary = sbuf(96, 40, Dtype::bfloat16), .moving = sbuf(96, 100, Dtype::bfloat16, 512)};
  m.fill(a.stationary, [n = Noise(1)](int64_t) mutable { return round_bfloat16(n()); });
  m.fill(a.moving, [n = Noise(2)](int64_t) mutable { return round_bfloat16(n()); });
  compare(m, a);
}

TEST_CASE("nc_matmul walks any free pattern") {
  Machine m;
  // Stationary every third column; moving [8][6] with a hole after each six, columns reversed; dst [8][6] spread out.
  NcMatmul::Args a{.dst = tile(Space::psum, Dtype::float32, 0, 2048, {{1, 20}, {8, 8}, {1, 6}}),
                   .stationary = tile(Space::sbuf, Dtype::float32, 32, 0, {{1, 30}, {3, 20}}),
                   .moving = tile(Space::sbuf, Dtype::float32, 64, 4096, {{1, 30}, {9, 8}, {-1, 6}})};
  for (const bool accumulate : {false, true}) {
    a.accumulate = accumulate;
    m.fill(a.stationary, Noise(1));
    m.fill(a.moving, Noise(2));
    compare(m, a);
  }
}

TEST_CASE("nc_matmul gives the same bits for any number of threads") {
  using namespace example;
  Machine m;
  const NcMatmul::Args a{
      .dst = psum(128, 512), .stationary = sbuf(128, 128), .moving = sbuf(128, 512, Dtype::float32, 512)};
  m.fill(a.stationary, Noise(1));
  m.fill(a.moving, Noise(2));
  std::vector<double> one;
  for (const int count : {1, 2, 3, 8}) {
    set_threads(count);
    NcMatmul::run(a, m.memory());
    std::vector<double> values(a.dst.elements());
    for (size_t i = 0; i < values.size(); ++i) values[i] = m.get(a.dst, i);
    if (count == 1) one = values;
    CHECK(values == one);
  }
  set_threads(0);
}

TEST_CASE("nc_matmul in transpose mode moves bits") {
  using namespace example;
  Machine m;
  const Access identity = sbuf(16, 16, Dtype::bfloat16, 512);
  NcMatmul::Args a{.dst = psum(8, 16, Dtype::bfloat16),
                   .stationary = sbuf(16, 8, Dtype::bfloat16),
                   .moving = identity,
                   .is_transpose = true};
  REQUIRE_FALSE(NcMatmul::check(a, Engine::tensor, trn2()));
  m.fill(a.stationary, [](int64_t i) { return i == 5 ? NAN : i; });
  m.fill(identity, [](int64_t i) { return i / 16 == i % 16; });
  NcMatmul::run(a, m.memory());
  for (int k = 0; k < 16; ++k)
    for (int r = 0; r < 8; ++r) CHECK(std::memcmp(m.at(a.dst, r * 16 + k), m.at(a.stationary, k * 8 + r), 2) == 0);
  m.set(identity, 3, 1);
  CHECK_THROWS_AS(NcMatmul::run(a, m.memory()), Error);
}

TEST_CASE("nc_matmul's interval follows the profiles") {
  using namespace example;
  // bf16 N=512: 216 ns; fp32 N=512: 2 x 428 ns; fp32 N=128: 2 x 111 ns (public profiles of trn2, 2.4 GHz), within 1 %.
  const auto busy_ns = [](Dtype d, int n) {
    return NcMatmul::cost({.dst = psum(128, n), .stationary = sbuf(128, 128, d), .moving = sbuf(128, n, d, 512)},
                          Engine::tensor, trn2())
               .busy /
           2.4;
  };
  CHECK(busy_ns(Dtype::bfloat16, 512) == Approx(216).epsilon(0.01));
  CHECK(busy_ns(Dtype::float32, 512) == Approx(856).epsilon(0.01));
  CHECK(busy_ns(Dtype::float32, 128) == Approx(222).epsilon(0.04));
}

}  // namespace trn::test
