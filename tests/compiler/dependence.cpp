#include "backend/compiler/dependence.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/compiler/symbolic.h"

using namespace trn;
using namespace trn::compiler;
using namespace trn::compiler::test;

namespace {

bool meet(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint64_t k) { return b.count(k) > 0; });
}

}  // namespace

TEST_CASE("edges imply every conflict") {
  // Brute force: whatever two instructions conflict, a path of edges leads from the earlier to the later one.
  for (uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const TileProgram p = RandomProgram(seed, 1 + seed % 2, 60).take();
    const size_t n = p.program.instructions.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
    Dependences dependences(p, trn2());
    for (size_t j = 0; j < n; ++j)
      for (const Dependences::Edge& e : dependences.next()) {
        REQUIRE(e.producer < j);
        before[j][e.producer] = true;
        for (size_t i = 0; i < e.producer; ++i)
          if (before[e.producer][i]) before[j][i] = true;
      }
    std::vector<std::array<std::set<uint64_t>, 2>> touched(n);
    for (size_t i = 0; i < n; ++i) {
      const AccessList list = accesses(p.program, p.program.instructions[i]);
      for (int k = 0; k < list.count; ++k)
        for_each_byte(*list.access[k], p.program.instructions[i].core,
                      [&](uint64_t key) { touched[i][list.written[k]].insert(key); });
    }
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < j; ++i)
        if (meet(touched[i][1], touched[j][0]) || meet(touched[i][1], touched[j][1]) ||
            meet(touched[i][0], touched[j][1]))
          REQUIRE(before[j][i]);
  }
}

namespace {

// A table of 4096 rows of 64 floats and a result of as many, an index and data on chip.
class Gathers {
 public:
  Gathers() {
    for (const char* name : {"table", "result"})
      p.program.slots.push_back({.name = name, .use = SlotUse::inout, .bytes = 1 << 20, .shape = {}});
    p.tiles = {{Space::sbuf, 0, 128, 256}, {Space::sbuf, 0, 128, 4}};
    data = {.space = Space::sbuf, .dtype = Dtype::float32, .ndim = 2};
    data.dims = {Dim{1, 128}, Dim{1, 64}};
  }
  static Access rows(uint32_t slot, int64_t first) {
    Access a{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2, .buffer = slot};
    a.offset = first * 256;
    a.dims = {Dim{64, 128}, Dim{1, 64}};
    return a;
  }
  void copy(const Access& dst, const Access& src) { emit({.dst = dst, .src = src}); }
  void gather(const Access& dst, const Access& table) { emit({.dst = dst, .src = table, .index = index()}); }

  TileProgram p;
  Access data;

 private:
  static Access index() {
    Access a{.space = Space::sbuf, .dtype = Dtype::int32, .ndim = 2, .buffer = 1};
    a.dims = {Dim{1, 128}, Dim{1, 1}};
    return a;
  }
  void emit(const DmaCopy::Args& a) {
    Instruction i{.card = card_index<DmaCopy>, .engine = Engine::gpsimd};
    i.queue = 2;
    i.args = p.program.push_args(a);
    p.program.instructions.push_back(i);
  }
};

bool has(const std::vector<Dependences::Edge>& edges, uint32_t producer, Hazard hazard) {
  return std::any_of(edges.begin(), edges.end(),
                     [&](const auto& e) { return e.producer == producer && e.hazard == hazard; });
}

}  // namespace

TEST_CASE("an indirect DMA may reach any row of its table") {
  Gathers r;
  r.copy(r.rows(0, 2048), r.data);
  r.gather(r.data, r.rows(0, 0));
  r.copy(r.rows(0, 1024), r.data);
  Dependences d(r.p, trn2());
  CHECK(d.next().empty());
  CHECK(has(d.next(), 0, Hazard::read_after_write));
  CHECK(has(d.next(), 1, Hazard::write_after_read));
}

TEST_CASE("gathers from one table wait for one another's issue, and for nothing of their results") {
  Gathers r;
  for (int64_t first = 0; first < 1024; first += 128) r.copy(r.rows(0, first), r.data);
  for (int64_t first = 0; first < 4096; first += 128) r.gather(r.rows(1, first), r.rows(0, 0));
  r.copy(r.rows(0, 3000), r.data);
  r.gather(r.rows(1, 0), r.rows(0, 0));
  Dependences d(r.p, trn2());
  for (int i = 0; i < 8; ++i) d.next();
  const auto first = d.next();
  for (uint32_t writer = 0; writer < 8; ++writer) CHECK(has(first, writer, Hazard::read_after_write));
  for (uint32_t i = 9; i < 40; ++i) {
    const auto edges = d.next();
    REQUIRE(edges.size() == 1);
    CHECK((edges[0].producer == i - 1 && edges[0].hazard == Hazard::engine_order));
  }
  CHECK(has(d.next(), 39, Hazard::write_after_read));
  const auto again = d.next();
  CHECK(has(again, 40, Hazard::read_after_write));
  CHECK(has(again, 8, Hazard::write_after_write));
}
