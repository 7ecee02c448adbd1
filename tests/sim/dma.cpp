#include "sim/dma.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "sim/simulate.h"
#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;

namespace {

const Clock& clock_of_trn2() {
  static const Clock c(trn2());
  return c;
}
double ns(Tick t) { return clock_of_trn2().to_ns(t); }

Transfer rows(int64_t n, int64_t bytes) {
  Transfer t;
  t.rows = n;
  t.chunks = 1;
  t.chunk_bytes = bytes;
  t.reads_hbm = true;
  return t;
}

// The packet law alone, with whole numbers: reads flow at once, packets cost 5 ns + bytes / 27.2 (trn2.md section 11),
// and each engine gets its descriptors 20 ns after the one before.
const Spec& plain() {
  static const Spec spec = [] {
    Spec s = trn2();
    s.hbm_startup_ns.value = s.hbm_restart_ns.value = 0;
    s.dma_packet_ns.value = 5;
    s.dma_stall_byte_ns.value = 0;
    s.dma_stagger_hbm_ns.value = 20;
    return s;
  }();
  return spec;
}
constexpr double kLastEngine = 15 * 20;
constexpr Tick kEver = DmaEngines::kNever - 1;

// Time until each submitted transfer has left, by id.
std::vector<double> drain(DmaEngines& engines, size_t n) {
  std::vector<double> done(n, -1);
  engines.run(kEver, [&](uint32_t id, Tick left, Tick) { done[id] = ns(left); });
  return done;
}

// One HBM -> SBUF load from its trigger's start to its semaphore.
double load_ns(int partitions, int bytes) {
  Program p;
  p.slots.push_back({"x", SlotUse::input, Dtype::uint8, int64_t{partitions} * bytes, 0, {}});
  add<DmaCopy>(p, Engine::sync, dma(sbuf(Dtype::uint8, partitions, 0, bytes), hbm(Dtype::uint8, 0, partitions, bytes)));
  Seen seen;
  simulate(p, trn2(), &seen);
  return ns(seen.transfers.at(0).end - seen.of(0).start);
}

}  // namespace

TEST_CASE("a lone transfer takes its engine's packets one after another: 5 ns + bytes / 27.2 each") {
  DmaEngines engines(plain(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 2048), 0);
  CHECK(drain(engines, 1)[0] == Approx(8 * (5 + 2048 / 27.2) + kLastEngine).margin(1));
}

TEST_CASE("a machine may have any number of engines") {
  Spec s = plain();
  for (const int engines : {3, 24, 32}) {
    s.dma_engines.value = engines;
    DmaEngines all(s, clock_of_trn2());
    all.submit(0, 0, rows(8 * engines, 2048), 0);
    CHECK(drain(all, 1)[0] == Approx(8 * (5 + 2048 / 27.2) + (engines - 1) * 20).margin(1));
  }
}

TEST_CASE("packets are at most 4 KiB") {
  DmaEngines engines(plain(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 8192), 0);
  CHECK(drain(engines, 1)[0] == Approx(16 * (5 + 4096 / 27.2) + kLastEngine).margin(1));
}

TEST_CASE("two busy queues of one engine take turns, packet by packet") {
  DmaEngines engines(plain(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 2048), 0);
  engines.submit(1, 1, rows(128, 2048), 0);
  const auto done = drain(engines, 2);
  const double both = 16 * (5 + 2048 / 27.2);
  for (const double d : done) CHECK(d == Approx(both).margin(2 * kLastEngine));
}

TEST_CASE("one queue is first come first served") {
  DmaEngines engines(plain(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 2048), 0);
  engines.submit(1, 0, rows(128, 2048), 0);
  const auto done = drain(engines, 2);
  CHECK(done[0] == Approx(8 * (5 + 2048 / 27.2) + kLastEngine).margin(1));
  CHECK(done[1] - done[0] == Approx(8 * (5 + 2048 / 27.2)).margin(2));
}

TEST_CASE("a small load takes about two microseconds from trigger to semaphore") {
  // trn2.md section 5: 128 x 256 B 1.99 us, 128 x 512 B 2.09 us (before section 11's finer laws: 5 % each way).
  CHECK(load_ns(128, 256) == Approx(1990).epsilon(0.06));
  CHECK(load_ns(128, 512) == Approx(2090).epsilon(0.06));
}

TEST_CASE("large loads approach the engines' 435 GB/s") {
  const double bytes = 128.0 * 131072;
  const double gbps = bytes / load_ns(128, 131072);
  CHECK(gbps > 0.85 * 16 * 27.2);
  CHECK(gbps < 16 * 27.2);
}

TEST_CASE("HBM reads begin late, and those that were queued by then follow at full rate") {
  Spec s = plain();
  s.hbm_startup_ns.value = 500;
  s.hbm_restart_ns.value = 700;
  s.hbm_startup_byte_ns.value = 1;  // a large transfer: the caps hold
  const double one = 8 * (5 + 2048 / 27.2);
  const auto done_of = [&](double second, double third) {
    DmaEngines engines(s, clock_of_trn2());
    engines.submit(0, 0, rows(128, 2048), 0);
    engines.submit(1, 0, rows(128, 2048), clock_of_trn2().from_ns(second));
    engines.submit(2, 0, rows(128, 2048), clock_of_trn2().from_ns(third));
    return drain(engines, 3);
  };
  const auto together = done_of(10, 20);
  CHECK(together[0] == Approx(500 + one + kLastEngine).margin(2));
  CHECK(together[1] - together[0] == Approx(one).margin(2));
  CHECK(together[2] - together[1] == Approx(one).margin(2));
  const auto apart = done_of(10, 900);  // the third comes when the first reads are through on every engine
  CHECK(apart[1] - apart[0] == Approx(one).margin(2));
  CHECK(apart[2] - apart[1] == Approx(700 + one).margin(2));
}

TEST_CASE("a queue whose reads do not flow yet loses turns, not the engine's time") {
  Spec s = plain();
  const double packet = 5 + 2048 / 27.2;
  s.hbm_startup_ns.value = 4 * packet;
  s.hbm_startup_byte_ns.value = 1;
  s.dma_stagger_hbm_ns.value = s.dma_stagger_sbuf_ns.value = 0;
  Transfer store = rows(256, 2048);
  store.reads_hbm = false;
  store.writes_hbm = true;
  DmaEngines engines(s, clock_of_trn2());
  engines.submit(0, 0, store, 0);
  engines.submit(1, 1, rows(128, 2048), 0);
  const auto done = drain(engines, 2);
  CHECK(done[1] == Approx(2 * (4 + 8) * packet).margin(3));        // four turns lost, eight packets, every other turn
  CHECK(done[0] == Approx((2 * (4 + 8) + 4) * packet).margin(3));  // twelve packets meanwhile, four alone
}

TEST_CASE("engines post their semaphore updates one after another") {
  Spec s = plain();
  s.dma_stagger_hbm_ns.value = 0;
  DmaEngines engines(s, clock_of_trn2());
  engines.submit(0, 0, rows(128, 2048), 0);
  double posted = -1;
  engines.run(kEver, [&](uint32_t, Tick, Tick at) { posted = ns(at); });
  CHECK(posted ==
        Approx(8 * (5 + 2048 / 27.2) + s.dma_completion_load_ns + 15 * s.dma_completion_interval_ns).margin(8));
}

TEST_CASE("software descriptors gather neighbours in HBM into 4 KiB packets; stores pay for each chunk") {
  Transfer load = rows(128, 1024);
  load.software = true;
  load.neighbours = 128;
  DmaEngines engines(plain(), clock_of_trn2());
  engines.submit(0, 0, load, 0);
  CHECK(drain(engines, 1)[0] == Approx(2 * (5 + 4096 / 27.2) + kLastEngine).margin(1));
  Transfer store = load;
  store.reads_hbm = false;
  store.writes_hbm = true;
  store.chunk_bytes = 512;
  store.chunks = 4;
  DmaEngines others(plain(), clock_of_trn2());
  others.submit(0, 0, store, 0);
  CHECK(drain(others, 1)[0] ==
        Approx(4 * (8 * plain().dma_chunk_ns + 4096 / 27.2) + 15 * plain().dma_stagger_sbuf_ns).margin(1));
}

TEST_CASE("running ahead of the clock changes nothing") {
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 50; ++round) {
    DmaEngines at_once(trn2(), clock_of_trn2()), by_step(trn2(), clock_of_trn2());
    Tick at = 0;
    for (uint32_t id = 0; id < 12; ++id) {
      Transfer t = rows(1 + below(128), 64 << below(8));
      t.reads_hbm = below(2);
      t.writes_hbm = !t.reads_hbm;
      const auto queue = static_cast<int>(below(3));
      at += below(3000);
      for (DmaEngines* e : {&at_once, &by_step}) e->submit(id, queue, t, at);
    }
    std::map<uint32_t, std::pair<Tick, Tick>> once, steps;
    at_once.run(kEver, [&](uint32_t id, Tick left, Tick posted) { once[id] = {left, posted}; });
    while (by_step.next() < DmaEngines::kNever) {
      const Tick now = by_step.next();
      by_step.run(now, [&](uint32_t id, Tick left, Tick posted) {
        CHECK(left == now);
        steps[id] = {left, posted};
      });
    }
    CHECK(once.size() == 12);
    CHECK(once == steps);
    CHECK(at_once.active() == by_step.active());
  }
}

TEST_CASE("time grows with bytes") {
  double last = 0;
  for (int bytes = 64; bytes <= 32768; bytes *= 2) {
    const double t = load_ns(128, bytes);
    CHECK(t > last);
    last = t;
  }
}
