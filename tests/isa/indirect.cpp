#include "isa/indirect.h"

#include <catch2/catch.hpp>

#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("indirect gathers and scatters by each group's own offsets") {
  using namespace example;
  Machine m;
  const int n = 20;
  const Access table = sbuf(64, 100, Dtype::bfloat16), ids = sbuf(64, 2, Dtype::uint16, 8192),
               out = sbuf(64, n, Dtype::bfloat16, 4096);
  m.fill(table, [](int64_t i) { return i % 250; });
  m.fill(ids, [](int64_t i) { return i * 37 % 100; });
  const auto offset = [&](int p, int i) {  // offset i stands in partition i mod 16, column i / 16 of p's group
    return static_cast<int>(m.get(ids, (p / 16 * 16 + i % 16) * 2 + i / 16));
  };
  REQUIRE_FALSE(Indirect::check({out, table, ids, n}, Engine::vector, trn3()));
  Indirect::run({out, table, ids, n}, m.memory());
  for (int p = 0; p < 64; ++p)
    for (int i = 0; i < n; ++i) REQUIRE(m.get(out, p * n + i) == m.get(table, p * 100 + offset(p, i)));

  const Access target = sbuf(64, 100, Dtype::bfloat16, 16384);
  m.fill(target, [](int64_t) { return -1; });
  Indirect::run({target, out, ids, n, true}, m.memory());
  for (int p = 0; p < 64; ++p)
    for (int column = 0; column < 100; ++column) {
      double want = -1;
      for (int i = 0; i < n; ++i)
        if (offset(p, i) == column) want = m.get(out, p * n + i);
      REQUIRE(m.get(target, p * 100 + column) == want);
    }
  m.set(ids, 3, 100);
  CHECK_THROWS_AS(Indirect::run({out, table, ids, n}, m.memory()), Error);
}

}  // namespace trn::test
