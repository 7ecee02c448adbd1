// Programs with control flow: what they compute, and when.
#include <catch2/catch.hpp>
#include <numeric>

#include "isa/assembly.h"
#include "sim/execute.h"
#include "sim/simulate.h"
#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;
using Catch::Contains;

namespace {

constexpr int kRows = 128, kColumns = 8;
constexpr size_t kTile = size_t{kRows} * kColumns;

// x: float32 tiles, n: one int32, y: float32 tiles.
std::string program(std::string_view lines, int tiles, int cores = 1) {
  const std::string bytes = std::to_string(tiles * kTile * 4), shape = "[" + std::to_string(tiles * kTile) + "]";
  return "program \"p\" target \"trn2\" cores " + std::to_string(cores) + "\nslot 0 input \"x\" float32 " + bytes +
         " " + shape + "\nslot 1 inout \"n\" int32 8 [2]\nslot 2 output \"y\" float32 " + bytes + " " + shape + "\n" +
         std::string(lines);
}

// y = x + 1, tile by tile through one SBUF buffer: `count` is the loops' stop, `tile` its part of a place.
std::string pipeline(std::string_view before, std::string_view count) {
  const std::string n(count), b(before);
  const auto loop = [&](std::string_view engine, std::string_view body) {
    const std::string c = "c0." + std::string(engine) + " ";
    std::string first = b;
    for (size_t at; (at = first.find('%')) != std::string::npos;) first.replace(at, 1, c);
    return first + c + "loop counter=r0 stop=" + n + "\n" + c + std::string(body) + "\n" + c + "end_loop\n";
  };
  return loop("sync",
              "dma_copy dst=sbuf.float32@p0+0[1x128,1x8] src=hbm.float32@s0+0[8x128,1x8,1024xr0] queue=0 "
              "wait=s1>=0+1*r0 post=s0") +
         loop("vector",
              "tensor_scalar dst=sbuf.float32@p0+64[1x128,1x8] data=sbuf.float32@p0+0[1x128,1x8] op0=add operand0=1 "
              "wait=s0>=1+1*r0,s2>=0+1*r0 post=s1") +
         loop("scalar",
              "dma_copy dst=hbm.float32@s2+0[8x128,1x8,1024xr0] src=sbuf.float32@p0+64[1x128,1x8] queue=1 "
              "wait=s1>=1+1*r0 post=s2");
}

// The same without loops, built instruction by instruction.
Program straight(int tiles) {
  Program p;
  p.slots = from_assembly(program("", tiles)).slots;
  const Access in = sbuf(Dtype::float32, kRows, 0, kColumns), out = sbuf(Dtype::float32, kRows, 64, kColumns);
  for (uint32_t i = 0; i < static_cast<uint32_t>(tiles); ++i) {
    Access x = hbm(Dtype::float32, 0, kRows, kColumns), y = hbm(Dtype::float32, 2, kRows, kColumns);
    x.offset = y.offset = int64_t{i} * kTile * 4;
    add<DmaCopy>(p, Engine::sync, dma(in, x), {{1, i}}, 0);
    TensorScalar::Args plus{};
    plus.dst = out;
    plus.data = in;
    plus.op0 = AluOp::add;
    plus.operand0.immediate = 1;
    add<TensorScalar>(p, Engine::vector, plus, {{0, i + 1}, {2, i}}, 1);
    add<DmaCopy>(p, Engine::scalar, dma(y, out), {{1, i + 1}}, 2).queue = 1;
  }
  return p;
}

struct Bench {
  CoreState core0{trn2()}, core1{trn2()};
  std::array<CoreState*, 2> cores{&core0, &core1};
  std::vector<float> x, y;
  std::array<int32_t, 2> n{};
  Program p;

  explicit Bench(const std::string& text, int tiles = 1) : x(tiles * kTile), y(tiles * kTile, -1) {
    std::iota(x.begin(), x.end(), 0.f);
    p = from_assembly(text);
    const Verdict v = check(p, trn2());
    INFO((v ? v->rule : "legal"));
    REQUIRE_FALSE(v);
  }
  Loads run(const ExecuteOptions& options = {}) {
    const std::array<std::span<std::byte>, 3> slots{std::as_writable_bytes(std::span(x)),
                                                    std::as_writable_bytes(std::span(n)),
                                                    std::as_writable_bytes(std::span(y))};
    return execute(p, cores, slots, options);
  }
  std::vector<float> plus_one(int tiles) const {
    std::vector<float> want(x.size(), -1);
    for (size_t i = 0; i < static_cast<size_t>(tiles) * kTile; ++i) want[i] = x[i] + 1;
    return want;
  }
};

Spec free_control() {
  Spec s = trn2();
  for (Number* n : {&s.register_op_ns, &s.branch_tensor_ns, &s.branch_vector_ns, &s.branch_scalar_ns,
                    &s.branch_gpsimd_ns, &s.branch_sync_ns})
    n->value = 0;
  return s;
}

double ns(Tick t, const Spec& s = trn2()) { return Clock(s).to_ns(t); }

}  // namespace

TEST_CASE("a loop with a fixed count computes what its straight line does, in the same time if branches are free") {
  Bench b(program(pipeline("", "4"), 4), 4);
  const Loads loads = b.run();
  CHECK(b.y == b.plus_one(4));
  CHECK(std::all_of(loads.of_stream.begin(), loads.of_stream.end(), [](const auto& v) { return v.empty(); }));

  const Spec s = free_control();
  Seen rolled, flat;
  const Timing loop = simulate(b.p, s, &rolled), line = simulate(straight(4), s, &flat);
  CHECK(loop.makespan == line.makespan);
  CHECK(loop.dma_bytes == line.dma_bytes);
  CHECK(rolled.transfers.size() == 8);
  for (size_t i = 0; i < flat.transfers.size(); ++i) {
    CHECK(rolled.transfers[i].begin == flat.transfers[i].begin);
    CHECK(rolled.transfers[i].end == flat.transfers[i].end);
  }
  // Branches that take time can only delay.
  CHECK(simulate(b.p, trn2()).makespan > simulate(straight(4), trn2()).makespan);
}

TEST_CASE("sequencers take the time of their instructions") {
  const Spec& s = trn2();
  const auto makespan = [&](std::string_view lines) {
    return ns(simulate(from_assembly(program(lines, 1)), s).makespan);
  };
  const double nothing = s.program_preamble_ns + s.program_postamble_ns;
  CHECK(makespan("c0.sync loop counter=r0 stop=10\nc0.sync end_loop") ==
        Approx(nothing + 11 * s.branch_sync_ns).margin(5));
  CHECK(makespan("c0.tensor register_alloc dst=r0 x=1\nc0.tensor compare_branch cmp_op=equal cmp0=r0 cmp1=1 "
                 "label_id=0\nc0.tensor label") == Approx(nothing + s.register_op_ns + s.branch_tensor_ns).margin(1));
  CHECK(makespan("c0.gpsimd register_load dst=r0 src=hbm.int32@s1+0[1x1]\nc0.gpsimd register_store "
                 "dst=hbm.int32@s1+4[1x1] src=r0") ==
        Approx(nothing + s.program_skew_gpsimd_ns + s.register_load_ns + s.register_store_ns).margin(1));
}

TEST_CASE("a loop's count may come from memory; time follows what was read") {
  constexpr std::string_view load = "%register_load dst=r1 src=hbm.int32@s1+0[1x1]\n";
  std::vector<double> times;
  for (const int tiles : {0, 1, 3}) {
    Bench b(program(pipeline(load, "r1"), 4), 4);
    b.n[0] = tiles;
    const Loads loads = b.run();
    CHECK(b.y == b.plus_one(tiles));
    CHECK(loads.of_stream[static_cast<size_t>(Engine::vector)] == std::vector<int32_t>{tiles});
    times.push_back(ns(simulate(b.p, trn2(), nullptr, {}, loads).makespan));
    CHECK_THROWS_WITH(simulate(b.p, trn2()), Contains("unmodelled") && Contains("TRNSIM_MODE=both"));
  }
  CHECK(times[0] == Approx(trn2().program_preamble_ns + trn2().program_skew_scalar_ns + trn2().program_postamble_ns +
                           trn2().register_load_ns + trn2().branch_scalar_ns)
                        .margin(5));
  CHECK(times[1] > times[0]);
  CHECK(times[2] > times[1]);
}

TEST_CASE("an address from memory needs no data to be timed") {
  Bench b(
      program("c0.sync register_load dst=r1 src=hbm.int32@s1+0[1x1]\n"
              "c0.sync dma_copy dst=hbm.float32@s2+0[1x8] src=hbm.float32@s0+0[1x8,8xr1] queue=0",
              1));
  b.n[0] = 5;
  const Loads loads = b.run();
  for (int i = 0; i < 8; ++i) CHECK(b.y[static_cast<size_t>(i)] == 40.f + static_cast<float>(i));
  CHECK(simulate(b.p, trn2()).makespan == simulate(b.p, trn2(), nullptr, {}, loads).makespan);
  b.n[0] = 128;
  CHECK_THROWS_WITH(b.run(), Contains("index out of bounds") && Contains("[4096,4128) of slot x"));
  b.n[0] = -1;
  CHECK_THROWS_WITH(b.run(), Contains("index out of bounds"));
}

TEST_CASE("while a register: another engine decides when to stop") {
  // Vector halves n in SBUF; Sync goes on while it is not 0 and counts the rounds. 37 is halved six times to 0.
  Bench b(program(R"(
c0.sync register_alloc dst=r1 x=0
c0.sync dma_copy dst=sbuf.int32@p0+0[1x1,1x1] src=hbm.int32@s1+0[1x1,1x1] queue=0 post=s0
c0.sync register_load dst=r0 src=sbuf.int32@p0+0[1x1,1x1] wait=s0>=1
c0.sync label label_id=1
c0.sync compare_branch cmp_op=equal cmp0=r0 cmp1=0 label_id=2
c0.sync register_alu dst=r1 op=add operand0=r1 operand1=1 post=s1
c0.sync register_load dst=r0 src=sbuf.int32@p0+0[1x1,1x1] wait=s2>=0+1*r1 post=s3
c0.sync compare_branch label_id=1
c0.sync label label_id=2
c0.sync register_store dst=hbm.int32@s1+4[1x1] src=r1
c0.vector register_load dst=r0 src=sbuf.int32@p0+0[1x1,1x1] wait=s0>=1
c0.vector register_alloc dst=r1 x=0
c0.vector label label_id=1
c0.vector compare_branch cmp_op=equal cmp0=r0 cmp1=0 label_id=2
c0.vector tensor_scalar dst=sbuf.int32@p0+0[1x1,1x1] data=sbuf.int32@p0+0[1x1,1x1] op0=right_shift operand0=1 wait=s1>=1+1*r1,s3>=0+1*r1 post=s2
c0.vector register_alu dst=r1 op=add operand0=r1 operand1=1
c0.vector register_load dst=r0 src=sbuf.int32@p0+0[1x1,1x1] wait=s2>=0+1*r1
c0.vector compare_branch label_id=1
c0.vector label label_id=2
)",
                  1));
  b.n = {37, -1};
  const Loads loads = b.run();
  CHECK(b.n[1] == 6);
  CHECK(loads.of_stream[static_cast<size_t>(Engine::sync)] == std::vector<int32_t>{37, 18, 9, 4, 2, 1, 0});
  const double six = ns(simulate(b.p, trn2(), nullptr, {}, loads).makespan);
  b.n = {1, -1};
  CHECK(ns(simulate(b.p, trn2(), nullptr, {}, b.run()).makespan) < six);
}

TEST_CASE("words are extended from their dtypes") {
  for (const auto& [dtype, want] : {std::pair{"int8", -2}, {"uint8", 254}, {"int16", -2}, {"uint16", 65534}}) {
    Bench b(program("c0.sync register_load dst=r0 src=hbm." + std::string(dtype) +
                        "@s1+0[1x1]\nc0.sync register_store dst=hbm.int32@s1+4[1x1] src=r0",
                    1));
    b.n[0] = -2;
    b.run();
    CHECK(b.n[1] == want);
  }
}

TEST_CASE("two cores swap tiles and meet") {
  constexpr std::string_view text = R"(
c0.sync dma_copy dst=sbuf.float32@p0+0[1x128,1x8] src=hbm.float32@s0+0[8x128,1x8] queue=0 post=s0
c1.sync dma_copy dst=sbuf.float32@p0+0[1x128,1x8] src=hbm.float32@s0+4096[8x128,1x8] queue=0 post=s1
c0.gpsimd sendrecv src=sbuf.float32@p0+0[1x128,1x8] dst=sbuf.float32@p0+0[1x128,1x8] queue=2 wait=s0>=1 post=s2
c1.gpsimd sendrecv src=sbuf.float32@p0+0[1x128,1x8] dst=sbuf.float32@p0+0[1x128,1x8] send_to_rank=0 recv_from_rank=0 queue=2 wait=s1>=1 post=s3
c0.sync dma_copy dst=hbm.float32@s2+0[8x128,1x8] src=sbuf.float32@p0+0[1x128,1x8] queue=0 wait=s2>=1 post=s4
c1.sync dma_copy dst=hbm.float32@s2+4096[8x128,1x8] src=sbuf.float32@p0+0[1x128,1x8] queue=0 wait=s3>=1 post=s5
c0.gpsimd core_barrier data=hbm.float32@s2+0[1x2048] wait=s4>=1
c1.gpsimd core_barrier data=hbm.float32@s2+0[1x2048] wait=s5>=1 post=s6
)";
  Bench b(program(text, 2, 2), 2);
  b.run();
  for (size_t i = 0; i < kTile; ++i) {
    REQUIRE(b.y[i] == b.x[i + kTile]);
    REQUIRE(b.y[i + kTile] == b.x[i]);
  }
  Seen seen;
  const Timing t = simulate(b.p, trn2(), &seen);
  CHECK(t.engines[static_cast<size_t>(Engine::gpsimd)].instructions == 4);
  // Neither barrier is over before both stores have landed.
  const auto landed = [&](uint32_t i) {
    for (const TransferEvent& e : seen.transfers)
      if (e.instruction == i) return e.end;
    return Tick{-1};
  };
  for (const uint32_t barrier : {6u, 7u})
    for (const uint32_t store : {4u, 5u}) CHECK(seen.of(barrier).end > landed(store));
  CHECK(std::abs(seen.of(6).end - seen.of(7).end) < Clock(trn2()).from_ns(1));
}

TEST_CASE("two cores that disagree do not meet") {
  Bench b(program(R"(
c0.sync sendrecv src=sbuf.int32@p0+0[1x1,1x1] dst=sbuf.int32@p0+4[1x1,1x1] queue=0
c1.sync sendrecv src=sbuf.int32@p0+0[1x1,1x1] dst=sbuf.int32@p0+4[1x1,1x1] queue=0
)",
                  1, 2));
  CHECK_THROWS_WITH(b.run(), Contains("both cores of a sendrecv send to core 1"));
}

TEST_CASE("an endless loop stops with its place") {
  Bench b(program("c0.scalar label\nc0.scalar compare_branch label_id=0", 1));
  CHECK_THROWS_WITH(b.run({.most_steps = 10'000}), Contains("more than 10000 instructions") && Contains("scalar"));
  std::atomic<bool> cancelled{true};
  CHECK_THROWS_WITH(b.run({.cancelled = &cancelled}), Contains("interrupted"));
}

TEST_CASE("a fault is injected into the n-th execution in a loop") {
  struct Injected {
    Injected() { set_injection(parse_injection("tensor_scalar:2:0")); }
    ~Injected() { set_injection({}); }
  } injected;
  Bench b(program(pipeline("", "4"), 4), 4);
  b.run();
  auto want = b.plus_one(4);
  want[2 * kTile] = std::bit_cast<float>(std::bit_cast<uint32_t>(want[2 * kTile]) ^ 1u);
  CHECK(b.y == want);
}
