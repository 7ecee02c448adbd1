#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;

namespace {

NodeId mean(Graph& g, NodeId x, const Dims& axes) {
  double n = 1;
  for (int64_t a : axes) n *= static_cast<double>(g[x].shape[a]);
  return g.map(AluOp::multiply, g.reduce(AluOp::add, x, axes), g.constant(1 / n, Dtype::float32));
}

NodeId softmax(Graph& g, NodeId x, const Dims& axes) {
  const NodeId e = g.map(Activation::exp, g.map(AluOp::subtract, x, g.reduce(AluOp::maximum, x, axes)));
  return g.map(AluOp::divide, e, g.reduce(AluOp::add, e, axes));
}

NodeId layer_norm(Graph& g, NodeId x, NodeId weight, NodeId bias, const Dims& axes) {
  const NodeId centred = g.map(AluOp::subtract, x, mean(g, x, axes));
  const NodeId variance = mean(g, g.map(AluOp::multiply, centred, centred), axes);
  const NodeId scale = g.map(Activation::rsqrt, g.map(AluOp::add, variance, g.constant(1e-5, Dtype::float32)));
  return g.map(AluOp::add, g.map(AluOp::multiply, g.map(AluOp::multiply, centred, scale), weight), bias);
}

struct Case {
  Dims shape, axes;
};
const Case kCases[] = {{{1}, {0}},
                       {{64, 64}, {1}},
                       {{64, 64}, {0}},
                       {{300, 17}, {1}},
                       {{300, 17}, {0}},
                       {{5000, 8}, {1}},
                       {{8, 5000}, {0}},
                       {{1, 4096}, {1}},
                       {{4096}, {0}},
                       {{50257}, {0}},
                       {{3, 50257}, {1}},
                       {{2, 3, 129, 33}, {1, 3}},
                       {{4, 5, 6, 7}, {0, 2}},
                       {{16, 200000}, {1}},
                       {{130, 70000}, {1}},
                       {{6, 10, 20}, {0, 1, 2}},
                       {{1000, 300}, {0}},
                       {{2, 1000, 300}, {1}},
                       {{4, 3, 500}, {1}},
                       {{40000, 3}, {1}},
                       {{100003, 2}, {0}},
                       {{7, 3, 11, 5, 2}, {0, 2, 4}},
                       {{70, 3000}, {1}}};

}  // namespace

TEST_CASE("sums, products, extremes") {
  for (const Case& c : kCases) {
    Lab lab;
    const NodeId x = lab.input(c.shape);
    lab.output(lab.g.reduce(AluOp::add, x, c.axes));
    lab.output(lab.g.reduce(AluOp::maximum, x, c.axes));
    lab.output(lab.g.reduce(AluOp::minimum, x, c.axes));
    lab.check(2e-5);
  }
}

TEST_CASE("softmax and layer norm over any axes") {
  for (const Case& c : kCases) {
    Lab lab;
    const NodeId x = lab.input(c.shape);
    lab.output(softmax(lab.g, x, c.axes));
    lab.check(2e-5);
    Lab norm;
    Dims weight(c.shape.size(), 1);
    for (int64_t a : c.axes) weight[a] = c.shape[a];
    const NodeId y = norm.input(c.shape), w = norm.input(weight), b = norm.input(weight);
    norm.output(layer_norm(norm.g, y, w, b, c.axes));
    norm.check(2e-4);
  }
}

TEST_CASE("reductions of integers and booleans") {
  for (const Dims& shape : {Dims{40, 50}, Dims{2, 5000}, Dims{5000, 3}}) {
    for (int axis : {0, 1}) {
      Lab lab;
      Graph& g = lab.g;
      const NodeId i = lab.input(shape, Dtype::int64), b = lab.input(shape, Dtype::boolean),
                   big = lab.input(shape, Dtype::int32, -400000000, 400000000);
      lab.output(g.reduce(AluOp::add, i, {axis}));
      lab.output(g.reduce(AluOp::maximum, big, {axis}));
      lab.output(g.reduce(AluOp::minimum, b, {axis}));
      lab.output(g.reduce(AluOp::maximum, b, {axis}));
      lab.output(g.reduce(AluOp::add, big, {axis}));
      lab.check(0);
    }
  }
}

TEST_CASE("reductions of low precision accumulate in fp32") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({33, 3000}, Dtype::bfloat16), wide = g.cast(x, Dtype::float32);
  lab.output(g.cast(g.reduce(AluOp::add, g.map(AluOp::multiply, wide, wide), {1}), Dtype::bfloat16));
  lab.output(g.cast(softmax(g, wide, {1}), Dtype::bfloat16));
  lab.check(0.005);
}

TEST_CASE("several results and later readers") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({70, 90});
  const NodeId m = g.reduce(AluOp::maximum, x, {1}), e = g.map(Activation::exp, g.map(AluOp::subtract, x, m)),
               s = g.reduce(AluOp::add, e, {1});
  lab.output(m);
  lab.output(e);
  lab.output(g.map(AluOp::add, g.map(Activation::log, s), m));
  lab.output(g.reduce(AluOp::add, e, {0}));
  lab.output(g.reduce(AluOp::add, g.reduce(AluOp::add, e, {1}), {0}));
  lab.output(g.map(AluOp::multiply, g.permute(e, {1, 0}), g.reshape(s, {1, 70})));
  lab.check(2e-5);
}

TEST_CASE("empty and broadcast reductions") {
  Lab lab;
  Graph& g = lab.g;
  lab.output(g.reduce(AluOp::add, lab.input({4, 0}), {1}));
  lab.output(g.reduce(AluOp::multiply, lab.input({0, 3}), {0}));
  lab.output(g.reduce(AluOp::add, g.expand(lab.input({4, 1}), {4, 30}), {1}));
  lab.output(g.reduce(AluOp::add, g.expand(g.constant(2, Dtype::float32), {4, 30}), {0, 1}));
  lab.check();
}
