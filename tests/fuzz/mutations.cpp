// The short run: every parser's seeds, and the same mutations of them each time. `./dev fuzz` is the long run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "tests/fuzz/targets.h"

using namespace trn::test;

namespace {

constexpr int kRounds = 1500;  // of each parser

class Mutator {
 public:
  explicit Mutator(const FuzzTarget& t) : seeds_(t.seeds()), words_(t.words()) {}

  Bytes next() {
    Bytes b = seeds_[pick(seeds_.size())];
    for (size_t n = 1 + pick(4); n > 0; --n) mutate(b);
    return b;
  }
  const std::vector<Bytes>& seeds() const { return seeds_; }

 private:
  size_t pick(size_t n) { return n ? random_() % n : 0; }

  void mutate(Bytes& b) {
    const size_t at = pick(b.size()), length = pick(std::min<size_t>(b.size() - at, 64) + 1);
    const auto place = b.begin() + static_cast<ptrdiff_t>(at), end = place + static_cast<ptrdiff_t>(length);
    switch (pick(7)) {
      case 0:
        if (!b.empty()) b[at] ^= std::byte{1} << pick(8);
        return;
      case 1:
        if (!b.empty()) b[at] = static_cast<std::byte>(random_());
        return;
      case 2: b.erase(place, end); return;
      case 3: {
        const Bytes part(place, end);
        b.insert(b.begin() + static_cast<ptrdiff_t>(pick(b.size())), part.begin(), part.end());
        return;
      }
      case 4: b.resize(at); return;
      case 5: {
        const std::string& word = words_[pick(words_.size())];
        const auto* from = reinterpret_cast<const std::byte*>(word.data());
        if (pick(2)) b.erase(place, b.begin() + static_cast<ptrdiff_t>(std::min(b.size(), at + word.size())));
        b.insert(b.begin() + static_cast<ptrdiff_t>(at), from, from + word.size());
        return;
      }
      default: {
        const Bytes& other = seeds_[pick(seeds_.size())];
        b.resize(at);
        b.insert(b.end(), other.begin() + static_cast<ptrdiff_t>(pick(other.size())), other.end());
      }
    }
  }

  std::vector<Bytes> seeds_;
  std::vector<std::string> words_;
  std::mt19937 random_{1};
};

Bytes contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto* from = reinterpret_cast<const std::byte*>(text.data());
  return {from, from + text.size()};
}

}  // namespace

TEST_CASE("parsers take every seed and refuse or take its mutations, and nothing else") {
  for (const FuzzTarget& t : fuzz_targets()) {
    INFO(t.name);
    Mutator mutator(t);
    for (const Bytes& seed : mutator.seeds()) CHECK_NOTHROW(t.feed(seed));
    for (int i = 0; i < kRounds; ++i) {
      const Bytes b = mutator.next();
      INFO("mutation " << i);
      REQUIRE_NOTHROW(t.feed(b));
    }
  }
}

TEST_CASE("what fuzzers have found stays mended") {
  for (const FuzzTarget& t : fuzz_targets()) {
    const std::filesystem::path found = "tests/fuzz/found/" + std::string(t.name);
    if (!std::filesystem::exists(found)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(found)) {
      INFO(entry.path());
      CHECK_NOTHROW(t.feed(contents(entry.path())));
    }
  }
}
