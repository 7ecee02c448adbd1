#include <catch2/catch.hpp>

#include "backend/compiler/live_ranges.h"
#include "backend/compiler/placement.h"
#include "tests/compiler/symbolic.h"

using namespace trn;
using namespace trn::compiler;
using namespace trn::compiler::test;

namespace {

// Brute force: every pair of tiles that are alive together stands apart.
void check_apart(const TileProgram& tiles, const TileProgram& placed, const Spec& s) {
  const auto live = live_ranges(tiles);
  for (size_t a = 0; a < live.size(); ++a) {
    if (!live[a].used()) continue;
    const VirtualTile& x = placed.tiles[a];
    REQUIRE(x.address >= 0);
    REQUIRE(x.address + x.bytes <= capacity(x.space, s));
    if (x.space == Space::psum && x.bytes <= 2048) REQUIRE(x.address / 2048 == (x.address + x.bytes - 1) / 2048);
    for (size_t b = 0; b < a; ++b) {
      const VirtualTile& y = placed.tiles[b];
      if (!live[b].used() || x.space != y.space || x.core != y.core || !live[a].meets(live[b])) continue;
      const bool apart = x.address + x.bytes <= y.address || y.address + y.bytes <= x.address;
      REQUIRE(apart);
    }
  }
}

// `count` tiles of `bytes`, all read by the last instruction that touches the first one.
TileProgram alive_together(int count, int64_t bytes, Space space) {
  TileProgram p;
  p.program.sources.emplace_back("aten::everything");
  for (int pass = 0; pass < 2; ++pass)
    for (int t = 0; t < count; ++t) {
      if (pass == 0) p.tiles.push_back({space, 0, 128, bytes, 1});
      Access a{.space = space, .dtype = Dtype::float32, .ndim = 2};
      a.buffer = static_cast<uint32_t>(t);
      a.dims = {Dim{1, 128}, Dim{1, static_cast<int32_t>(bytes / 4)}};
      Memset::Args m;
      m.dst = a;
      Instruction i{.card = card_index<Memset>, .engine = Engine::vector};
      i.args = p.program.push_args(m);
      p.program.instructions.push_back(i);
    }
  return p;
}

}  // namespace

TEST_CASE("tiles that are alive together never overlap") {
  const Spec s = small_spec();
  for (uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const TileProgram tiles = RandomProgram(seed, 1 + seed % 2, 80).take();
    const TileProgram placed = allocate(tiles, s);
    check_apart(tiles, placed, s);
    if (seed % 8 == 0) CHECK(hbm(sequential(placed.program)) == hbm(sequential(tiles.program)));
  }
}

TEST_CASE("memory fills to the last line, and no further") {
  const Spec& s = trn2();
  const int64_t all = 224 * 1024 - 16 * 1024;
  const TileProgram full = alive_together(8, all / 8, Space::sbuf);
  check_apart(full, allocate(full, s), s);
  const TileProgram banks = alive_together(8, 2048, Space::psum);
  check_apart(banks, allocate(banks, s), s);
  CHECK_THROWS_AS(allocate(alive_together(9, all / 8, Space::sbuf), s), Error);
  try {
    allocate(alive_together(9, 4, Space::psum), s);
    FAIL("nine banks of eight");
  } catch (const Error& e) {
    CHECK(e.fault() == Fault::unsupported);
    CHECK_THAT(e.what(), Catch::Contains("exceed PSUM's 16384 bytes") &&
                             Catch::Contains("9 live tiles need 18432 bytes") && Catch::Contains("aten::everything"));
  }
}

TEST_CASE("a loop's tiles rotate through memory") {
  // Memory freed longest ago is taken first: consecutive short-lived tiles do not share an address while there is room.
  TileProgram p;
  for (uint32_t t = 0; t < 40; ++t) {
    const TileProgram one = alive_together(1, 4096, Space::sbuf);
    p.tiles.push_back(one.tiles[0]);
    Access a{.space = Space::sbuf, .dtype = Dtype::float32, .ndim = 2};
    a.buffer = t;
    a.dims = {Dim{1, 128}, Dim{1, 1024}};
    Memset::Args m;
    m.dst = a;
    Instruction i{.card = card_index<Memset>, .engine = Engine::vector};
    i.args = p.program.push_args(m);
    p.program.instructions.push_back(i);
  }
  const TileProgram placed = allocate(p, trn2());
  for (size_t t = 0; t < 40; ++t) CHECK(placed.tiles[t].address == static_cast<int64_t>(t * 4096));
}

TEST_CASE("misplaced tiles are found with both their lives") {
  const Spec& s = trn2();
  const TileProgram tiles = alive_together(4, 4096, Space::sbuf);
  const auto placed = [&](int64_t last, std::initializer_list<int64_t> others = {0, 4096, 8192}) {
    TileProgram p = tiles;
    size_t t = 0;
    for (const int64_t address : others) p.tiles[t++].address = address;
    p.tiles[3].address = last;
    return find_misplaced_tiles(p, s);
  };
  CHECK(placed(12288).empty());
  const Findings half = placed(10240);
  REQUIRE(half.size() == 1);
  CHECK(half[0].kind == RuleKind::overlap);
  CHECK_THAT(half[0].rule.in(tiles.program), Catch::Contains("share bytes 10240..12287"));
  CHECK_THAT(half[0].notes.at(0).in(tiles.program),
             Catch::Contains("tile 2 [128, 4096 bytes] of sbuf at 8192, alive from #2 to #6") &&
                 Catch::Contains("aten::everything"));
  CHECK(placed(4096, {4096, 4096, 8192}).size() == 3);
  CHECK(placed(0)[0].kind == RuleKind::overlap);
  for (const int64_t outside : {int64_t{225 * 1024}, int64_t{-4}, int64_t{222 * 1024}}) {
    const Findings found = placed(outside);
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].kind == RuleKind::capacity);
  }
  // Lives that only follow each other may share.
  TileProgram p = alive_together(2, 4096, Space::sbuf);
  std::swap(p.program.instructions[1], p.program.instructions[2]);
  p.tiles[0].address = p.tiles[1].address = 0;
  CHECK(find_misplaced_tiles(p, s).empty());
}

TEST_CASE("the allocator misplaces nothing") {
  const Spec s = small_spec();
  for (uint32_t seed = 0; seed < 100; ++seed) {
    TileProgram tiles = RandomProgram(seed, 1 + seed % 2, 80).take();
    tiles.tiles = allocate(tiles, s).tiles;
    CHECK(find_misplaced_tiles(tiles, s).empty());
  }
}
