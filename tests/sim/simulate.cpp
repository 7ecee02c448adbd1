#include "sim/simulate.h"

#include <catch2/catch.hpp>

#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;

namespace {

const Spec& spec() { return trn2(); }
double ns(Tick t) { return Clock(spec()).to_ns(t); }

// Vector copies [128, n] fp32 SBUF to SBUF.
Program chain(bool dependent) {
  Program p;
  add<TensorCopy>(p, Engine::vector, copy(sbuf(Dtype::float32, 128, 4096, 512), sbuf(Dtype::float32, 128, 0, 512)), {},
                  0);
  if (dependent)
    add<TensorCopy>(p, Engine::scalar, copy(sbuf(Dtype::float32, 128, 8192, 512), sbuf(Dtype::float32, 128, 4096, 512)),
                    {{0, 1}}, 1);
  else
    add<TensorCopy>(p, Engine::scalar, copy(sbuf(Dtype::float32, 128, 8192, 512), sbuf(Dtype::float32, 128, 4096, 512)),
                    {}, 1);
  return p;
}

}  // namespace

TEST_CASE("the tick is the least common multiple of the clocks") {
  CHECK(Clock(spec()).ticks_per_ns == Approx(4.8));
  CHECK(Clock(trn1()).ticks_per_ns == Approx(5.6));
  CHECK(Clock(trn3()).ticks_per_ns == Approx(2.4));
}

TEST_CASE("clocks without a common multiple are refused") {
  Spec s = spec();
  s.vector_ghz.value = 0.9612345;
  CHECK_THROWS_WITH(Clock(s), Catch::Contains("common multiple"));
}

TEST_CASE("a waiting instruction starts 12 + 23 ns after its producer's end, not before") {
  Seen seen;
  simulate(chain(true), spec(), &seen);
  const double gap = ns(seen.of(1).start - seen.of(0).end);
  CHECK(gap == Approx(35).margin(0.3));  // trn2.md section 11
  REQUIRE(seen.waits.size() == 1);
  CHECK(seen.waits[0].reason == Reason::semaphore);
  CHECK(seen.waits[0].blocker == 0);
  CHECK(seen.waits[0].end == seen.of(1).start);
}

TEST_CASE("a wait is seen when it comes true, however soon its semaphore goes on") {
  // Vector and GpSimd post one semaphore, at distances from far apart to nothing; Scalar waits for the first of them.
  for (int size = 8; size <= 1024; size += 8) {
    Program p;
    add<TensorCopy>(p, Engine::vector, copy(sbuf(Dtype::float32, 128, 4096, size), sbuf(Dtype::float32, 128, 0, size)),
                    {}, 0);
    add<TensorCopy>(p, Engine::gpsimd, copy(sbuf(Dtype::float32, 128, 8192, 256), sbuf(Dtype::float32, 128, 0, 256)),
                    {}, 0);
    add<TensorCopy>(p, Engine::scalar, copy(sbuf(Dtype::float32, 128, 12288, 64), sbuf(Dtype::float32, 128, 0, 64)),
                    {{0, 1}});
    Seen seen;
    simulate(p, spec(), &seen);
    const Tick first = std::min(seen.of(0).end, seen.of(1).end);
    CHECK(ns(seen.of(2).start - first) == Approx(35).margin(0.3));
  }
}

TEST_CASE("engines without a dependence start when their sequencers do: Scalar 156 ns after the others") {
  Seen seen;
  simulate(chain(false), spec(), &seen);
  CHECK(ns(seen.of(1).start - seen.of(0).start) == Approx(156).margin(0.3));  // five profiles of five
  CHECK(seen.waits.empty());
}

TEST_CASE("engines are in order") {
  Program p;
  for (int i = 0; i < 20; ++i)
    add<TensorCopy>(p, Engine::vector,
                    copy(sbuf(Dtype::float32, 128, 4096, 64 + i), sbuf(Dtype::float32, 128, 0, 64 + i)));
  Seen seen;
  simulate(p, spec(), &seen);
  for (uint32_t i = 1; i < 20; ++i) CHECK(seen.of(i).start > seen.of(i - 1).start);
}

TEST_CASE("two runs of one Program see the same events") {
  Program p = chain(true);
  Seen a, b;
  const Timing ta = simulate(p, spec(), &a), tb = simulate(p, spec(), &b);
  CHECK(ta.makespan == tb.makespan);
  REQUIRE(a.instructions.size() == b.instructions.size());
  for (size_t i = 0; i < a.instructions.size(); ++i) CHECK(a.instructions[i].start == b.instructions[i].start);
}

TEST_CASE("waits that can never be met are a deadlock that names them") {
  Program p;
  add<TensorCopy>(p, Engine::vector, copy(sbuf(Dtype::float32, 128, 4096, 64), sbuf(Dtype::float32, 128, 0, 64)),
                  {{1, 1}}, 0);
  add<TensorCopy>(p, Engine::scalar, copy(sbuf(Dtype::float32, 128, 8192, 64), sbuf(Dtype::float32, 128, 0, 64)),
                  {{0, 1}}, 1);
  CHECK_THROWS_WITH(simulate(p, spec()), Catch::Contains("deadlock") && Catch::Contains("S[1]>=1 (is 0)") &&
                                             Catch::Contains("S[0]>=1 (is 0)"));
}

TEST_CASE("sequencers run ahead of their pipelines, sixteen instructions at most") {
  Program p;
  const auto copy_at = [&](int i) {
    return copy(sbuf(Dtype::float32, 128, 4096, 512 + i), sbuf(Dtype::float32, 128, 0, 512 + i));
  };
  for (int i = 0; i < 10; ++i) add<TensorCopy>(p, Engine::vector, copy_at(i));
  add<DmaCopy>(p, Engine::vector, dma(hbm(Dtype::float32, 0, 128, 64), sbuf(Dtype::float32, 128, 0, 64)));
  p.slots.push_back({"x", SlotUse::output, Dtype::float32, 128 * 64 * 4, 0, {}});
  Seen seen;
  simulate(p, spec(), &seen);
  CHECK(seen.of(10).start < seen.of(2).start);  // an issue waits for nothing that it does not name
}

TEST_CASE("an instruction behind another one is bounded by end-to-end intervals") {
  // Profiles, trn2.md section 3: PSUM to SBUF copies of 512 columns on Vector take 690 ns alone and follow each other
  // every 597 ns; activations from SBUF on Scalar take 720 and then 705 ns, every 612 ns.
  Program p;
  for (int i = 0; i < 3; ++i)
    add<TensorCopy>(p, Engine::vector, copy(sbuf(Dtype::float32, 128, 4096, 512), psum(Dtype::float32, 128, 0, 512)));
  Seen seen;
  simulate(p, spec(), &seen);
  CHECK(ns(seen.of(0).end - seen.of(0).start) == Approx(690).margin(2));
  CHECK(ns(seen.of(1).end - seen.of(0).end) == Approx(597).margin(2));
  CHECK(ns(seen.of(2).end - seen.of(2).start) == Approx(681).margin(2));
}

TEST_CASE("an empty Program takes its preamble and postamble") {
  CHECK(ns(simulate(Program{}, spec()).makespan) == Approx(spec().program_postamble_ns).margin(1));
}

TEST_CASE("the observer changes nothing") {
  Seen seen;
  CHECK(simulate(chain(true), spec(), &seen).makespan == simulate(chain(true), spec()).makespan);
}
