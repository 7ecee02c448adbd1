#include "isa/range_select.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("range_select keeps a window of indices and finds its maximum") {
  using namespace example;
  Machine m;
  const auto fp = Dtype::float32;
  const Access out = sbuf(64, 100, fp, 4096), x = sbuf(64, 100), low = sbuf(64, 1, fp, 8192),
               high = sbuf(64, 1, fp, 8196), most = sbuf(64, 1, fp, 8200);
  m.fill(x, Noise(1));
  m.fill(low, [](int64_t p) { return p + 5; });
  m.fill(high, [](int64_t p) { return 2 * p + 9; });
  RangeSelect::run({.dst = out, .on_true_tile = x, .bound0 = low, .bound1 = high, .reduce_res = most, .range_start = 7},
                   m.memory());
  const double least = std::numeric_limits<float>::lowest();
  for (int p = 0; p < 64; ++p) {
    double best = least;
    for (int i = 0; i < 100; ++i) {
      const double want = i + 7 >= p + 5 && i + 7 < 2 * p + 9 ? m.get(x, p * 100 + i) : least;
      REQUIRE(m.get(out, p * 100 + i) == want);
      best = std::max(best, want);
    }
    CHECK(m.get(most, p) == best);
  }
}

}  // namespace trn::test
