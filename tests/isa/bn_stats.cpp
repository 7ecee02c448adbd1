#include "isa/bn_stats.h"

#include <catch2/catch.hpp>

#include "isa/bn_aggr.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("bn_stats and bn_aggr give mean and variance of a long row") {
  using namespace example;
  Machine m;
  constexpr int kN = 1003;  // 512 + 491: an odd rest
  const Access x = sbuf(128, kN), stats = sbuf(128, 12, Dtype::float32, 8192),
               out = sbuf(128, 2, Dtype::float32, 16384);
  m.fill(x, [n = Noise(1)](int64_t) mutable { return 3 + n(); });
  const auto columns = [](Access a, int first, int count) {
    a.offset += first * 4;
    a.dims[1].count = count;
    return a;
  };
  BnStats::run({columns(stats, 0, 6), columns(x, 0, 512)}, m.memory());
  BnStats::run({columns(stats, 6, 6), columns(x, 512, kN - 512)}, m.memory());
  BnAggr::run({out, stats}, m.memory());
  for (int p = 0; p < 128; ++p) {
    double sum = 0, square = 0;
    for (int i = 0; i < kN; ++i) sum += m.get(x, p * kN + i);
    for (int i = 0; i < kN; ++i) square += std::pow(m.get(x, p * kN + i) - sum / kN, 2);
    CHECK(m.get(out, p * 2) == Approx(sum / kN).epsilon(1e-6));
    CHECK(m.get(out, p * 2 + 1) == Approx(square / kN).epsilon(1e-5));
    CHECK(m.get(stats, p * 12) == 256);
    CHECK(m.get(stats, p * 12 + 6) == 246);  // even places of 491
    CHECK(m.get(stats, p * 12 + 9) == 245);
  }
}

}  // namespace trn::test
