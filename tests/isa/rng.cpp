#include "isa/rng.h"

#include <catch2/catch.hpp>
#include <set>

#include "isa/dropout.h"
#include "isa/rand2.h"
#include "isa/rand_get_state.h"
#include "isa/rand_set_state.h"
#include "isa/set_rng_seed.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

// Marsaglia, Xorshift RNGs (2003), section 3.1, written as in the paper.
struct Paper {
  uint32_t x, y, z, w, v, d;
  uint32_t operator()() {
    const uint32_t t = (x ^ (x >> 2));
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    return (d += 362437) + v;
  }
};

const Access kWords = example::sbuf(128, 600, Dtype::uint32, 4096);

}  // namespace

TEST_CASE("GpSimd's rng is xorwow from the state that rand_set_state gives") {
  using namespace example;
  Machine m;
  const Access seeds = sbuf(128, 6, Dtype::uint32), state = sbuf(128, 6, Dtype::uint32, 64);
  m.fill(seeds, [](int64_t i) { return 1000 + i * 77; });
  REQUIRE_FALSE(RandSetState::check({seeds}, Engine::gpsimd, trn2()));
  RandSetState::run({seeds}, Engine::gpsimd, m.memory());
  Rng::run({kWords}, Engine::gpsimd, m.memory());
  RandGetState::run({state}, Engine::gpsimd, m.memory());
  for (int p = 0; p < 128; ++p) {
    const auto word = [&](int i) { return static_cast<uint32_t>(1000 + (p * 6 + i) * 77); };
    Paper paper{word(0), word(1), word(2), word(3), word(4), word(5)};
    for (int i = 0; i < 600; ++i) REQUIRE(m.get(kWords, p * 600 + i) == paper());
    const uint32_t after[] = {paper.x, paper.y, paper.z, paper.w, paper.v, paper.d};
    for (int i = 0; i < 6; ++i) CHECK(m.get(state, p * 6 + i) == after[i]);
  }
}

TEST_CASE("xorwow from the paper's own seed") {
  Xorwow g{{123456789, 362436069, 521288629, 88675123, 5783321, 6615241}};
  Paper paper{123456789, 362436069, 521288629, 88675123, 5783321, 6615241};
  for (int i = 0; i < 1000; ++i) REQUIRE(g.next() == paper());
}

TEST_CASE("Vector's stand-in steps its register bit by bit") {
  ShiftRegister g{0xDEADBEEF};
  uint32_t s = 0xDEADBEEF;
  for (int i = 0; i < 100; ++i) {
    for (int bit = 0; bit < 32; ++bit) s = s & 1 ? (s >> 1) ^ 0x80200003u : s >> 1;
    REQUIRE(g.next() == s);
  }
}

TEST_CASE("a seed repeats Vector's words, and partitions differ") {
  using namespace example;
  Machine m;
  const Access seed = sbuf(1, 1, Dtype::uint32), again = sbuf(128, 600, Dtype::uint32, 8192);
  m.set(seed, 0, 42);
  SetRngSeed::run({seed}, m.memory());
  Rng::run({kWords}, Engine::vector, m.memory());
  SetRngSeed::run({seed}, m.memory());
  Rng::run({again}, Engine::vector, m.memory());
  std::set<double> first;
  for (int64_t i = 0; i < kWords.elements(); ++i) REQUIRE(m.get(kWords, i) == m.get(again, i));
  for (int p = 0; p < 128; ++p) first.insert(m.get(kWords, p * 600));
  CHECK(first.size() == 128);
}

TEST_CASE("random words are uniform, and narrow integers take their low bits") {
  using namespace example;
  for (const Engine e : {Engine::vector, Engine::gpsimd}) {
    Machine m;
    Rng::run({kWords}, e, m.memory());
    double sum = 0, square = 0;
    const auto n = static_cast<double>(kWords.elements());
    for (int64_t i = 0; i < kWords.elements(); ++i) {
      const double u = m.get(kWords, i) / 4294967296.0 - 0.5;
      sum += u;
      square += u * u;
    }
    CHECK(std::fabs(sum / n) < 5 * std::sqrt(1 / 12.0 / n));
    CHECK(square / n == Approx(1 / 12.0).epsilon(0.02));
    m.engines = EngineState();
    const Access bytes = sbuf(128, 600, Dtype::uint8, 16384);
    Rng::run({bytes}, e, m.memory());
    for (int64_t i = 0; i < 128 * 600; ++i)
      REQUIRE(m.get(bytes, i) == static_cast<double>(static_cast<uint32_t>(m.get(kWords, i)) & 255));
  }
}

TEST_CASE("states belong to their engines and generations") {
  using namespace example;
  const Access six = sbuf(128, 6, Dtype::uint32), four_sixes = sbuf(128, 24, Dtype::uint32);
  CHECK(RandGetState::check({four_sixes}, Engine::vector, trn2()));
  CHECK_FALSE(RandGetState::check({four_sixes}, Engine::vector, trn3()));
  CHECK(RandGetState::check({six}, Engine::vector, trn3()));
  CHECK(RandGetState::check({psum(128, 6, Dtype::uint32)}, Engine::gpsimd, trn3()));
  CHECK_FALSE(RandGetState::check({psum(128, 24, Dtype::uint32)}, Engine::vector, trn3()));
  CHECK(RandSetState::check({sbuf(128, 6, Dtype::int32)}, Engine::gpsimd, trn2())->rule.find("must be uint32") !=
        std::string::npos);
  CHECK(Rng::check({kWords}, Engine::gpsimd, trn1()));
  CHECK_FALSE(Rng::check({kWords}, Engine::vector, trn1()));
}

TEST_CASE("dropout keeps bits and drops the asked share") {
  using namespace example;
  Machine m;
  const Access x = sbuf(128, 600, Dtype::bfloat16), out = sbuf(128, 600, Dtype::bfloat16, 4096),
               chance = sbuf(128, 1, Dtype::float32, 8192);
  m.fill(x, [](int64_t i) { return i % 100 + 1; });
  m.fill(chance, [](int64_t p) { return p == 0 ? 0 : p == 1 ? 1 : 0.25; });
  Dropout::run({out, x, {chance}}, m.memory());
  int dropped = 0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    const double v = m.get(out, i);
    REQUIRE((v == 0 || v == m.get(x, i)));
    if (i < 600) REQUIRE(v != 0);
    if (i >= 600 && i < 1200) REQUIRE(v == 0);
    if (i >= 1200) dropped += v == 0;
  }
  const double n = 126 * 600;
  CHECK(std::fabs(dropped - n / 4) < 5 * std::sqrt(n * 0.25 * 0.75));
}

TEST_CASE("rand2 draws four states in turn and stays in its bounds") {
  using namespace example;
  Machine m;
  m.engines = EngineState(Generation::trn3);
  const Access seeds = sbuf(128, 24, Dtype::uint32), out = sbuf(128, 500, Dtype::float32, 4096);
  m.fill(seeds, [](int64_t i) { return 5 + i * 12345; });
  RandSetState::run({seeds}, Engine::vector, m.memory());
  Rand2::run({out, number(-2), number(6)}, m.memory());
  for (int p = 0; p < 128; p += 17) {
    std::vector<Paper> papers;
    for (int g = 0; g < 4; ++g) {
      const auto word = [&](int i) { return static_cast<uint32_t>(5 + (p * 24 + g * 6 + i) * 12345); };
      papers.push_back({word(0), word(1), word(2), word(3), word(4), word(5)});
    }
    for (int i = 0; i < 500; ++i) {
      const double u = (papers[static_cast<size_t>(i % 4)]() >> 8) / 16777216.0;
      REQUIRE(m.get(out, p * 500 + i) == Approx(-2 + 8 * u).margin(1e-6));
    }
  }
}

}  // namespace trn::test
