#include "isa/max8.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "isa/nc_find_index8.h"
#include "isa/nc_match_replace8.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("max8 gives the 8 largest, descending, duplicates included") {
  using namespace example;
  Machine m;
  const Max8::Args a{sbuf(128, 8, Dtype::float32, 16384), sbuf(128, 3000)};
  m.fill(a.src, [n = Noise(1)](int64_t) mutable { return std::floor(n() * 500); });
  Max8::run(a, m.memory());
  for (int p = 0; p < 128; ++p) {
    std::vector<double> row(3000);
    for (int i = 0; i < 3000; ++i) row[i] = m.get(a.src, p * 3000 + i);
    std::sort(row.rbegin(), row.rend());
    for (int i = 0; i < 8; ++i) REQUIRE(m.get(a.dst, p * 8 + i) == row[i]);
  }
}

TEST_CASE("nc_find_index8 and nc_match_replace8 pair duplicates as documented") {
  using namespace example;
  Machine m;
  const double data[] = {1, 2, 3, 4, 8, 8, 8, 8, 8, 8, 8},
               vals[] = {3, 8, 8, 8, 8, 8, 8, 8};  // the example of nki.isa.nc_match_replace8
  const Access x = sbuf(1, 11), v = sbuf(1, 8, Dtype::float32, 64), index = sbuf(1, 8, Dtype::uint32, 128),
               out = sbuf(1, 11, Dtype::float32, 192);
  m.fill(x, [&](int64_t i) { return data[i]; });
  m.fill(v, [&](int64_t i) { return vals[i]; });
  NcFindIndex8::run({index, x, v}, m.memory());
  for (int i = 0; i < 8; ++i) CHECK(m.get(index, i) == (i == 0 ? 2 : 3 + i));
  NcMatchReplace8::run({.dst = out, .data = x, .vals = v, .imm = -5, .dst_idx = index}, m.memory());
  for (int i = 0; i < 8; ++i) CHECK(m.get(index, i) == (i == 0 ? 2 : 11 - i));
  for (int i = 0; i < 11; ++i) CHECK(m.get(out, i) == (i == 2 || i >= 4 ? -5 : data[i]));
}

TEST_CASE("nc_find_index8 marks absent values with all ones") {
  using namespace example;
  Machine m;
  const Access x = sbuf(1, 8), v = sbuf(1, 8, Dtype::float32, 64), wide = sbuf(1, 8, Dtype::uint32, 128),
               narrow = sbuf(1, 8, Dtype::uint16, 192);
  m.fill(x, [](int64_t i) { return i; });
  m.fill(v, [](int64_t i) { return i == 3 ? 100 : 7 - i; });
  NcFindIndex8::run({wide, x, v}, m.memory());
  NcFindIndex8::run({narrow, x, v}, m.memory());
  CHECK(m.get(wide, 3) == 4294967295.0);
  CHECK(m.get(narrow, 3) == 65535);
  CHECK(m.get(wide, 0) == 7);
}

}  // namespace trn::test
