#include "isa/tensor_reduce.h"

#include <catch2/catch.hpp>

#include "isa/tensor_partition_reduce.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("tensor_reduce sums within fp32's error") {
  using namespace example;
  Machine m;
  for (const int n : {1, 7, 16, 512, 5000}) {
    const TensorReduce::Args a{sbuf(128, 1, Dtype::float32, 65536), AluOp::add, sbuf(128, n), false};
    m.fill(a.data, Noise(1));
    TensorReduce::run(a, m.memory());
    for (int p = 0; p < 128; ++p) {
      double sum = 0, magnitude = 0;
      for (int i = 0; i < n; ++i) sum += m.get(a.data, p * n + i), magnitude += std::fabs(m.get(a.data, p * n + i));
      REQUIRE(m.get(a.dst, p) == Approx(sum).margin(magnitude * 1e-6));
    }
  }
}

TEST_CASE("tensor_reduce takes groups and any pattern") {
  Machine m;
  // [4 groups][3][5] with the groups innermost in memory; maximum, negated.
  const TensorReduce::Args a{tile(Space::sbuf, Dtype::float32, 0, 4096, {{1, 32}, {2, 4}}), AluOp::maximum,
                             tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 32}, {1, 4}, {20, 3}, {4, 5}}), true};
  REQUIRE_FALSE(TensorReduce::check(a, Engine::vector, trn2()));
  m.fill(a.data, Noise(1));
  TensorReduce::run(a, m.memory());
  for (int64_t g = 0; g < a.dst.elements(); ++g) {
    double most = -2;
    for (int i = 0; i < 15; ++i) most = std::max(most, m.get(a.data, g * 15 + i));
    REQUIRE(m.get(a.dst, g) == -most);
  }
}

TEST_CASE("tensor_reduce cuts a dim where groups end inside it") {
  Machine m;
  // 64 groups of 6 out of dims [16][24] in one walk, and 12 groups of 40 whose elements lie 12 apart.
  for (const auto& [groups, data] :
       {std::pair{64, tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 16}, {25, 16}, {1, 24}})},
        {12, tile(Space::sbuf, Dtype::float32, 0, 0, {{1, 16}, {1, 12}, {12, 40}})}}) {
    const TensorReduce::Args a{tile(Space::sbuf, Dtype::float32, 0, 8192, {{1, 16}, {1, groups}}), AluOp::add, data,
                               false};
    REQUIRE_FALSE(TensorReduce::check(a, Engine::vector, trn2()));
    m.fill(data, [](int64_t i) { return i % 97 - 40; });
    TensorReduce::run(a, m.memory());
    const int64_t group = data.free_elements() / groups;
    for (int64_t g = 0; g < a.dst.elements(); ++g) {
      double sum = 0;
      for (int64_t i = 0; i < group; ++i) sum += m.get(data, g * group + i);
      REQUIRE(m.get(a.dst, g) == sum);
    }
  }
}

TEST_CASE("tensor_reduce is exact in integers") {
  using namespace example;
  Machine m;
  const TensorReduce::Args a{sbuf(2, 1, Dtype::int32, 4096), AluOp::add, sbuf(2, 1000, Dtype::int32), false};
  m.fill(a.data, [](int64_t i) { return 16777217 + i; });
  TensorReduce::run(a, m.memory());
  for (int p = 0; p < 2; ++p) {
    int64_t sum = 0;
    for (int i = 0; i < 1000; ++i) sum += 16777217 + p * 1000 + i;
    CHECK(m.get(a.dst, p) == static_cast<int32_t>(sum));
  }
  const TensorReduce::Args bits{sbuf(1, 1, Dtype::int8, 8192), AluOp::bitwise_and, sbuf(1, 3, Dtype::int8, 8200),
                                false};
  m.fill(bits.data, [](int64_t i) { return i == 1 ? -2 : -1; });
  TensorReduce::run(bits, m.memory());
  CHECK(m.get(bits.dst, 0) == -2);
}

TEST_CASE("tensor_partition_reduce adds partitions in order") {
  using namespace example;
  Machine m;
  const TensorPartitionReduce::Args a{sbuf(1, 50, Dtype::float32, 4096), AluOp::add, sbuf(128, 50)};
  m.fill(a.data, Noise(1));
  TensorPartitionReduce::run(a, m.memory());
  for (int i = 0; i < 50; ++i) {
    float sum = static_cast<float>(m.get(a.data, i));
    for (int p = 1; p < 128; ++p) sum += static_cast<float>(m.get(a.data, p * 50 + i));
    CHECK(m.get(a.dst, i) == sum);
  }
}

}  // namespace trn::test
