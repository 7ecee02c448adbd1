#include "isa/topk.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("topk gives each group's largest elements, ascending, with their places") {
  using namespace example;
  Machine m;
  const int n = 1000, k = 37;
  const Access x = sbuf(64, 63, Dtype::bfloat16), values = sbuf(64, k, Dtype::bfloat16, 4096),
               places = sbuf(64, k, Dtype::uint32, 8192);
  m.fill(x, [noise = Noise(4)](int64_t) mutable { return std::floor(noise() * 100); });
  m.fill(values, [](int64_t) { return -7; });
  REQUIRE_FALSE(Topk::check({values, places, x, n}, Engine::gpsimd, trn2()));
  Topk::run({values, places, x, n}, m.memory());
  for (int group = 0; group < 4; ++group) {
    const auto element = [&](const Access& a, int columns, int i) {
      return m.get(a, (group * 16 + i % 16) * columns + i / 16);
    };
    std::vector<double> all;
    for (int i = 0; i < n; ++i) all.push_back(element(x, 63, i));
    std::sort(all.begin(), all.end());
    std::vector<double> used;
    for (int i = 0; i < k; ++i) {
      REQUIRE(element(values, k, i) == all[static_cast<size_t>(n - k + i)]);
      const double place = element(places, k, i);
      REQUIRE(element(x, 63, static_cast<int>(place)) == element(values, k, i));
      used.push_back(place);
    }
    std::sort(used.begin(), used.end());
    CHECK(std::unique(used.begin(), used.end()) == used.end());
    CHECK(m.get(values, group * 16 * k + 3) == -7);  // column 3 of the first partition is position 48 > k
  }
}

TEST_CASE("topk's time is the documented 4 n + K") {
  using namespace example;
  const Topk::Args a{sbuf(16, 8, Dtype::bfloat16, 4096), sbuf(16, 8, Dtype::uint32, 8192), sbuf(16, 3, Dtype::bfloat16),
                     42};
  CHECK(Topk::cost(a, Engine::gpsimd, trn2()).busy == 4 * 42 + 8);
}

}  // namespace trn::test
