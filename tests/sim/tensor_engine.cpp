#include "sim/tensor_engine.h"

#include <catch2/catch.hpp>

#include "sim/simulate.h"
#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;

namespace {

double ns(Tick t) { return Clock(trn2()).to_ns(t); }

Program matmuls(int n, Dtype dtype, int moving) {
  Program p;
  for (int i = 0; i < n; ++i)
    add<NcMatmul>(p, Engine::tensor,
                  matmul(psum(Dtype::float32, 128, (i % 8) * 2048, moving), sbuf(dtype, 128, 0, 128),
                         sbuf(dtype, 128, 8192, moving)));
  return p;
}

// The array is cold at a Program's start (half rate) and warm after some windows of work (full rate).
constexpr uint32_t kCold = 5, kWarm = 90;

double interval(Dtype dtype, int moving, uint32_t at) {
  Seen seen;
  simulate(matmuls(100, dtype, moving), trn2(), &seen);
  return ns(seen.of(at + 1).start - seen.of(at).start);
}

// The rate in eighths, from `before` on, after a window in which rows streamed for `share` of it.
int rate_after(int before, double share) {
  const Clock clock(trn2());
  TensorEngine engine(trn2(), clock, before, 0);
  int rate = before;
  const auto watch = [&](Tick, int eighths) { rate = eighths; };
  Cost cost;
  cost.busy = share * 8192 + trn2().pe_fixed_cycles;
  engine.run(0, cost, watch);
  cost.busy = 64;
  engine.run(2 * 8192 + 10, cost, watch);
  return rate;
}

}  // namespace

// Measured initiation intervals and latencies: trn2.md sections 2 and 11.
TEST_CASE("bf16 matmuls of 512 columns follow each other every 216 ns at full rate") {
  CHECK(interval(Dtype::bfloat16, 512, kWarm) == Approx(216).margin(1.5));
}
TEST_CASE("and every 427 ns at half rate") { CHECK(interval(Dtype::bfloat16, 512, kCold) == Approx(427).margin(1.5)); }
TEST_CASE("fp32 matmuls of 512 columns take two passes of 428 ns") {
  CHECK(interval(Dtype::float32, 512, kWarm) == Approx(2 * 428).margin(5));
}
TEST_CASE("a matmul's result is visible 163 ns after its stream at full rate") {
  Seen seen;
  simulate(matmuls(100, Dtype::bfloat16, 512), trn2(), &seen);
  CHECK(ns(seen.of(kWarm).end - seen.of(kWarm).start) == Approx(216 + 163).margin(2));
}

TEST_CASE("the rate rises after a busy window of 8192 cycles and falls after an idle one") {
  SimOptions options;
  options.throttle_eighths = 4;
  Seen seen;
  simulate(matmuls(60, Dtype::bfloat16, 512), trn2(), &seen, options);
  REQUIRE_FALSE(seen.throttles.empty());
  CHECK(seen.throttles[0].eighths == 8);
  // Windows run from the Program's start: the change is at a whole number of windows.
  const double windows = ns(seen.throttles[0].at) / (8192 / 2.4);
  CHECK(windows == Approx(std::round(windows)).margin(1e-3));
}

TEST_CASE("one threshold of 3/8 decides") {
  CHECK(rate_after(8, 0.376) == 8);
  CHECK(rate_after(8, 0.374) == 4);
}

TEST_CASE("at half rate an idle array has a burst of 128 cycles, then every row takes two") {
  const Clock clock(trn2());
  TensorEngine engine(trn2(), clock, 4, 0);
  const auto ignore = [](Tick, int) {};
  Cost cost;
  cost.busy = 512 + trn2().pe_fixed_cycles;
  const auto first = engine.run(0, cost, ignore), second = engine.run(0, cost, ignore);
  CHECK(clock.to_ns(first.stream_to) == Approx((2 * 512 - 128) / 2.4).margin(2));  // trn2.md: 48 ns shorter
  CHECK(clock.to_ns(second.stream_to - second.stream_from) == Approx(2 * 512 / 2.4).margin(2));
}

TEST_CASE("weights load behind a stream, and before it when the array is idle") {
  const Clock clock(trn2());
  TensorEngine engine(trn2(), clock, 8, 0);
  const auto ignore = [](Tick, int) {};
  Cost weights, stream;
  weights.preload = 256;  // fp32: two cycles a column
  stream.busy = 1024 + trn2().pe_fixed_cycles;
  const auto load = engine.run(0, weights, ignore), product = engine.run(0, stream, ignore);
  CHECK(clock.to_ns(product.stream_from) == Approx(107).margin(5));    // trn2.md: foreground fp32 LDWEIGHTS
  CHECK(clock.to_ns(load.end - load.start) == Approx(189).margin(3));  // reported duration
  engine.run(0, weights, ignore);
  const auto next = engine.run(0, stream, ignore);
  CHECK(next.stream_from == product.stream_to);
}

TEST_CASE("a rate once high drops below 3/8; to rise it takes more") {
  CHECK(rate_after(4, 0.379) == 4);  // trn2.md section 10: stays low
  CHECK(rate_after(4, 0.397) == 8);  // rises
}
