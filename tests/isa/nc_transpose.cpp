#include "isa/nc_transpose.h"

#include <catch2/catch.hpp>

#include "tests/isa/machine.h"

namespace trn::test {

namespace {

void compare(Machine& m, const NcTranspose::Args& a, Engine e) {
  REQUIRE_FALSE(NcTranspose::check(a, e, trn2()));
  const int size = size_of(a.data.dtype);
  Noise noise(7);
  for (int64_t i = 0; i < a.data.elements(); ++i)
    for (int b = 0; b < size; ++b)
      m.at(a.data, i)[b] = static_cast<std::byte>(noise() * 127);  // any bits, NaN payloads too
  NcTranspose::run(a, m.memory());
  const int64_t p = a.data.partitions(), f = a.data.free_elements();
  int64_t wrong = 0;
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j < f; ++j) wrong += std::memcmp(m.at(a.dst, j * p + i), m.at(a.data, i * f + j), size) != 0;
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("nc_transpose moves bits for every element size and shape") {
  using namespace example;
  Machine m;
  for (const Dtype d : {Dtype::uint8, Dtype::bfloat16, Dtype::float32})
    for (const auto [p, f] : {std::array{128, 128}, {1, 128}, {128, 1}, {33, 17}, {16, 100}, {5, 3}}) {
      INFO(name(d) << " " << p << " x " << f);
      compare(m, {psum(f, p, d), sbuf(p, f, d)}, Engine::tensor);
    }
}

TEST_CASE("nc_transpose on Vector reads PSUM and writes SBUF") {
  using namespace example;
  Machine m;
  compare(m, {sbuf(32, 32), psum(32, 32)}, Engine::vector);
  CHECK(NcTranspose::check({sbuf(33, 32), psum(32, 33)}, Engine::vector, trn2()));
}

TEST_CASE("nc_transpose flattens free dims on both sides") {
  Machine m;
  const Access data = tile(Space::sbuf, Dtype::bfloat16, 32, 64, {{1, 24}, {20, 3}, {2, 8}});
  const Access dst = tile(Space::psum, Dtype::bfloat16, 0, 128, {{1, 24}, {12, 4}, {2, 6}});
  compare(m, {dst, data}, Engine::tensor);
}

}  // namespace trn::test
