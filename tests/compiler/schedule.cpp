#include <catch2/catch.hpp>

#include "backend/compiler/live_ranges.h"
#include "backend/compiler/tile_builder.h"
#include "sim/simulate.h"
#include "tests/compiler/symbolic.h"

using namespace trn;
using namespace trn::compiler;
using namespace trn::compiler::test;

namespace {

// Load, two activations, store, tile after tile in the order that a simple kernel writes them: Scalar's stores hold up
// its next activation.
TileProgram pointwise(int tiles) {
  TileBuilder t("pointwise", trn2());
  const int64_t bytes = int64_t{tiles} * 128 * 512 * 4;
  t.slot({.name = "x", .use = SlotUse::input, .bytes = bytes, .shape = {}});
  t.slot({.name = "y", .use = SlotUse::output, .bytes = bytes, .shape = {}});
  for (int i = 0; i < tiles; ++i) {
    Access hbm{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
    hbm.offset = int64_t{i} * 128 * 512 * 4;
    hbm.dims = {Dim{512, 128}, Dim{1, 512}};
    const Tile x = t.sbuf(128, Dtype::float32, {512}), y = t.sbuf(128, Dtype::float32, {512});
    t.load(x, hbm);
    Activate::Args a;
    a.dst = y;
    a.op = Activation::exp;
    a.data = x;
    t.emit<Activate>(Engine::scalar, a);
    hbm.buffer = 1;
    t.store(hbm, y);
  }
  return std::move(t).finish();
}

// Vector and Scalar take turns on each block of columns, block after block: as written, each waits for the other's
// latency.
TileProgram ping_pong(int blocks) {
  TileBuilder t("ping_pong", trn2());
  const int columns = blocks * 128;
  t.slot({.name = "x", .use = SlotUse::input, .bytes = int64_t{columns} * 512, .shape = {}});
  t.slot({.name = "y", .use = SlotUse::output, .bytes = int64_t{columns} * 512, .shape = {}});
  Access hbm{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
  hbm.dims = {Dim{columns, 128}, Dim{1, columns}};
  const Tile x = t.sbuf(128, Dtype::float32, {columns}), y = t.sbuf(128, Dtype::float32, {columns});
  t.load(x, hbm);
  for (int b = 0; b < blocks; ++b) {
    Access in = x.columns(b * 128, 128);
    for (int turn = 0; turn < 2; ++turn) {
      const Tile sum = t.sbuf(128, Dtype::float32, {128}), out = t.sbuf(128, Dtype::float32, {128});
      TensorTensor::Args add;
      add.dst = sum;
      add.data1 = add.data2 = in;
      t.emit<TensorTensor>(Engine::vector, add);
      Activate::Args exp;
      exp.dst = turn ? y.columns(b * 128, 128) : out;
      exp.op = Activation::exp;
      exp.data = sum;
      t.emit<Activate>(Engine::scalar, exp);
      in = out;
    }
  }
  hbm.buffer = 1;
  t.store(hbm, y);
  return std::move(t).finish();
}

int64_t most_alive(const TileProgram& p, Space space, const Spec& s) {
  const auto live = live_ranges(p);
  int64_t most = 0;
  for (uint32_t i = 0; i < p.program.instructions.size(); ++i) {
    int64_t now = 0;
    for (size_t t = 0; t < live.size(); ++t)
      if (p.tiles[t].space == space && live[t].first <= i && i <= live[t].last) now += footprint(p.tiles[t], s);
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

TEST_CASE("a schedule keeps every result") {
  const Spec s = small_spec();
  int moved = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const TileProgram before = RandomProgram(seed, 1, 120).take();
    const TileProgram after = schedule(before, s);
    const auto expected = hbm(sequential(before.program));
    CHECK(hbm(sequential(after.program)) == expected);
    for (size_t i = 0; i < before.program.instructions.size(); ++i)
      moved += before.program.instructions[i].args != after.program.instructions[i].args;
    std::mt19937 random(seed);
    CHECK(hbm(interleaved(synchronise(allocate(after, s), s), random)) == expected);
  }
  CHECK(moved > 100);
}

TEST_CASE("a schedule needs no more memory than there is") {
  for (const int64_t kib : {10, 16, 24}) {
    Spec s = small_spec();
    s.sbuf_partition_bytes.value = static_cast<double>(kib * 1024);
    const TileProgram before = pointwise(40);
    const TileProgram after = schedule(before, s);
    CHECK(most_alive(after, Space::sbuf, s) <= kib * 1024);
    CHECK_NOTHROW(allocate(after, s));
  }
}

TEST_CASE("independent work fills the time that an engine would wait for another") {
  const Spec& s = trn2();
  const TileProgram before = ping_pong(32);
  const TileProgram after = schedule(before, s);
  const Tick fixed = simulate(synchronise(allocate(ping_pong(1), s), s), s).makespan;
  const Tick as_written = simulate(synchronise(allocate(before, s), s), s).makespan - fixed;
  const Tick scheduled = simulate(synchronise(allocate(after, s), s), s).makespan - fixed;
  CHECK(scheduled < as_written * 7 / 10);  // both contain the same long load and store
}

TEST_CASE("no order is worse than the one that was written") {
  const TileProgram before = pointwise(32);
  const TileProgram after = schedule(before, trn2());
  const Tick as_written = simulate(synchronise(allocate(before, trn2()), trn2()), trn2()).makespan;
  CHECK(simulate(synchronise(allocate(after, trn2()), trn2()), trn2()).makespan <= as_written);
}
