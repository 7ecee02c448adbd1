#include "isa/dma_copy.h"

#include <catch2/catch.hpp>

#include "isa/dma_compute.h"
#include "isa/dma_transpose.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

Access hbm_tile(Dtype d, int64_t offset, std::initializer_list<Dim> dims) {
  return tile(Space::hbm, d, 0, offset, dims);
}

void compare(Machine& m, const Access& dst, const Access& src) {
  REQUIRE_FALSE(DmaCopy::check({.dst = dst, .src = src}, Engine::sync, trn2()));
  for (int64_t i = 0; i < src.elements(); ++i) m.set(src, i, static_cast<double>((i * 37 + 11) % 127));
  DmaCopy::run({.dst = dst, .src = src}, m.memory());
  int64_t wrong = 0;
  for (int64_t i = 0; i < src.elements(); ++i) wrong += m.get(dst, i) != static_cast<double>((i * 37 + 11) % 127);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("dma_copy follows both patterns' order") {
  Machine m({1 << 18});
  for (const Dtype d : {Dtype::uint8, Dtype::bfloat16, Dtype::float32, Dtype::int64}) {
    INFO(name(d));
    const auto chip = [d](std::initializer_list<Dim> dims) { return tile(Space::sbuf, d, 0, 256, dims); };
    compare(m, chip({{1, 32}, {1, 100}}), hbm_tile(d, 0, {{100, 32}, {1, 100}}));             // plain rows
    compare(m, chip({{1, 32}, {1, 100}}), hbm_tile(d, 0, {{1, 32}, {32, 100}}));              // transposing
    compare(m, chip({{1, 16}, {4, 8}, {1, 4}}), hbm_tile(d, 8, {{4, 16}, {64, 8}, {1, 4}}));  // heads: short runs
    compare(m, hbm_tile(d, 0, {{3, 64}, {192, 5}, {1, 3}}), chip({{1, 64}, {1, 15}}));  // a store with gaps closed
    compare(m, chip({{1, 10}, {1, 21}}), hbm_tile(d, 0, {{50, 6}, {1, 35}}));           // counts with no common nest
    compare(m, chip({{1, 7}, {1, 6}}), hbm_tile(d, 2048, {{-6, 7}, {-1, 6}}));          // backwards
    compare(m, chip({{1, 128}, {2, 9}}), hbm_tile(d, 0, {{9, 128}, {1, 9}}));           // strided on chip
  }
}

TEST_CASE("dma_copy reads a broadcast") {
  Machine m({4096});
  const Access src = hbm_tile(Dtype::float32, 0, {{0, 128}, {1, 20}, {0, 3}}),
               dst = tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 128}, {1, 60}});
  for (int i = 0; i < 20; ++i) m.set(hbm_tile(Dtype::float32, 0, {{1, 20}}), i, i * 1.5);
  DmaCopy::run({.dst = dst, .src = src}, m.memory());
  for (int64_t i = 0; i < dst.elements(); ++i) REQUIRE(m.get(dst, i) == static_cast<double>(i % 60 / 3) * 1.5);
}

TEST_CASE("dma_copy casts through fp32, integers exactly") {
  Machine m({1 << 16});
  const Access f = tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 4}, {1, 5}});
  m.fill(f, Noise(1));
  const Access bf = hbm_tile(Dtype::bfloat16, 0, {{1, 4}, {4, 5}});
  DmaCopy::run({.dst = bf, .src = f}, m.memory());
  for (int64_t i = 0; i < 20; ++i) CHECK(m.get(bf, i) == round_bfloat16(m.get(f, i)));

  const Access wide = hbm_tile(Dtype::int64, 1024, {{1, 6}}),
               narrow = tile(Space::sbuf, Dtype::int32, 0, 512, {{1, 1}, {1, 6}});
  const double values[] = {16777217, -5, 2147483647, -2147483648.0, 4294967296.0 + 3, 0};
  m.fill(wide, [&](int64_t i) { return values[i]; });
  DmaCopy::run({.dst = narrow, .src = wide}, m.memory());
  for (int i = 0; i < 6; ++i) CHECK(m.get(narrow, i) == (i == 4 ? 3 : values[i]));
  DmaCopy::run({.dst = wide, .src = narrow}, m.memory());
  CHECK(m.get(wide, 1) == -5);
  CHECK(m.get(wide, 3) == -2147483648.0);
}

TEST_CASE("dma_copy gathers and scatters rows") {
  Machine m({1 << 16, 1 << 10});
  const Access table = hbm_tile(Dtype::float32, 0, {{12, 100}, {1, 10}}),
               index = tile(Space::sbuf, Dtype::int32, 0, 4096, {{1, 6}, {1, 1}});
  const int rows[] = {99, 0, 7, 7, 42, 3};
  m.fill(table, [](int64_t i) { return i; });
  m.fill(index, [&](int64_t i) { return rows[i]; });
  const Access out = tile(Space::sbuf, Dtype::bfloat16, 32, 0, {{1, 6}, {1, 10}});
  const DmaCopy::Args gather{.dst = out, .src = table, .index = index};
  REQUIRE_FALSE(DmaCopy::check(gather, Engine::gpsimd, trn2()));
  DmaCopy::run(gather, m.memory());
  for (int i = 0; i < 60; ++i) CHECK(m.get(out, i) == round_bfloat16(rows[i / 10] * 10 + i % 10));

  const Access in_hbm = tile(Space::hbm, Dtype::int64, 0, 0, {{1, 6}});
  Access index64 = in_hbm;
  index64.buffer = 1;
  m.fill(index64, [&](int64_t i) { return rows[i]; });
  const Access src =
      tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 2}, {10, 3}, {1, 10}});  // three rows in each partition
  m.fill(src, [](int64_t i) { return -i; });
  DmaCopy::run({.dst = table, .src = src, .index = index64, .index_selects_dst = true}, m.memory());
  for (int r = 0; r < 6; ++r)
    for (int i = 0; i < 10; ++i)
      if (r != 2) CHECK(m.get(table, rows[r] * 10 + i) == -(r * 10 + i));  // of the two writes to row 7 the later wins
}

TEST_CASE("dma_copy stops at an index out of range, or skips it") {
  Machine m({1 << 16});
  const Access table = hbm_tile(Dtype::float32, 0, {{4, 10}, {1, 4}}),
               index = tile(Space::sbuf, Dtype::int32, 0, 4096, {{1, 3}, {1, 1}});
  const Access out = tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 3}, {1, 4}});
  m.fill(table, [](int64_t i) { return i; });
  m.fill(out, [](int64_t) { return -1; });
  const int rows[] = {2, 10, -1};
  m.fill(index, [&](int64_t i) { return rows[i]; });
  DmaCopy::Args a{.dst = out, .src = table, .index = index};
  try {
    DmaCopy::run(a, m.memory());
    FAIL("an index out of range was accepted");
  } catch (const Error& e) {
    CHECK(e.fault() == Fault::undefined);
    CHECK(e.rule().starts_with(kIndexOutOfBounds));
  }
  a.oob_mode = OobMode::skip;
  DmaCopy::run(a, m.memory());
  for (int i = 0; i < 12; ++i) CHECK(m.get(out, i) == (i < 4 ? 8 + i : -1));
}

TEST_CASE("dma_compute adds, and accumulates equal indices in order") {
  Machine m({1 << 16});
  const Access table = hbm_tile(Dtype::float32, 0, {{4, 10}, {1, 4}}),
               index = tile(Space::sbuf, Dtype::int32, 0, 4096, {{1, 3}, {1, 1}});
  const Access rows = tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 3}, {1, 4}});
  m.fill(table, [](int64_t i) { return i; });
  m.fill(rows, [](int64_t i) { return 100 * (i / 4 + 1); });
  m.fill(index, [](int64_t i) { return i == 1 ? 5 : 2; });
  DmaCompute::Args a{.dst = table, .src0 = rows, .index = index};
  CHECK_THROWS_AS(DmaCompute::run(a, m.memory()), Error);
  a.unique_indices = false;
  DmaCompute::run(a, m.memory());
  for (int64_t i = 0; i < 40; ++i) CHECK(m.get(table, i) == i + (i / 4 == 2 ? 400 : i / 4 == 5 ? 200 : 0));

  DmaCompute::run({.dst = rows, .src0 = rows, .src1 = rows}, m.memory());
  CHECK(m.get(rows, 11) == 600);
}

TEST_CASE("dma_transpose turns a tile") {
  using namespace example;
  Machine m({1 << 18});
  const DmaTranspose::Args a{sbuf(100, 300, Dtype::bfloat16), hbm(300, 100, Dtype::bfloat16)};
  REQUIRE_FALSE(DmaTranspose::check(a, Engine::sync, trn2()));
  m.fill(a.src, [](int64_t i) { return i % 251; });
  DmaTranspose::run(a, m.memory());
  for (int f = 0; f < 300; ++f)
    for (int p = 0; p < 100; ++p) REQUIRE(m.get(a.dst, p * 300 + f) == (f * 100 + p) % 251);
}

TEST_CASE("a DMA's transfer counts runs that are contiguous on both sides") {
  using namespace example;
  const auto transfer = [](const Access& dst, const Access& src) {
    return DmaCopy::cost({.dst = dst, .src = src}, Engine::sync, trn2()).transfer;
  };
  const Transfer rows = transfer(sbuf(128, 512), hbm(128, 512));
  CHECK((rows.rows == 128 && rows.chunks == 1 && rows.chunk_bytes == 2048 && rows.reads_hbm && !rows.writes_hbm));
  const Transfer turned = transfer(sbuf(32, 100), hbm_tile(Dtype::float32, 0, {{1, 32}, {32, 100}}));
  CHECK((turned.rows == 32 && turned.chunks == 100 && turned.chunk_bytes == 4));
  const Transfer cast = transfer(hbm(128, 64, Dtype::bfloat16), sbuf(128, 64));
  CHECK(cast.chunk_bytes == 256);  // the wider side
  CHECK(transfer(hbm(1, 100000), hbm(1, 100000)).chunk_bytes == 400000);
}

}  // namespace trn::test
