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

TEST_CASE("an indirect DMA may reach any row of its table") {
  TileProgram p;
  p.program.slots = {{.name = "table", .use = SlotUse::inout, .bytes = 1 << 20, .shape = {}}};
  p.tiles = {{Space::sbuf, 0, 128, 256}, {Space::sbuf, 0, 128, 4}};
  const auto rows = [](int64_t first) {
    Access a{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
    a.offset = first * 256;
    a.dims = {Dim{64, 128}, Dim{1, 64}};
    return a;
  };
  Access data{.space = Space::sbuf, .dtype = Dtype::float32, .ndim = 2},
      index{.space = Space::sbuf, .dtype = Dtype::int32, .ndim = 2};
  data.dims = {Dim{1, 128}, Dim{1, 64}};
  index.buffer = 1;
  index.dims = {Dim{1, 128}, Dim{1, 1}};
  const auto emit = [&](const Access& dst, const Access& src, bool indirect) {
    DmaCopy::Args a;
    a.dst = dst;
    a.src = src;
    if (indirect) a.index = index;
    Instruction i{.card = card_index<DmaCopy>, .engine = Engine::gpsimd};
    i.queue = 2;
    i.args = p.program.push_args(a);
    p.program.instructions.push_back(i);
  };
  emit(rows(2048), data, false);
  emit(data, rows(0), true);
  emit(rows(1024), data, false);
  Dependences d(p, trn2());
  CHECK(d.next().empty());
  const auto reads = d.next();
  CHECK(std::any_of(reads.begin(), reads.end(),
                    [](const auto& e) { return e.producer == 0 && e.hazard == Hazard::read_after_write; }));
  const auto writes = d.next();
  CHECK(std::any_of(writes.begin(), writes.end(),
                    [](const auto& e) { return e.producer == 1 && e.hazard == Hazard::write_after_read; }));
}
