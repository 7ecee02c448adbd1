#include "isa/tensor_copy_predicated.h"

#include <catch2/catch.hpp>

#include "isa/select_reduce.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_copy_predicated moves bits where the predicate holds") {
  using namespace example;
  Machine m;
  for (const Dtype d : {Dtype::uint8, Dtype::bfloat16, Dtype::float32, Dtype::int32})
    for (const bool reverse : {false, true}) {
      INFO(name(d) << (reverse ? " reversed" : ""));
      const Access dst = tile(Space::sbuf, d, 0, 32768, {{1, 64}, {50, 50}, {1, 45}}), src = sbuf(64, 2250, d),
                   where = sbuf(64, 2250, Dtype::uint8, 16384);
      m.fill(dst, [](int64_t) { return 9; });
      m.fill(src, [](int64_t i) { return i % 100; });
      m.fill(where, [](int64_t i) { return i % 3 == 1 ? 200 : 0; });
      const TensorCopyPredicated::Args a{dst, {src}, where, reverse};
      REQUIRE_FALSE(TensorCopyPredicated::check(a, Engine::vector, trn2()));
      TensorCopyPredicated::run(a, m.memory());
      int64_t wrong = 0;
      for (int64_t i = 0; i < dst.elements(); ++i)
        wrong += m.get(dst, i) != ((i % 3 == 1) != reverse ? static_cast<double>(i % 100) : 9.0);
      CHECK(wrong == 0);
    }
}

TEST_CASE("tensor_copy_predicated writes an immediate") {
  using namespace example;
  Machine m;
  const Access dst = sbuf(2, 4, Dtype::int32), where = sbuf(2, 4, Dtype::uint32, 64);
  m.fill(dst, [](int64_t i) { return i; });
  m.fill(where, [](int64_t i) { return i == 5; });
  TensorCopyPredicated::run({dst, number(16777217), where, false}, m.memory());
  for (int64_t i = 0; i < 8; ++i) CHECK(m.get(dst, i) == (i == 5 ? 16777217 : i));
  TensorCopyPredicated::run({dst, number(3.5), where, false}, m.memory());
  CHECK(m.get(dst, 5) == 4);
}

TEST_CASE("select_reduce chooses and finds the maximum") {
  using namespace example;
  Machine m;
  const Access out = sbuf(128, 2500), x = sbuf(128, 2500, Dtype::float32, 10240),
               where = sbuf(128, 2500, Dtype::uint8, 20480);
  const Access most = sbuf(128, 1, Dtype::float32, 32768), other = sbuf(128, 1, Dtype::float32, 32772);
  m.fill(x, Noise(1));
  m.fill(other, Noise(2));
  m.fill(where, [](int64_t i) { return i % 5 == 0; });
  SelectReduce::run({.dst = out,
                     .predicate = where,
                     .on_true = x,
                     .on_false = {other},
                     .reduce_res = most,
                     .reduce_cmd = ReduceCmd::reset_reduce},
                    m.memory());
  for (int p = 0; p < 128; ++p) {
    double best = -2;
    for (int i = 0; i < 2500; ++i) {
      const int64_t at = p * 2500 + i;
      const double want = at % 5 == 0 ? m.get(x, at) : m.get(other, p);
      REQUIRE(m.get(out, at) == want);
      best = std::max(best, want);
    }
    CHECK(m.get(most, p) == best);
  }
}

}  // namespace trn::test
