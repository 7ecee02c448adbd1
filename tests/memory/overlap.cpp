#include "memory/overlap.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "memory/footprints.h"
#include "memory/written.h"

using namespace trn;

namespace {

// Every (partition, byte) that `a` touches, one by one.
std::set<std::pair<int, int64_t>> bytes(const Access& a) {
  std::set<std::pair<int, int64_t>> out;
  std::array<int32_t, Access::kMaxDims> at{};
  for (int64_t n = a.elements(); n > 0; --n) {
    int64_t offset = a.offset;
    int partition = a.on_chip() ? a.partition : 0;
    for (int i = 0; i < a.ndim; ++i) {
      if (i == 0 && a.on_chip())
        partition += at[0] * a.dims[0].step;
      else
        offset += int64_t{at[i]} * a.dims[i].step * size_of(a.dtype);
    }
    for (int b = 0; b < size_of(a.dtype); ++b) out.insert({partition, offset + b});
    for (int i = a.ndim; i-- > 0;) {
      if (++at[i] < a.dims[i].count) break;
      at[i] = 0;
    }
  }
  return out;
}

template <class Set>
bool meet(const Set& a, const Set& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& k) { return b.count(k) > 0; });
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
    const bool whole = touched.rbegin()->second - touched.begin()->second + 1 == static_cast<int64_t>(touched.size());
    if (is_dense(a)) REQUIRE(whole);
  }
}

TEST_CASE("byte runs are the bytes") {
  std::mt19937 random(3);
  std::vector<ByteRange> runs;
  for (int i = 0; i < 20000; ++i) {
    Access a = random_access(random, i % 2 ? Space::hbm : Space::sbuf);
    if (a.on_chip()) a.dims[0].count = 1;
    std::set<int64_t> expected, got;
    for (const auto& [partition, byte] : bytes(a)) expected.insert(byte);
    REQUIRE(byte_runs(a, runs));
    for (size_t r = 0; r < runs.size(); ++r) {
      REQUIRE(runs[r].begin < runs[r].end);
      if (r > 0) REQUIRE(runs[r - 1].end < runs[r].begin);
      for (int64_t b = runs[r].begin; b < runs[r].end; ++b) got.insert(b);
    }
    REQUIRE(got == expected);
  }
  CHECK_FALSE(byte_runs({.space = Space::hbm, .ndim = 1, .dims = {Dim{2, 1000}}}, runs, 999));
}

TEST_CASE("common bytes are exact") {
  std::mt19937 random(4);
  int met = 0;
  for (int i = 0; i < 20000; ++i) {
    const Space space = i % 2 ? Space::hbm : Space::sbuf;
    const Access a = random_access(random, space), b = random_access(random, space);
    const auto x = bytes(a), y = bytes(b);
    const auto common = common_bytes(a, b);
    REQUIRE(common.has_value() == meet(x, y));
    if (!common) continue;
    ++met;
    std::set<int64_t> shared;
    std::set<int> partitions;
    for (const auto& k : x)
      if (y.count(k)) {
        shared.insert(k.second);
        partitions.insert(k.first);
      }
    CHECK(common->bytes == static_cast<int64_t>(shared.size()));
    CHECK(common->first.begin == *shared.begin());
    CHECK(common->partitions.begin == *partitions.begin());
    CHECK(common->partitions.end == *partitions.rbegin() + 1);
  }
  CHECK(met > 3000);
}

TEST_CASE("written bytes are remembered one by one") {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Space space = round % 2 ? Space::hbm : Space::sbuf;
    WrittenBytes written;
    std::set<std::pair<int, int64_t>> expected;
    for (int n = 0; n < 20; ++n) {
      const Access a = random_access(random, space);
      const auto wanted = bytes(a);
      const auto missing = written.missing(a);
      std::set<std::pair<int, int64_t>> lacking;
      std::set_difference(wanted.begin(), wanted.end(), expected.begin(), expected.end(),
                          std::inserter(lacking, lacking.end()));
      REQUIRE(missing.has_value() == !lacking.empty());
      if (missing) {
        int64_t first = INT64_MAX;
        for (const auto& [partition, byte] : lacking) first = std::min(first, byte);
        CHECK(missing->first.begin == first);
      }
      if (n % 3 == 2) continue;
      written.add(a);
      expected.insert(wanted.begin(), wanted.end());
      REQUIRE_FALSE(written.missing(a).has_value());
    }
  }
}

TEST_CASE("footprints find each earlier use that still matters") {
  // Brute force: whoever touched a byte last, and whoever read it since, is found.
  std::mt19937 random(6);
  for (int round = 0; round < 100; ++round) {
    const Space space = round % 2 ? Space::hbm : Space::sbuf;
    std::vector<Access> uses;
    for (int n = 0; n < 40; ++n) uses.push_back(random_access(random, space));
    Footprints used;
    const auto memory = used.add(4096, 64);
    struct Byte {
      int writer = -1;
      std::set<int> readers;
    };
    std::map<std::pair<int, int64_t>, Byte> expected;
    for (int n = 0; n < 40; ++n) {
      const bool written = random() % 2;
      std::set<std::pair<int, bool>> found;
      used.touch(memory, uses[static_cast<size_t>(n)], written, static_cast<uint32_t>(n), false,
                 [&](uint32_t user, bool was_written) {
                   found.insert({static_cast<int>(user), was_written});
                 });
      for (const auto& key : bytes(uses[static_cast<size_t>(n)])) {
        Byte& b = expected[key];
        if (b.writer >= 0) REQUIRE(found.count({b.writer, true}));
        if (written) {
          for (const int reader : b.readers) REQUIRE(found.count({reader, false}));
          b = {n, {}};
        } else {
          b.readers.insert(n);
        }
      }
    }
  }
}

TEST_CASE("an operand meets itself where two of its elements share a byte") {
  std::mt19937 random(5);
  const auto any = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  int met = 0;
  for (int n = 0; n < 4000; ++n) {
    Access a{.space = n % 2 ? Space::sbuf : Space::hbm, .dtype = n % 3 ? Dtype::float32 : Dtype::uint8, .ndim = 4};
    a.offset = 4096;
    a.dims = {Dim{1, 2}, Dim{any(-12, 12), any(1, 4)}, Dim{any(-12, 12), any(1, 4)}, Dim{any(-12, 12), any(1, 4)}};
    if (a.space == Space::hbm) a.dims[0] = {any(-12, 12), any(1, 3)};
    const bool meets = static_cast<int64_t>(bytes(a).size()) < a.bytes();
    INFO(to_string(a));
    REQUIRE(overlaps_itself(a) == meets);
    met += meets;
  }
  CHECK(met > 400);
  CHECK(met < 3600);
}
