#include "memory/memories.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

using namespace trn;

TEST_CASE("fresh on-chip memory reads as NaN in every float dtype") {
  PartitionedMemory m(128, 1024);
  for (const Dtype d : {Dtype::float32, Dtype::bfloat16, Dtype::float16, Dtype::tfloat32, Dtype::float8_e4m3,
                        Dtype::float8_e5m2, Dtype::float8_e3m4})
    for (const int partition : {0, 77, 127}) {
      std::array<float, 16> v;
      read_as_float(d, m.at(partition, 1024 - 16 * size_of(d)), size_of(d), v.data(), v.size());
      for (const float f : v) CHECK(std::isnan(f));
    }
}

TEST_CASE("partitions do not overlap, are aligned and start in different cache sets") {
  PartitionedMemory m(128, 224 * 1024);
  CHECK(m.pitch() >= m.bytes_per_partition());
  CHECK(m.pitch() % 64 == 0);
  CHECK(m.pitch() / 64 % 2 == 1);
  CHECK(m.at(5, 100) - m.at(4, 100) == m.pitch());
  *m.at(3, 0) = std::byte{1};
  m.poison();
  CHECK(*m.at(3, 0) == std::byte{0xFF});
}

TEST_CASE("addresses and steps of operands") {
  PartitionedMemory sbuf(128, 4096), psum(128, 2048);
  std::array<std::byte, 64> bytes{};
  const std::array<std::span<std::byte>, 1> slots{std::span(bytes)};
  const CoreMemory core{&sbuf, &psum, slots};

  Access a{.space = Space::sbuf,
           .dtype = Dtype::bfloat16,
           .ndim = 2,
           .partition = 32,
           .offset = 100,
           .dims = {Dim{1, 32}, Dim{3, 4}}};
  CHECK(address(a, core) == sbuf.at(32, 100));
  CHECK(host_step(a, 0, core) == sbuf.pitch());
  CHECK(host_step(a, 1, core) == 6);
  a.dims[0].step = 0;
  CHECK(host_step(a, 0, core) == 0);
  a.space = Space::psum;
  a.dims[0].step = 1;
  CHECK(address(a, core) == psum.at(32, 100));
  CHECK(host_step(a, 0, core) == psum.pitch());

  const Access h{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 1, .offset = 8, .dims = {Dim{-2, 2}}};
  CHECK(address(h, core) == bytes.data() + 8);
  CHECK(host_step(h, 0, core) == -8);
}
