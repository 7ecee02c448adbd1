#include <catch2/catch.hpp>

#include "sim/hazards.h"
#include "tests/compiler/symbolic.h"

using namespace trn;
using namespace trn::compiler;
using namespace trn::compiler::test;

TEST_CASE("any run that the semaphores allow gives the bytes of the sequential one") {
  const Spec s = small_spec();
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const TileProgram tiles = RandomProgram(seed, 1 + seed % 2, 60).take();
    const Program p = synchronise(allocate(tiles, s), s);
    const auto expected = hbm(sequential(tiles.program));
    CHECK(hbm(sequential(p)) == expected);
    std::mt19937 random(seed);
    for (int run = 0; run < 3; ++run) {
      INFO("seed " << seed << " run " << run);
      REQUIRE(hbm(interleaved(p, random)) == expected);
    }
  }
}

TEST_CASE("every conflict is ordered, and hardly a wait can be left out") {
  const Spec s = small_spec();
  int waits = 0, needed = 0;
  for (uint32_t seed = 100; seed < 116; ++seed) {
    Program p = synchronise(allocate(RandomProgram(seed, 1 + seed % 2, 50).take(), s), s);
    INFO("seed " << seed);
    REQUIRE(unordered_conflicts(p) == 0);
    for (Wait& w : p.waits) {
      const Wait kept = std::exchange(w, Wait{0, 0});
      ++waits;
      needed += unordered_conflicts(p) > 0;
      w = kept;
    }
  }
  INFO(needed << " of " << waits << " waits are needed");
  CHECK(waits > 200);
  CHECK(needed > waits * 95 / 100);
}

TEST_CASE("a wait that is taken out is a race that strict mode finds where brute force does") {
  const Spec s = small_spec();
  const auto races = [&](const Program& p) {
    const Findings all = find_hazards_of_legal(p, s, 1000);
    return std::any_of(all.begin(), all.end(), [](const Finding& f) { return f.kind == RuleKind::race; });
  };
  int found = 0;
  for (uint32_t seed = 200; seed < 212; ++seed) {
    Program p = synchronise(allocate(RandomProgram(seed, 1 + seed % 2, 50).take(), s), s);
    INFO("seed " << seed);
    REQUIRE_FALSE(races(p));
    for (Wait& w : p.waits) {
      const Wait kept = std::exchange(w, Wait{w.semaphore, w.value - 1});
      const bool is_race = unordered_conflicts(p) > 0;
      REQUIRE(races(p) == is_race);
      found += is_race;
      w = kept;
    }
  }
  CHECK(found > 250);
}
