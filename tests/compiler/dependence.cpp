#include "backend/compiler/dependence.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/compiler/symbolic.h"

using namespace trn;
using namespace trn::compiler;
using namespace trn::compiler::test;

namespace {

std::set<uint64_t> bytes(const Access& a) {
  std::set<uint64_t> out;
  for_each_byte(a, 0, [&](uint64_t key) { out.insert(key); });
  return out;
}

bool meet(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint64_t k) { return b.count(k) > 0; });
}

Access random_access(std::mt19937& random, Space space) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  Access a{
      .space = space, .dtype = below(2) ? Dtype::float32 : Dtype::bfloat16, .ndim = static_cast<uint8_t>(2 + below(3))};
  a.offset = 400 + below(60) * 2;
  for (int i = 0; i < a.ndim; ++i) {
    constexpr int steps[] = {1, 1, 2, 3, 4, 8, 16, 0, -1, -4};
    a.dims[i] = {steps[below(10)], 1 + below(4)};
  }
  if (space == Space::sbuf) {
    a.partition = static_cast<uint8_t>(below(4));
    a.dims[0] = {below(4) ? 1 : 0, 1 + below(4)};
  }
  return a;
}

}  // namespace

TEST_CASE("overlap is never missed, and rarely imagined") {
  std::mt19937 random(1);
  int apart = 0, imagined = 0;
  for (int i = 0; i < 20000; ++i) {
    const Space space = i % 2 ? Space::hbm : Space::sbuf;
    const Access a = random_access(random, space), b = random_access(random, space);
    const bool met = meet(bytes(a), bytes(b));
    if (met) REQUIRE(overlaps(a, b));
    CHECK(overlaps(a, b) == overlaps(b, a));
    apart += !met;
    imagined += !met && overlaps(a, b);
  }
  INFO(imagined << " of " << apart);
  CHECK(apart > 3000);
  CHECK(imagined * 5 < apart);
}

TEST_CASE("tiles of one tensor do not overlap") {
  // What kernels make: row and column blocks, halves, even and odd elements, heads of [batch, sequence, head, dim].
  const auto tile = [](int64_t offset, std::initializer_list<Dim> dims) {
    Access a{.space = Space::hbm, .dtype = Dtype::bfloat16, .ndim = static_cast<uint8_t>(dims.size())};
    a.offset = offset * 2;
    std::copy(dims.begin(), dims.end(), a.dims.begin());
    return a;
  };
  CHECK_FALSE(overlaps(tile(0, {{4096, 128}, {1, 512}}), tile(512, {{4096, 128}, {1, 512}})));
  CHECK_FALSE(overlaps(tile(0, {{4096, 128}, {1, 512}}), tile(4096 * 128, {{4096, 128}, {1, 512}})));
  CHECK(overlaps(tile(0, {{4096, 128}, {1, 513}}), tile(512, {{4096, 128}, {1, 512}})));
  CHECK_FALSE(overlaps(tile(0, {{64, 8}, {2, 32}}), tile(1, {{64, 8}, {2, 32}})));
  CHECK_FALSE(overlaps(tile(0, {{768, 64}, {1, 64}}), tile(64, {{768, 64}, {1, 64}})));
  CHECK_FALSE(overlaps(tile(64, {{64 * 768, 2}, {768, 64}, {1, 64}}), tile(128, {{64 * 768, 2}, {768, 64}, {1, 64}})));
  CHECK(overlaps(tile(0, {{768, 64}, {1, 64}}), tile(0, {{1, 4}})));
  CHECK_FALSE(overlaps(tile(0, {{768, 64}, {1, 64}}), tile(64, {{1, 704}})));
}

TEST_CASE("dense patterns have no holes") {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const Access a = random_access(random, Space::hbm);
    const auto touched = bytes(a);
    const bool whole =
        static_cast<int64_t>(*touched.rbegin() - *touched.begin() + 1) == static_cast<int64_t>(touched.size());
    if (is_dense(a)) REQUIRE(whole);
  }
}

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
