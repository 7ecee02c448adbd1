#include "backend/compiler/tile_builder.h"

#include <catch2/catch.hpp>

#include "tests/compiler/symbolic.h"

using namespace trn;
using namespace trn::compiler;
using namespace trn::compiler::test;

namespace {

// Element offsets (bytes / size) in pattern order, of one partition.
std::vector<int64_t> walk(Access a) {
  if (a.on_chip()) a.dims[0].count = 1;
  std::vector<int64_t> out;
  int byte = 0;
  for_each_byte(a, 0, [&](uint64_t key) {
    if (byte++ % size_of(a.dtype) == 0) out.push_back(static_cast<int64_t>(key & 0xFFFFFFFF) / size_of(a.dtype));
  });
  return out;
}

Access hbm(uint32_t slot, int rows, int columns) {
  Access a{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
  a.buffer = slot;
  a.dims = {Dim{columns, rows}, Dim{1, columns}};
  return a;
}

}  // namespace

TEST_CASE("views of a tile") {
  TileBuilder t("views", trn2());
  const Tile x = t.sbuf(128, Dtype::float32, {2, 3, 4});
  CHECK(walk(x) ==
        std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  CHECK(walk(x.columns(1, 1)) == std::vector<int64_t>{12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  CHECK(walk(slice(x, 3, 1, 2, 2)) == std::vector<int64_t>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23});
  CHECK(walk(slice(slice(x, 1, 1, 1), 2, 2, 1)) == std::vector<int64_t>{20, 21, 22, 23});
  CHECK(walk(broadcast(slice(slice(x, 1, 0, 1), 2, 0, 1), 1, 2)) == std::vector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(walk(transposed(slice(x, 1, 0, 1), 2, 3)) == std::vector<int64_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  const Tile flat = t.sbuf(64, Dtype::float32, {6});
  CHECK(walk(transposed(split(flat, 1, 3), 1, 2)) == std::vector<int64_t>{0, 3, 1, 4, 2, 5});
  CHECK(walk(reinterpreted(flat.columns(1, 2), Dtype::bfloat16)) == std::vector<int64_t>{2, 3, 4, 5});
  CHECK(flat.rows(32, 16).partition == 32);
  CHECK(flat.rows(32, 16).partitions() == 16);
}

TEST_CASE("views of a tensor, and of what is not there") {
  const Access x = hbm(0, 4, 8);
  CHECK(walk(slice_hbm(slice_hbm(x, 0, 1, 2), 1, 3, 2)) == std::vector<int64_t>{11, 12, 19, 20});
  CHECK(walk(broadcast(slice(x, 1, 0, 1), 0, 2)) == std::vector<int64_t>{0, 8, 16, 24, 0, 8, 16, 24});
  CHECK(walk(slice(x, 0, 0, 2, 3)) == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31});
  CHECK_THROWS_WITH(slice(x, 1, 7, 2), Catch::Contains("reaches outside its dim"));
  CHECK_THROWS_WITH(slice(x, 2, 0, 1), Catch::Contains("not there"));
  CHECK_THROWS_WITH(split(x, 1, 3), Catch::Contains("does not split"));
  CHECK_THROWS_WITH(reinterpreted(slice(x, 1, 0, 3, 2), Dtype::bfloat16), Catch::Contains("innermost dim"));
}

TEST_CASE("loads, stores and the queues they use") {
  TileBuilder t("copies", trn2());
  t.slot({.name = "x", .bytes = 4 * 128 * 8, .shape = {}});
  const Tile x = t.sbuf(128, Dtype::float32, {8});
  t.load(x, hbm(0, 128, 8));
  t.store(hbm(0, 128, 8), x);
  const TileProgram p = std::move(t).finish();
  REQUIRE(p.program.instructions.size() == 2);
  CHECK(kQueues[p.program.instructions[0].queue].profiler == "qSyncDynamicHW");
  CHECK(p.program.instructions[0].engine == Engine::sync);
  CHECK(kQueues[p.program.instructions[1].queue].profiler == "qScalarDynamicHW");
  CHECK(p.program.instructions[1].engine == Engine::scalar);
  CHECK_THAT(listing(p), Catch::Contains("0 c0.sync dma_copy qSyncDynamicHW -> t0 sbuf float32"));
}

TEST_CASE("a tensor is loaded once until somebody stores to it") {
  TileBuilder t("once", trn2());
  for (const char* name : {"x", "y"}) t.slot({.name = name, .bytes = 4 * 128 * 8, .shape = {}});
  const auto load = [&](uint32_t slot, Dtype as) { return t.load_once(hbm(slot, 128, 8), 128, {8}, as).access.buffer; };
  const uint32_t first = load(0, Dtype::float32);
  CHECK(load(0, Dtype::float32) == first);
  CHECK(load(0, Dtype::bfloat16) != first);
  CHECK(load(1, Dtype::float32) != first);
  t.store(hbm(1, 128, 8), t.sbuf(128, Dtype::float32, {8}));
  CHECK(load(0, Dtype::float32) == first);
  t.store(hbm(0, 128, 8), t.sbuf(128, Dtype::float32, {8}));
  CHECK(load(0, Dtype::float32) != first);
  t.begin_part(1, 2);
  const uint32_t other_core = load(0, Dtype::float32);
  t.end_parts();
  CHECK(load(0, Dtype::float32) != other_core);
}

TEST_CASE("parts share a loop and stand side by side") {
  TileBuilder t("parts", trn2());
  t.slot({.name = "x", .bytes = 4 * 128 * 8, .shape = {}});
  const auto bounds = [&](int part, int64_t n, int64_t unit) {
    t.begin_part(part, 2);
    const auto r = t.share(n, unit);
    return std::pair(r.first, r.last);
  };
  CHECK(bounds(0, 5, 1) == std::pair<int64_t, int64_t>(0, 3));
  CHECK(bounds(1, 5, 1) == std::pair<int64_t, int64_t>(3, 5));
  CHECK(bounds(0, 300, 128) == std::pair<int64_t, int64_t>(0, 256));
  CHECK(bounds(1, 300, 128) == std::pair<int64_t, int64_t>(256, 300));
  CHECK(bounds(0, 100, 128) == std::pair<int64_t, int64_t>(0, 100));
  CHECK(bounds(1, 100, 128) == std::pair<int64_t, int64_t>(100, 100));
  for (int part = 0; part < 2; ++part) {
    t.begin_part(part, 2);
    for (int i = 0; i < 2 + 2 * part; ++i) t.load(t.sbuf(128, Dtype::float32, {8}), hbm(0, 128, 8));
  }
  t.end_parts();
  CHECK(t.share(7).count() == 7);
  const TileProgram p = std::move(t).finish();
  CHECK(p.program.cores == 2);
  std::string cores;
  for (const Instruction& i : p.program.instructions) cores += std::to_string(i.core);
  CHECK(cores == "011011");
}

TEST_CASE("equal constants are one slot") {
  TileBuilder t("constants", trn2());
  const std::array<float, 3> a{1, 2, 3}, b{1, 2, 4};
  const uint32_t first = t.constant("a", std::as_bytes(std::span(a)), Dtype::float32);
  CHECK(t.constant("a again", std::as_bytes(std::span(a)), Dtype::float32) == first);
  CHECK(t.constant("as bits", std::as_bytes(std::span(a)), Dtype::int32) != first);
  const uint32_t second = t.constant("b", std::as_bytes(std::span(b)), Dtype::float32);
  const Program p = std::move(t).finish().program;
  const Slot& s = p.slots[second];
  CHECK(s.use == SlotUse::constant);
  CHECK(s.bytes == 12);
  CHECK(std::memcmp(p.constants.data() + s.constant_offset, b.data(), 12) == 0);
}

TEST_CASE("an illegal instruction says where it comes from") {
  TileBuilder t("broken", trn2());
  t.source("aten::add");
  TensorCopy::Args a;
  a.dst = t.sbuf(128, Dtype::float32, {8});
  a.src = t.sbuf(64, Dtype::float32, {8});
  CHECK_THROWS_WITH(t.emit<TensorCopy>(Engine::vector, a), Catch::Contains("[tensor_copy of aten::add in broken]"));
  CHECK_THROWS_AS(t.emit<TensorCopy>(Engine::tensor, a), Error);
}

TEST_CASE("work goes to the engine that has least") {
  TileBuilder t("balance", trn2());
  const EngineSet among{Engine::vector, Engine::scalar};
  std::array<int, kEngines> used{};
  const Tile x = t.sbuf(128, Dtype::float32, {512}), y = t.sbuf(128, Dtype::float32, {512});
  for (int i = 0; i < 20; ++i) {
    const Engine e = t.least_loaded(among);
    TensorCopy::Args a;
    a.dst = y;
    a.src = x;
    t.emit<TensorCopy>(e, a);
    ++used[static_cast<int>(e)];
  }
  CHECK(used[static_cast<int>(Engine::vector)] > 5);
  CHECK(used[static_cast<int>(Engine::scalar)] > 5);
}
