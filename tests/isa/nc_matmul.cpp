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

TEST_CASE("nc_matmul multiplies every float8 format and tfloat32") {
  using namespace example;
  using enum Dtype;
  const std::pair<Dtype, Dtype> pairs[] = {
      {float8_e3m4, float8_e3m4}, {float8_e4m3, float8_e5m2}, {float8_e5m2, bfloat16}, {float8_e4m3fn, float8_e5m2},
      {float8_e4m3, float8_e3m4}, {tfloat32, tfloat32},       {tfloat32, float32}};
  for (const auto& [left, right] : pairs) {
    INFO(name(left) << " by " << name(right));
    Machine m;
    NcMatmul::Args a{.dst = psum(24, 40), .stationary = sbuf(64, 24, left), .moving = sbuf(64, 40, right, 512)};
    REQUIRE_FALSE(NcMatmul::check(a, Engine::tensor, trn3()));
    // Eighths up to 1: exact in every format, and so are the sums.
    m.fill(a.stationary, [](int64_t i) { return static_cast<double>((i * 7 + 3) % 9) / 8; });
    m.fill(a.moving, [](int64_t i) { return static_cast<double>((i * 5 + 1) % 17 - 8) / 8; });
    NcMatmul::run(a, m.memory());
    for (int r = 0; r < 24; ++r)
      for (int c = 0; c < 40; ++c) {
        double want = 0;
        for (int k = 0; k < 64; ++k) want += m.get(a.stationary, k * 24 + r) * m.get(a.moving, k * 40 + c);
        REQUIRE(m.get(a.dst, r * 40 + c) == want);
      }
  }
}

TEST_CASE("double_row multiplies twice the contraction") {
  using namespace example;
  Machine m;
  NcMatmul::Args a{.dst = psum(30, 50),
                   .stationary = tile(Space::sbuf, Dtype::float8_e4m3, 0, 0, {{1, 100}, {30, 2}, {1, 30}}),
                   .moving = tile(Space::sbuf, Dtype::float8_e5m2, 0, 512, {{1, 100}, {50, 2}, {1, 50}}),
                   .perf_mode = MatmulPerfMode::double_row};
  REQUIRE_FALSE(NcMatmul::check(a, Engine::tensor, trn2()));
  m.fill(a.stationary, [](int64_t i) { return static_cast<double>((i * 7 + 3) % 16) / 8; });
  m.fill(a.moving, [](int64_t i) { return static_cast<double>((i * 5 + 1) % 7 - 3) / 4; });
  m.fill(a.dst, [](int64_t i) { return i; });
  for (const bool accumulate : {true, false}) {
    a.accumulate = accumulate;
    NcMatmul::run(a, m.memory());
    for (int r = 0; r < 30; ++r)
      for (int c = 0; c < 50; ++c) {
        double want = accumulate ? r * 50 + c : 0;
        for (int k = 0; k < 100; ++k)
          for (int h = 0; h < 2; ++h)
            want += m.get(a.stationary, (k * 2 + h) * 30 + r) * m.get(a.moving, (k * 2 + h) * 50 + c);
        REQUIRE(m.get(a.dst, r * 50 + c) == want);
      }
  }
  // "The same amount of time" as a bfloat16 product of half the contraction (trainium2_arch).
  const NcMatmul::Args half{
      .dst = psum(30, 50), .stationary = sbuf(100, 30, Dtype::bfloat16), .moving = sbuf(100, 50, Dtype::bfloat16, 512)};
  const Cost twice = NcMatmul::cost(a, Engine::tensor, trn2()), once = NcMatmul::cost(half, Engine::tensor, trn2());
  CHECK(twice.busy == once.busy);
  CHECK(twice.flops == 2 * once.flops);
}

TEST_CASE("nc_matmul's rules differ between generations") {
  using namespace example;
  const auto bf = Dtype::bfloat16;
  const auto rule = [](const NcMatmul::Args& a, const Spec& s) {
    const Verdict v = NcMatmul::check(a, Engine::tensor, s);
    return v ? v->rule : std::string();
  };
  NcMatmul::Args wide{.dst = psum(128, 1024), .stationary = sbuf(128, 128, bf), .moving = sbuf(128, 1024, bf, 512)};
  CHECK(rule(wide, trn2()).find("moving has 1024 columns, more than 512") == 0);
  CHECK(rule(wide, trn3()).empty());
  NcMatmul::Args narrow{
      .dst = psum(128, 8192, bf), .stationary = sbuf(128, 128, bf), .moving = sbuf(128, 8192, bf, 512)};
  CHECK(rule(narrow, trn3()).empty());
  narrow.moving = sbuf(128, 512, bf, 512), narrow.dst = psum(128, 512, bf);
  CHECK(rule(narrow, trn2()).find("dst must be float32") == 0);
  NcMatmul::Args ocp{
      .dst = psum(8, 8), .stationary = sbuf(8, 8, Dtype::float8_e4m3fn), .moving = sbuf(8, 8, Dtype::float8_e4m3, 512)};
  CHECK(rule(ocp, trn2()).find("stationary dtype float8_e4m3fn needs trn3") == 0);
  CHECK(rule(ocp, trn3()).find("float8_e4m3 and float8_e4m3fn cannot be mixed") == 0);
  NcMatmul::Args small{.dst = psum(32, 8),
                       .stationary = sbuf(32, 32, bf),
                       .moving = sbuf(32, 8, bf, 512),
                       .tile_position = {96, 32},
                       .tile_size = {32, 32}};
  CHECK(rule(small, trn2()).empty());
  CHECK(rule(small, trn1()).find("tile_size (32, 32) must hold powers of two from 64") == 0);
}

TEST_CASE("float8 in transpose mode fills 16-bit slots, and bfloat16 PSUM accumulates in fp32") {
  using namespace example;
  Machine m;
  const auto f8 = Dtype::float8_e4m3, bf = Dtype::bfloat16;
  const Access identity = sbuf(16, 16, f8, 512);
  const NcMatmul::Args a{
      .dst = psum(8, 16, Dtype::uint16), .stationary = sbuf(16, 8, f8), .moving = identity, .is_transpose = true};
  REQUIRE_FALSE(NcMatmul::check(a, Engine::tensor, trn2()));
  for (int64_t i = 0; i < 128; ++i) *m.at(a.stationary, i) = static_cast<std::byte>(i * 2);
  m.fill(identity, [](int64_t i) { return i / 16 == i % 16; });
  NcMatmul::run(a, m.memory());
  for (int k = 0; k < 16; ++k)
    for (int r = 0; r < 8; ++r) CHECK(m.get(a.dst, r * 16 + k) == (k * 8 + r) * 2);

  const NcMatmul::Args sum{.dst = psum(1, 1, bf, 64),
                           .stationary = sbuf(1, 1, bf, 1024),
                           .moving = sbuf(1, 1, bf, 1028),
                           .accumulate = true};
  m.set(sum.dst, 0, 256);
  m.set(sum.stationary, 0, 1);
  m.set(sum.moving, 0, 3);  // 259 lies between 258 and 260
  NcMatmul::run(sum, m.memory());
  CHECK(m.get(sum.dst, 0) == 260);
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

  // "2x better performance" with a 0/1 operand in float32, no effect otherwise (nki.isa.nc_matmul).
  for (const Dtype d : {Dtype::float32, Dtype::bfloat16}) {
    NcMatmul::Args a{.dst = psum(128, 512), .stationary = sbuf(128, 128, d), .moving = sbuf(128, 512, d, 512)};
    const double plain = NcMatmul::cost(a, Engine::tensor, trn2()).busy;
    a.is_moving_onezero = true;
    const double hinted = NcMatmul::cost(a, Engine::tensor, trn2()).busy;
    CHECK(plain / hinted == Approx(d == Dtype::float32 ? 2 : 1).epsilon(0.01));
  }
}

}  // namespace trn::test
