#include "sim/dma.h"

#include <catch2/catch.hpp>

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

// The last of 16 engines gets its descriptors so much later than the first (HBM source).
constexpr double kLastEngine = 15 * 20;

// Time until each submitted transfer has left, by id.
std::vector<double> drain(DmaEngines& engines, size_t n) {
  std::vector<double> done(n, -1);
  while (engines.next() != DmaEngines::kNever) {
    const Tick now = engines.next();
    engines.progress(now, [&](uint32_t id) { done[id] = ns(now); });
  }
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
  DmaEngines engines(trn2(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 2048), 0);
  CHECK(drain(engines, 1)[0] == Approx(8 * (5 + 2048 / 27.2) + kLastEngine).margin(1));
}

TEST_CASE("packets are at most 4 KiB") {
  DmaEngines engines(trn2(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 8192), 0);
  CHECK(drain(engines, 1)[0] == Approx(16 * (5 + 4096 / 27.2) + kLastEngine).margin(1));
}

TEST_CASE("two busy queues of one engine take turns, packet by packet") {
  DmaEngines engines(trn2(), clock_of_trn2());
  engines.submit(0, 0, rows(128, 2048), 0);
  engines.submit(1, 1, rows(128, 2048), 0);
  const auto done = drain(engines, 2);
  const double both = 16 * (5 + 2048 / 27.2);
  for (const double d : done) CHECK(d == Approx(both).margin(2 * kLastEngine));
}

TEST_CASE("one queue is first come first served") {
  DmaEngines engines(trn2(), clock_of_trn2());
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
  const double bytes = 128.0 * 65536;
  const double gbps = bytes / load_ns(128, 65536);
  CHECK(gbps > 0.85 * 16 * 27.2);
  CHECK(gbps < 16 * 27.2);
}

TEST_CASE("time grows with bytes") {
  double last = 0;
  for (int bytes = 64; bytes <= 32768; bytes *= 2) {
    const double t = load_ns(128, bytes);
    CHECK(t > last);
    last = t;
  }
}
