#include "isa/nc_n_gather.h"

#include <catch2/catch.hpp>

#include "isa/local_gather.h"
#include "isa/nc_stream_shuffle.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("nc_n_gather picks inside each partition") {
  using namespace example;
  Machine m;
  const NcNGather::Args a{sbuf(128, 50, Dtype::int16, 8192),
                          tile(Space::sbuf, Dtype::int16, 0, 0, {{1, 128}, {10, 20}, {1, 7}}),
                          sbuf(128, 50, Dtype::uint32, 16384)};
  m.fill(a.data, [](int64_t i) { return i % 30000; });
  m.fill(a.indices, [](int64_t i) { return i * 31 % 140; });
  NcNGather::run(a, m.memory());
  for (int64_t i = 0; i < a.dst.elements(); ++i) REQUIRE(m.get(a.dst, i) == (i / 50 * 140 + i * 31 % 140) % 30000);
  m.set(a.indices, 3, 140);
  CHECK_THROWS_AS(NcNGather::run(a, m.memory()), Error);
}

TEST_CASE("local_gather shares indices in groups of 16 partitions") {
  using namespace example;
  Machine m;
  const LocalGather::Args a{sbuf(32, 40, Dtype::float32, 8192), sbuf(32, 100), sbuf(32, 2, Dtype::uint16, 16384), 2,
                            20};
  REQUIRE_FALSE(LocalGather::check(a, Engine::gpsimd, trn2()));
  m.fill(a.src_buffer, [](int64_t i) { return i; });
  m.fill(a.index, [](int64_t i) { return i * 13 % 99; });
  LocalGather::run(a, m.memory());
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 20; ++i) {
      // Index i of the group stands in partition i mod 16, column i / 16.
      const int group = p / 16 * 16, at = ((group + i % 16) * 2 + i / 16) * 13 % 99;
      for (int e = 0; e < 2; ++e) REQUIRE(m.get(a.dst, p * 40 + i * 2 + e) == p * 100 + at + e);
    }
}

TEST_CASE("nc_stream_shuffle moves partitions inside their group, in place too") {
  using namespace example;
  Machine m;
  const Access x = sbuf(64, 9);
  m.fill(x, [](int64_t i) { return i / 9; });
  ShuffleMask mask{};
  for (int i = 0; i < 32; ++i) mask[i] = i == 4 ? 255 : static_cast<uint8_t>((i + 1) % 32);
  NcStreamShuffle::run({x, x, mask}, m.memory());
  for (int p = 0; p < 64; ++p) CHECK(m.get(x, p * 9 + 8) == (p % 32 == 4 ? p : p / 32 * 32 + (p + 1) % 32));
}

}  // namespace trn::test
