// Random Programs: what find_races() says against every run that there is, and the bytes of legal ones under random
// schedules. TRN_TEST_SEEDS=FIRST-LAST chooses the seeds, so that machines can share a long search.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "isa/assembly.h"
#include "sim/hazards.h"
#include "tests/sim/interleave.h"
#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;

namespace {

struct Seeds {
  uint32_t first, last;
};
Seeds seeds(uint32_t count) {
  Seeds s{0, count};
  if (const char* text = std::getenv("TRN_TEST_SEEDS")) std::sscanf(text, "%u-%u", &s.first, &s.last);
  return s;
}

// Tiles of a few columns in 256 bytes of SBUF and PSUM and 256 bytes of two HBM buffers; semaphores are posted and
// waited for at random, as far as the sequence itself can run.
class RandomProgram {
 public:
  RandomProgram(uint32_t seed, int length) : random_(seed) {
    p_.name = "random " + std::to_string(seed);
    p_.cores = static_cast<uint8_t>(1 + below(2));
    p_.slots = {{.name = "x", .use = SlotUse::inout, .bytes = kSlotBytes, .shape = {}},
                {.name = "y", .use = SlotUse::inout, .bytes = kSlotBytes, .shape = {}}};
    shared_ = below(3) == 0;
    for (int i = 0; i < length; ++i) step();
  }
  static constexpr int64_t kSlotBytes = 256;
  Program take() { return std::move(p_); }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Access tile(Space space, int columns) {
    Access a{.space = space, .dtype = Dtype::float32, .ndim = 2};
    const int step = below(4) ? 1 : 2;
    a.offset = 4 * below(12);
    a.dims = {Dim{1, 2}, Dim{step, columns}};
    return a;
  }
  Access memory(int columns) {
    Access a{.space = Space::hbm, .dtype = Dtype::float32, .ndim = 2};
    a.buffer = static_cast<uint32_t>(below(2));
    a.offset = 4 * below(8);
    a.dims = {Dim{below(2) ? 8 : 16, 2}, Dim{1, columns}};
    return a;
  }
  template <class C>
  void emit(Engine e, const typename C::Args& args, uint8_t queue = 0) {
    Instruction i{.card = card_index<C>, .engine = e, .core = static_cast<uint8_t>(below(p_.cores))};
    i.queue = queue;
    i.args = p_.push_args(args);
    i.first_wait = static_cast<uint32_t>(p_.waits.size());
    for (int n = below(3); n > 0; --n) {
      const auto s = static_cast<uint16_t>(below(kSemaphores));
      if (posted_[s] == 0) continue;
      p_.waits.push_back({s, static_cast<uint32_t>(1 + below(static_cast<int>(posted_[s])))});
      if (below(2)) p_.waits.back().value = posted_[s];
      ++i.waits;
    }
    if (below(8)) {
      // Queue 1 is fed by two engines, which complete in no order.
      const int stream = !C::is_dma ? static_cast<int>(e) : queue == 1 && e == Engine::gpsimd ? 4 : 5 + queue;
      i.update = static_cast<uint16_t>(shared_ ? below(3) : i.core * 8 + stream);
      ++posted_[i.update];
    }
    p_.instructions.push_back(i);
  }
  void step() {
    const int columns = 1 + below(4);
    constexpr Engine kEngineOf[] = {Engine::vector, Engine::scalar, Engine::gpsimd};
    switch (below(7)) {
      case 0: {
        NcMatmul::Args a;
        a.dst = tile(Space::psum, columns);
        a.stationary = tile(Space::sbuf, 2);
        a.moving = tile(Space::sbuf, columns);
        a.accumulate = below(2);
        return emit<NcMatmul>(Engine::tensor, a);
      }
      case 1: {
        TensorTensor::Args a;
        a.dst = tile(Space::sbuf, columns);
        a.data1 = tile(Space::sbuf, columns);
        a.data2 = tile(Space::sbuf, columns);
        a.op = AluOp::subtract;
        return emit<TensorTensor>(below(2) ? Engine::vector : Engine::gpsimd, a);
      }
      case 2:
      case 3: {
        const Engine e = kEngineOf[below(3)];
        const bool psum = e != Engine::gpsimd && below(2);
        return emit<TensorCopy>(e, copy(tile(Space::sbuf, columns), tile(psum ? Space::psum : Space::sbuf, columns)));
      }
      case 4: return emit<DmaCopy>(Engine::sync, dma(tile(Space::sbuf, columns), memory(columns)), 0);
      case 5: return emit<DmaCopy>(Engine::scalar, dma(memory(columns), tile(Space::sbuf, columns)), 1);
      default: return emit<DmaCopy>(Engine::gpsimd, dma(memory(columns), memory(columns)), below(2) ? 1 : 2);
    }
  }

  static constexpr int kSemaphores = 16;
  std::mt19937 random_;
  Program p_;
  bool shared_;
  std::array<uint32_t, kSemaphores> posted_{};
};

// Adds the wait that is missing. False where others can raise the semaphore in the poster's stead.
bool repair(Program& p, const Finding& race) {
  Instruction& before = p.instructions[race.other];
  Instruction& after = p.instructions[race.instruction];
  Streams streams(p);
  uint32_t value = 0;
  const auto posts = streams.posts(before.update);
  const bool alone = std::all_of(posts.begin(), posts.end(), [&](uint32_t i) {
    return streams.of(i).completer == streams.of(race.other).completer;
  });
  if (before.update != Instruction::kNoUpdate && alone) {
    value = static_cast<uint32_t>(std::find(posts.begin(), posts.end(), race.other) - posts.begin()) + 1;
  } else if (before.update != Instruction::kNoUpdate) {
    value = static_cast<uint32_t>(posts.size());  // all of them, whoever they are, if they come before
    if (posts.back() >= race.instruction) return false;
  } else {
    before.update = static_cast<uint16_t>(32 + race.other);
    value = 1;
  }
  std::vector<Wait> waits(p.waits_of(after).begin(), p.waits_of(after).end());
  waits.push_back({before.update, value});
  after.first_wait = static_cast<uint32_t>(p.waits.size());
  after.waits = static_cast<uint8_t>(waits.size());
  p.waits.insert(p.waits.end(), waits.begin(), waits.end());
  return true;
}

Findings races(const Program& p, size_t most = 1000) {
  const Streams streams(p);
  Order order(p, streams);
  return find_races(p, order, trn2(), most);
}

// A Program without races made of a random one; false if repairs do not end.
bool make_legal(Program& p) {
  for (int round = 0; round < 20; ++round) {
    const Findings found = races(p);
    if (found.empty()) return true;
    bool repaired = false;
    for (const Finding& f : found) repaired = repair(p, f) || repaired;
    if (!repaired) return false;
  }
  return false;
}

class Machine {
 public:
  Machine() {
    for (size_t c = 0; c < 2; ++c) memories_[c] = {&cores_[c].sbuf, &cores_[c].psum, slots_};
  }
  const CoreMemory* memories() const { return memories_.data(); }
  void reset() {
    float value = 1;
    each([&](std::byte* at) { std::memcpy(at, &(value += 1), 4); });
  }
  std::vector<std::byte> bytes() {
    std::vector<std::byte> out;
    each([&](std::byte* at) { out.insert(out.end(), at, at + 4); });
    return out;
  }

 private:
  template <class Visit>
  void each(Visit&& visit) {
    for (CoreState& core : cores_)
      for (const PartitionedMemory* m : {&core.sbuf, &core.psum})
        for (int partition = 0; partition < 2; ++partition)
          for (int64_t at = 0; at < 256; at += 4) visit(m->at(partition, at));
    for (auto& slot : hbm_)
      for (size_t at = 0; at < slot.size(); at += 4) visit(&slot[at]);
  }
  std::array<CoreState, 2> cores_{CoreState(trn2()), CoreState(trn2())};
  std::array<std::array<std::byte, RandomProgram::kSlotBytes>, 2> hbm_{};
  std::array<std::span<std::byte>, 2> slots_{hbm_[0], hbm_[1]};
  std::array<CoreMemory, 2> memories_;
};

}  // namespace

TEST_CASE("races are those of all runs, no more and no less") {
  const Seeds s = seeds(600);
  int racy = 0, clean = 0;
  for (uint32_t seed = s.first; seed < s.last; ++seed) {
    Program p = RandomProgram(seed, 5 + static_cast<int>(seed % 4)).take();
    for (int repairs = 0; repairs < 12; ++repairs) {
      const auto expected = races_of_all_runs(p);
      const Findings found = races(p);
      INFO(to_assembly(p));
      std::set<std::pair<uint32_t, uint32_t>> got;
      for (const Finding& f : found) {
        INFO(explain(f, p));
        REQUIRE(expected.count({f.other, f.instruction}));
        got.insert({f.other, f.instruction});
      }
      REQUIRE(found.empty() == expected.empty());
      found.empty() ? ++clean : ++racy;
      if (found.empty() || !repair(p, found[0])) break;
    }
  }
  INFO(racy << " with races, " << clean << " without");
  CHECK(racy > static_cast<int>(s.last - s.first));
  CHECK(clean * 4 > static_cast<int>(s.last - s.first));
}

TEST_CASE("a legal Program gives the same bytes under every schedule") {
  const Seeds s = seeds(2000);
  Machine machine;
  int legal = 0;
  for (uint32_t seed = s.first; seed < s.last; ++seed) {
    Program p = RandomProgram(seed, 10 + static_cast<int>(seed % 20)).take();
    if (!make_legal(p)) continue;
    ++legal;
    machine.reset();
    for (const Instruction& i : p.instructions) row(i).run(p.raw_args(i), i.engine, machine.memories()[i.core]);
    const auto expected = machine.bytes();
    std::mt19937 random(seed);
    for (int run = 0; run < 3; ++run) {
      machine.reset();
      INFO(to_assembly(p) << "run " << run);
      REQUIRE(run_interleaved(p, machine.memories(), random));
      REQUIRE(machine.bytes() == expected);
    }
  }
  INFO(legal << " legal Programs");
  CHECK(legal * 2 > static_cast<int>(s.last - s.first));
}
