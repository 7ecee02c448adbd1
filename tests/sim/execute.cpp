#include "sim/execute.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/sim/programs.h"

using namespace trn;
using namespace trn::test;

namespace {

struct Bench {
  CoreState core{trn2()};
  std::array<CoreState*, 1> cores{&core};
  std::vector<float> in = std::vector<float>(128 * 32), out = std::vector<float>(128 * 32, -1);
  Program p;

  Bench() {
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i) * 0.5f;
    p.slots.push_back({"x", SlotUse::input, Dtype::float32, static_cast<int64_t>(in.size() * 4), 0, {128, 32}});
    p.slots.push_back({"y", SlotUse::output, Dtype::float32, static_cast<int64_t>(out.size() * 4), 0, {128, 32}});
    add<DmaCopy>(p, Engine::sync, dma(sbuf(Dtype::float32, 128, 0, 32), hbm(Dtype::float32, 0, 128, 32)), {}, 0);
    add<TensorCopy>(p, Engine::vector, copy(sbuf(Dtype::float32, 128, 256, 32), sbuf(Dtype::float32, 128, 0, 32)),
                    {{0, 1}}, 1);
    add<DmaCopy>(p, Engine::scalar, dma(hbm(Dtype::float32, 1, 128, 32), sbuf(Dtype::float32, 128, 256, 32)), {{1, 1}},
                 2);
  }
  void run(const std::atomic<bool>* cancelled = nullptr) {
    const std::array<std::span<std::byte>, 2> slots{std::as_writable_bytes(std::span(in)),
                                                    std::as_writable_bytes(std::span(out))};
    execute(p, cores, slots, cancelled);
  }
};

struct Injected {
  explicit Injected(std::string_view text) { set_injection(parse_injection(text)); }
  ~Injected() { set_injection({}); }
};

}  // namespace

TEST_CASE("a Program computes") {
  Bench b;
  b.run();
  CHECK(b.out == b.in);
}

TEST_CASE("an injected fault flips exactly its bit of what the card writes") {
  Bench b;
  const Injected fault("tensor_copy:0:70");  // element 2, bit 6
  b.run();
  uint32_t got, want;
  std::memcpy(&got, &b.out[2], 4);
  std::memcpy(&want, &b.in[2], 4);
  CHECK((got ^ want) == 1u << 6);
  for (size_t i = 0; i < b.in.size(); ++i)
    if (i != 2) CHECK(b.out[i] == b.in[i]);
}

TEST_CASE("the n-th execution is meant, and no other") {
  Bench b;
  const Injected fault("tensor_copy:1:0");
  b.run();
  CHECK(b.out == b.in);
  b.run();
  CHECK(b.out != b.in);
}

TEST_CASE("a wrong injection is refused with its form") {
  for (const char* text :
       {"", "nc_matmul", "no_such_card:1", "nc_matmul:x", "nc_matmul:1:", "nc_matmul:-1:3", "nc_matmul:1:2:3"})
    CHECK_THROWS_AS(parse_injection(text), Error);
}

TEST_CASE("a cancelled Program stops before its next instruction and says so") {
  Bench b;
  const std::atomic<bool> cancelled{true};
  CHECK_THROWS_WITH(b.run(&cancelled), Catch::Contains("interrupted"));
  CHECK(b.out[0] == -1);
}

TEST_CASE("a Program for two cores needs two") {
  Bench b;
  b.p.cores = 2;
  CHECK_THROWS_WITH(b.run(), Catch::Contains("2 physical cores"));
}
