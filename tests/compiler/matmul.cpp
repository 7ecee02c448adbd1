#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;

namespace {

void multiply(const Dims& a, const Dims& b, Dtype d, bool turn_a, bool turn_b, Dtype result) {
  Lab lab;
  Graph& g = lab.g;
  const auto operand = [&](Dims shape, bool turn) {
    if (!turn) return lab.input(shape, d);
    const auto rank = static_cast<int64_t>(shape.size());
    std::swap(shape[rank - 1], shape[rank - 2]);
    Dims axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[rank - 1], axes[rank - 2]);
    return g.permute(lab.input(shape, d), axes);
  };
  lab.output(g.matmul(operand(a, turn_a), operand(b, turn_b), result));
  lab.check(result == Dtype::float32 ? 3e-6 : 0.006);
}

}  // namespace

TEST_CASE("products of many sizes and layouts") {
  const Dims sizes[][2] = {{{1, 1}, {1, 1}},        {{64, 64}, {64, 64}},    {{5, 7}, {7, 3}},
                           {{130, 200}, {200, 70}}, {{1, 384}, {384, 1536}}, {{200, 129}, {129, 600}},
                           {{300, 1}, {1, 20}},     {{17, 1000}, {1000, 1}}, {{257, 300}, {300, 513}}};
  for (const auto& [a, b] : sizes)
    for (bool turn_a : {false, true})
      for (bool turn_b : {false, true}) {
        multiply(a, b, Dtype::float32, turn_a, turn_b, Dtype::float32);
        multiply(a, b, Dtype::bfloat16, turn_a, turn_b, Dtype::bfloat16);
      }
  multiply({33, 40}, {40, 50}, Dtype::float16, false, true, Dtype::float16);
  multiply({33, 40}, {40, 50}, Dtype::bfloat16, false, true, Dtype::float32);
}

TEST_CASE("batched products") {
  const Dims sizes[][2] = {{{12, 64, 32}, {12, 32, 64}},   {{2, 3, 64, 64}, {2, 3, 64, 64}},
                           {{7, 50, 64}, {7, 64, 32}},     {{5, 10, 17}, {5, 17, 20}},
                           {{3, 40, 50}, {50, 60}},        {{40, 50}, {3, 50, 60}},
                           {{4, 1, 20, 30}, {3, 30, 10}},  {{2, 200, 40}, {2, 40, 300}},
                           {{130, 8, 128}, {130, 128, 8}}, {{9, 1, 32}, {9, 32, 100}}};
  for (const auto& [a, b] : sizes)
    for (bool turn_a : {false, true})
      for (bool turn_b : {false, true}) multiply(a, b, Dtype::float32, turn_a, turn_b, Dtype::float32);
}

TEST_CASE("heads that lie side by side are loaded together") {
  Lab lab;
  Graph& g = lab.g;
  const auto heads = [&] { return g.permute(g.reshape(lab.input({16, 64, 384}), {16, 64, 12, 32}), {0, 2, 1, 3}); };
  lab.output(g.matmul(heads(), g.permute(heads(), {0, 1, 3, 2}), Dtype::float32));
  lab.check(3e-6);
  auto slots = lab.slots;
  CHECK(count_of(lab.run(slots), "dma_copy") == 16 * 3);  // a load of each side and a store
}

TEST_CASE("long contractions and operands that do not fit on chip") {
  multiply({130, 21000}, {21000, 30}, Dtype::float32, false, false, Dtype::float32);
  multiply({600, 6000}, {6000, 40}, Dtype::float32, false, true, Dtype::float32);
  multiply({40, 12000}, {12000, 600}, Dtype::bfloat16, true, true, Dtype::float32);
}

TEST_CASE("DMA engines turn operands that come from HBM in rows of whole tiles") {
  for (const Dtype d : {Dtype::bfloat16, Dtype::float32})
    for (const int64_t k : {256, 200}) {
      Lab lab;
      const NodeId x = lab.input({64, k}, d), w = lab.input({384, k}, d);
      lab.output(lab.g.matmul(x, lab.g.permute(w, {1, 0}), d));
      lab.check(d == Dtype::float32 ? 3e-6 : 0.006);
      auto slots = lab.slots;
      const Program p = lab.run(slots);
      CHECK((count_of(p, "dma_transpose") > 0) == (k == 256));
      CHECK((count_of(p, "nc_transpose") > 0) == (k == 200));
      CHECK(count_of(compile(lab.g, trn1()), "dma_transpose") == 0);  // has no such DMA engines
    }
}

TEST_CASE("linear layers and attention as graphs") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({2, 30, 48}), w = lab.input({96, 48}), bias = lab.input({96});
  lab.output(g.map(Activation::gelu, g.map(AluOp::add, g.matmul(x, g.permute(w, {1, 0}), Dtype::float32), bias)));
  const NodeId q = g.permute(g.reshape(lab.input({2, 30, 64}), {2, 30, 2, 32}), {0, 2, 1, 3}),
               v = g.permute(g.reshape(lab.input({2, 30, 64}), {2, 30, 2, 32}), {0, 2, 1, 3});
  const NodeId scores =
      g.map(AluOp::multiply, g.matmul(q, g.permute(q, {0, 1, 3, 2}), Dtype::float32), g.constant(0.2, Dtype::float32));
  const NodeId e = g.map(Activation::exp, g.map(AluOp::subtract, scores, g.reduce(AluOp::maximum, scores, {3})));
  const NodeId p = g.map(AluOp::divide, e, g.reduce(AluOp::add, e, {3}));
  lab.output(g.reshape(g.permute(g.matmul(p, v, Dtype::float32), {0, 2, 1, 3}), {2, 30, 64}));
  lab.output(g.matmul(lab.input({5, 0}), lab.input({0, 4}), Dtype::float32));
  lab.check(1e-5);
}
