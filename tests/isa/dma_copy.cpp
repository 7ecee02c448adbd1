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

TEST_CASE("dma_compute adds up to sixteen sources in fp32, of which dst may be one") {
  Machine m({1 << 16});
  const auto bf = Dtype::bfloat16;
  const auto at = [&](int i) { return tile(Space::sbuf, bf, 0, 64 * i, {{1, 8}, {1, 10}}); };
  for (int i = 0; i < 16; ++i) m.fill(at(i), [=](int64_t) { return i == 0 ? 256 : i == 1 ? 1 : 0.125; });
  DmaCompute::Args a{.dst = at(1), .src0 = at(0), .src1 = at(1)};
  Access* more[] = {&a.src2, &a.src3,  &a.src4,  &a.src5,  &a.src6,  &a.src7,  &a.src8,
                    &a.src9, &a.src10, &a.src11, &a.src12, &a.src13, &a.src14, &a.src15};
  for (int i = 0; i < 14; ++i) *more[i] = at(i + 2);
  REQUIRE_FALSE(DmaCompute::check(a, Engine::sync, trn2()));
  DmaCompute::run(a, m.memory());
  // 256 + 1 + 14 / 8 = 258.75; bfloat16 has steps of 2 there. Rounding at each step would give 256.
  for (int i = 0; i < 80; ++i) CHECK(m.get(at(1), i) == 258);
  CHECK(DmaCompute::cost(a, Engine::sync, trn2()).transfer.chunks == 16);
}

TEST_CASE("who makes a DMA's descriptors") {
  using namespace example;
  const Access ids = sbuf(16, 1, Dtype::int32, 8192);
  DmaCopy::Args direct{.dst = sbuf(16, 64), .src = hbm(16, 64)},
      gather{.dst = sbuf(16, 64), .src = hbm(1000, 64), .index = ids};
  const auto legal = [](const DmaCopy::Args& a, Engine e, const Spec& s) { return !DmaCopy::check(a, e, s); };
  direct.dge_mode = DgeMode::hwdge;
  CHECK(legal(direct, Engine::sync, trn2()));
  CHECK(legal(direct, Engine::scalar, trn2()));
  CHECK_FALSE(legal(direct, Engine::vector, trn2()));
  CHECK_FALSE(legal(direct, Engine::sync, trn1()));
  for (const DgeMode mode : {DgeMode::unknown, DgeMode::swdge, DgeMode::hwdge, DgeMode::none}) {
    gather.dge_mode = direct.dge_mode = mode;
    CHECK(legal(gather, Engine::sync, trn2()) == (mode == DgeMode::unknown || mode == DgeMode::swdge));
    CHECK_FALSE(legal(gather, Engine::sync, trn1()));
    CHECK(legal(direct, Engine::sync, trn2()));
    CHECK(DmaCopy::cost(direct, Engine::sync, trn2()).transfer.software == (mode == DgeMode::swdge));
  }
  direct.priority = 3;
  CHECK_FALSE(legal(direct, Engine::sync, trn2()));
  CHECK(legal(direct, Engine::sync, trn3()));
}

TEST_CASE("dma_transpose exchanges the first and last of three and four dims") {
  Machine m({1 << 18});
  const auto bf = Dtype::bfloat16;
  Access src;
  src.space = Space::hbm;
  src.dtype = bf;
  src.ndim = 4;
  src.dims = {Dim{60, 3}, Dim{20, 3}, Dim{10, 2}, Dim{1, 10}};
  const Access dst = tile(Space::sbuf, bf, 0, 0, {{1, 10}, {1, 18}});
  m.fill(src, [](int64_t i) { return i; });
  DmaTranspose::Args a{.dst = dst, .src = src, .axes = 3120};
  REQUIRE_FALSE(DmaTranspose::check(a, Engine::sync, trn2()));
  DmaTranspose::run(a, m.memory());
  const auto element = [&](int i, int j, int k, int l) { return m.get(src, ((i * 3 + j) * 2 + k) * 10 + l); };
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 10; ++l) CHECK(m.get(dst, l * 18 + (j * 2 + k) * 3 + i) == element(i, j, k, l));

  src.ndim = 3;
  src.dims = {Dim{20, 3}, Dim{10, 2}, Dim{1, 10}, Dim{}};
  const Access cube = tile(Space::sbuf, bf, 0, 4096, {{1, 10}, {1, 6}});
  a = {.dst = cube, .src = src, .axes = 210};
  REQUIRE_FALSE(DmaTranspose::check(a, Engine::sync, trn2()));
  DmaTranspose::run(a, m.memory());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int l = 0; l < 10; ++l) CHECK(m.get(cube, l * 6 + j * 3 + i) == m.get(src, (i * 2 + j) * 10 + l));
}

TEST_CASE("dma_transpose gathers rows by a two-column index") {
  using namespace example;
  Machine m({1 << 18});
  const auto bf = Dtype::bfloat16;
  const Access table = hbm(200, 40, bf), ids = sbuf(128, 2, Dtype::uint32, 8192), out = sbuf(40, 256, bf);
  m.fill(table, [](int64_t i) { return i / 40; });  // a row holds its number
  m.fill(ids, [](int64_t i) { return i * 13 % 200; });
  DmaTranspose::Args a{.dst = out, .src = table, .index = ids};
  REQUIRE_FALSE(DmaTranspose::check(a, Engine::gpsimd, trn2()));
  DmaTranspose::run(a, m.memory());
  // flat_indices = indices.T.flatten() (nki.isa.dma_transpose)
  for (int f = 0; f < 256; ++f) REQUIRE(m.get(out, 7 * 256 + f) == m.get(ids, f % 128 * 2 + f / 128));
  m.set(ids, 0, 200);
  CHECK_THROWS_AS(DmaTranspose::run(a, m.memory()), Error);
  m.fill(out, [](int64_t) { return -1; });
  a.oob_mode = OobMode::skip;
  DmaTranspose::run(a, m.memory());
  CHECK(m.get(out, 0) == -1);
  CHECK(m.get(out, 1) == m.get(ids, 2));
}

TEST_CASE("hardware transposes are small and of 2 bytes") {
  using namespace example;
  const auto bf = Dtype::bfloat16;
  DmaTranspose::Args a{.dst = sbuf(128, 16, bf), .src = hbm(16, 128, bf), .dge_mode = DgeMode::hwdge};
  CHECK_FALSE(DmaTranspose::check(a, Engine::sync, trn2()));
  a.src = hbm(32, 128, bf), a.dst = sbuf(128, 32, bf);
  CHECK(DmaTranspose::check(a, Engine::sync, trn2())->rule == "src has 32 rows, not 16 as hwdge needs");
  a.src = hbm(16, 128), a.dst = sbuf(128, 16);
  CHECK(DmaTranspose::check(a, Engine::sync, trn2())->rule == "src elements must have 2 bytes with hwdge");
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
