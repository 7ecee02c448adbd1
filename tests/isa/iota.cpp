#include "isa/iota.h"

#include <catch2/catch.hpp>

#include "isa/affine_select.h"
#include "isa/memset.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("iota counts along its pattern") {
  using namespace example;
  Machine m;
  for (const Dtype d : {Dtype::int32, Dtype::float32, Dtype::int16}) {
    const Access dst = at_partition(sbuf(8, 24, d), 32);
    Iota::run({dst, pattern({{100, 2}, {-10, 3}, {1, 4}}), 5, 1000}, m.memory());
    for (int p = 0; p < 8; ++p)
      for (int z = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
          for (int x = 0; x < 4; ++x)
            REQUIRE(m.get(dst, p * 24 + (z * 3 + y) * 4 + x) == 5 + 1000 * p + 100 * z - 10 * y + x);
  }
}

TEST_CASE("affine_select makes a causal mask") {
  using namespace example;
  Machine m;
  const Access x = sbuf(64, 64), out = sbuf(64, 64, Dtype::float32, 512);
  m.fill(x, Noise(1));
  AffineSelect::run({out, pattern({{-1, 64}}), 1, x, -1e30f, AluOp::greater_equal, 0}, m.memory());
  for (int q = 0; q < 64; ++q)
    for (int k = 0; k < 64; ++k)
      REQUIRE(m.get(out, q * 64 + k) == (k <= q ? m.get(x, q * 64 + k) : static_cast<double>(-1e30f)));
}

TEST_CASE("memset fills any dtype and pattern") {
  using namespace example;
  Machine m;
  Memset::run({sbuf(128, 5000, Dtype::bfloat16), 1.5}, m.memory());
  CHECK(m.get(sbuf(128, 5000, Dtype::bfloat16), 128 * 5000 - 1) == 1.5);
  const Access odd = tile(Space::sbuf, Dtype::int32, 0, 0, {{1, 4}, {3, 10}}),
               even = tile(Space::sbuf, Dtype::int32, 0, 4, {{1, 4}, {3, 10}});
  Memset::run({even, 7}, m.memory());
  Memset::run({odd, 16777217}, m.memory());
  for (int64_t i = 0; i < 40; ++i) CHECK((m.get(odd, i) == 16777217 && m.get(even, i) == 7));
}

}  // namespace trn::test
