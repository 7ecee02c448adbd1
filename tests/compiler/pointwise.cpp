#include "backend/compiler/simplify.h"
#include "backend/compiler/split.h"
#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;

TEST_CASE("pointwise graphs of many sizes") {
  for (int64_t n : {1, 7, 64, 127, 128, 129, 1000, 4096, 4999, 70000, 300007}) {
    Lab lab;
    const NodeId a = lab.input({n}), b = lab.input({n});
    lab.output(lab.g.map(AluOp::add, lab.g.map(Activation::exp, a),
                         lab.g.map(AluOp::multiply, b, lab.g.constant(0.5, Dtype::float32))));
    lab.check();
  }
}

TEST_CASE("scalars, empty tensors and constants") {
  Lab lab;
  const NodeId s = lab.input({});
  lab.output(lab.g.map(AluOp::add, s, lab.g.constant(1, Dtype::float32)));
  lab.output(lab.g.map(Activation::exp, lab.input({0, 5})));
  lab.output(lab.g.expand(lab.g.constant(3, Dtype::float32), {5, 300}));
  lab.output(lab.g.map(AluOp::add, lab.g.constant(3, Dtype::int32), lab.g.constant(4, Dtype::int32)));
  lab.check();
}

TEST_CASE("broadcast operands") {
  const Dims shapes[][2] = {{{5, 7}, {7}},
                            {{5, 7}, {5, 1}},
                            {{300, 513}, {513}},
                            {{300, 513}, {300, 1}},
                            {{3, 4, 130, 65}, {3, 1, 1, 65}},
                            {{3, 4, 5}, {1, 4, 1}},
                            {{1, 4000}, {1}},
                            {{8, 65536}, {65536}},
                            {{200, 3}, {3}},
                            {{5, 1}, {1, 6}},
                            {{2, 3, 1, 50}, {4, 1}},
                            {{4096, 4}, {4096, 1}},
                            {{2, 300, 2, 40}, {300, 1, 40}}};
  for (const auto& [x, y] : shapes) {
    Lab lab;
    const NodeId a = lab.input(x), b = lab.input(y);
    lab.output(lab.g.map(AluOp::subtract, a, b));
    lab.output(lab.g.map(AluOp::subtract, lab.g.map(Activation::square, b), a));
    lab.check();
  }
}

TEST_CASE("views of inputs and of results") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId a = lab.input({6, 10, 33});
  lab.output(g.map(Activation::abs, g.permute(a, {2, 0, 1})));
  lab.output(g.permute(g.map(Activation::abs, a), {1, 2, 0}));
  lab.output(g.flip(g.slice(a, 1, 1, 9, 3), 2));
  lab.output(g.map(AluOp::add, g.flip(a, 0), g.flip(a, 2)));
  lab.output(g.reshape(g.map(Activation::exp, g.permute(a, {1, 0, 2})), {10, 198}));
  lab.output(g.reshape(g.permute(a, {2, 1, 0}), {330, 6}));
  lab.output(g.expand(g.map(Activation::exp, g.slice(a, 0, 0, 1)), {4, 10, 33}));
  const NodeId e = g.map(Activation::exp, a);
  lab.output(g.slice(e, 2, 3, 20));
  lab.output(g.map(AluOp::add, e, g.flip(e, 1)));
  lab.output(g.map(AluOp::add, g.slice(e, 1, 0, 5), g.slice(e, 1, 5, 10)));
  lab.check();
}

TEST_CASE("dtypes") {
  for (Dtype d : {Dtype::float32, Dtype::bfloat16, Dtype::float16, Dtype::float64}) {
    Lab lab;
    Graph& g = lab.g;
    const NodeId a = lab.input({37, 50}, d), b = lab.input({50}, d);
    lab.output(g.map(AluOp::add, a, b));
    lab.output(g.cast(g.map(Activation::exp, g.cast(a, Dtype::float32)), d));
    lab.output(g.cast(a, Dtype::bfloat16));
    lab.check(d == Dtype::float32 || d == Dtype::float64 ? 1e-6 : 0.005);
  }
  for (Dtype d : {Dtype::int32, Dtype::int64, Dtype::uint8, Dtype::int8, Dtype::int16, Dtype::boolean}) {
    Lab lab;
    Graph& g = lab.g;
    const NodeId a = lab.input({37, 50}, d), b = lab.input({37, 1}, d);
    if (d != Dtype::boolean) lab.output(g.map(AluOp::add, g.map(AluOp::multiply, a, b), a));
    lab.output(g.map(AluOp::maximum, a, b));
    lab.output(g.map(AluOp::bitwise_and, a, b));
    lab.output(g.map(AluOp::invert, a));
    lab.output(g.map(AluOp::less, a, b));
    for (Dtype to : {Dtype::float32, Dtype::bfloat16, Dtype::int64, Dtype::int32, Dtype::uint8, Dtype::boolean})
      lab.output(g.cast(a, to));
    lab.check(0);
  }
}

TEST_CASE("exact 32-bit integers") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId a = lab.values({2147483647, -2147483647, 16777217, 123456789}, {4}, Dtype::int64),
               b = lab.values({1, 3, 5, 7}, {4}, Dtype::int64);
  lab.output(g.map(AluOp::subtract, a, b));
  lab.output(g.map(AluOp::multiply, a, b));
  lab.output(g.map(AluOp::add, a, g.constant(-1, Dtype::int64)));
  lab.output(g.map(AluOp::greater, a, g.constant(16777216, Dtype::int64)));
  lab.check(0);
}

TEST_CASE("float to integer drops the fraction") {
  Lab lab;
  const NodeId a = lab.values({0.5, 1.5, -1.5, 2.999, -2.999, 300.7, -0.2, 16777216}, {8}, Dtype::float32);
  lab.output(lab.g.cast(a, Dtype::int32));
  lab.output(lab.g.cast(a, Dtype::uint8));
  lab.output(lab.g.cast(a, Dtype::int64));
  lab.output(lab.g.cast(a, Dtype::boolean));
  lab.check(0);
}

TEST_CASE("select") {
  for (Dtype d : {Dtype::float32, Dtype::bfloat16, Dtype::int32, Dtype::boolean}) {
    Lab lab;
    Graph& g = lab.g;
    const NodeId p = lab.input({40, 70}, Dtype::boolean), row = lab.input({70}, Dtype::boolean),
                 a = lab.input({40, 70}, d), b = lab.input({40, 1}, d);
    lab.output(g.select(p, a, b));
    lab.output(g.select(row, b, a));
    lab.output(g.select(p, g.constant(1, d), a));
    lab.output(g.select(p, a, g.constant(0, d)));
    lab.output(g.select(p, g.constant(1, d), g.constant(0, d)));
    lab.output(g.select(p, g.map(AluOp::maximum, a, b), a));
    lab.output(g.select(p, a, g.map(AluOp::maximum, a, b)));
    lab.check(0);
  }
}

TEST_CASE("infinities and NaN pass through") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId a = lab.values({INFINITY, -INFINITY, NAN, 0, -1, 1}, {6}, Dtype::float32),
               p = lab.values({1, 0, 1, 0, 1, 0}, {6}, Dtype::boolean);
  lab.output(g.select(p, g.constant(-INFINITY, Dtype::float32), a));
  lab.output(g.map(AluOp::maximum, a, g.constant(0, Dtype::float32)));
  lab.output(g.map(AluOp::not_equal, a, a));
  lab.output(g.map(Activation::exp, a));
  lab.check();
}

TEST_CASE("counting") {
  Lab lab;
  Graph& g = lab.g;
  lab.output(g.iota({1000}, 0));
  lab.output(g.iota({70000}, 0));
  lab.output(g.map(AluOp::less, g.iota({50, 70}, 0), g.iota({50, 70}, 1)));
  lab.output(g.map(AluOp::add, g.iota({3, 48, 700}, 1), lab.input({3, 48, 700}, Dtype::int32)));
  lab.output(g.map(AluOp::multiply, g.iota({130, 5}, 0), g.constant(3, Dtype::int32)));
  lab.check(0);
}

TEST_CASE("chains of operators fuse without changing values") {
  Lab lab;
  Graph& g = lab.g;
  const auto c = [&](double v) { return g.constant(v, Dtype::float32); };
  const NodeId x = lab.input({200, 300}), y = lab.input({200, 300}), column = lab.input({200, 1});
  lab.output(g.map(AluOp::add, g.map(AluOp::multiply, x, c(3)), c(0.25)));
  lab.output(g.map(AluOp::subtract, c(1), g.map(AluOp::multiply, x, column)));
  lab.output(g.map(AluOp::add, g.map(AluOp::multiply, x, c(0.9)), y));
  lab.output(g.map(AluOp::subtract, y, g.map(AluOp::multiply, x, column)));
  lab.output(g.map(Activation::tanh, g.map(AluOp::add, g.map(AluOp::multiply, x, c(0.7)), c(0.1))));
  lab.output(g.map(Activation::exp, g.map(AluOp::subtract, x, column)));
  lab.output(g.map(Activation::exp, g.map(AluOp::subtract, c(0.5), x)));
  lab.output(g.map(AluOp::power, g.map(Activation::abs, x), c(1.5)));
  lab.output(g.map(AluOp::divide, g.map(AluOp::add, x, c(1)), g.map(AluOp::add, g.map(Activation::square, y), c(1))));
  lab.check(2e-6);
}

TEST_CASE("inputs keep their value where an output has their slot") {
  Lab lab;
  Graph& g = lab.g;
  const Dims shape{64, 64}, dense{64, 1}, turned{1, 64};
  const uint32_t a = lab.add_slot(shape, Dtype::float32, SlotUse::inout),
                 b = lab.add_slot(shape, Dtype::float32, SlotUse::inout);
  for (int i = 0; i < 4096; ++i) {
    Lab::write(lab.slots[a], Dtype::float32, i, i);
    Lab::write(lab.slots[b], Dtype::float32, i, -i);
  }
  const NodeId x = g.input(a, Dtype::float32, shape, dense), y = g.input(b, Dtype::float32, shape, dense);
  const NodeId sum = g.map(AluOp::add, x, g.permute(x, {1, 0}));
  SECTION("in place, transposed") {
    g.output(sum, a, dense);
    auto bound = lab.slots;
    lab.run(bound);
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < 64; ++j) REQUIRE(Lab::read(bound[a], Dtype::float32, i * 64 + j) == 65 * (i + j));
  }
  SECTION("exchange") {
    g.output(y, a, dense);
    g.output(x, b, dense);
    auto bound = lab.slots;
    lab.run(bound);
    REQUIRE(bound[a] == lab.slots[b]);
    REQUIRE(bound[b] == lab.slots[a]);
  }
  SECTION("elementwise in place, then read again") {
    g.output(g.map(AluOp::add, x, y), a, dense);
    g.output(g.permute(g.map(AluOp::multiply, x, g.constant(2, Dtype::float32)), {1, 0}), b, dense);
    auto bound = lab.slots;
    lab.run(bound);
    REQUIRE(Lab::read(bound[a], Dtype::float32, 77) == 0);
    REQUIRE(Lab::read(bound[b], Dtype::float32, 64 * 3 + 5) == 2 * (5 * 64 + 3));
  }
}

TEST_CASE("small values that a larger kernel also uses") {
  Lab lab;
  Graph& g = lab.g;
  const auto c = [&](double v) { return g.constant(v, Dtype::float32); };
  const NodeId x = lab.input({300, 40}), w = lab.input({40}), column = lab.input({300, 1});
  const NodeId scale = g.map(AluOp::add, w, c(1)), gate = g.map(Activation::sigmoid, column);
  lab.output(scale);
  lab.output(g.map(AluOp::multiply, g.map(AluOp::multiply, x, scale), gate));
  lab.output(gate);
  lab.output(g.map(AluOp::multiply, gate, gate));
  lab.output(g.permute(g.map(AluOp::multiply, lab.input({40, 300}), g.permute(gate, {1, 0})), {1, 0}));
  lab.check();
}

TEST_CASE("rotary position embeddings: halves exchanged, one of them negated") {
  for (const Dtype d : {Dtype::float32, Dtype::bfloat16}) {
    Lab lab;
    Graph& g = lab.g;
    const NodeId cosine = lab.input({200, 1, 16}), sine = lab.input({200, 1, 16}), w = lab.input({24, 64}, d);
    const NodeId product = g.matmul(lab.input({200, 24}, d), w, d);
    const NodeId x = g.cast(g.reshape(product, {200, 4, 16}), Dtype::float32);
    const NodeId late = g.map(AluOp::multiply, g.slice(x, 2, 8, 16), g.constant(-1, Dtype::float32));
    const NodeId turned = g.concat({late, g.slice(x, 2, 0, 8)}, 2);
    lab.output(g.map(AluOp::add, g.map(AluOp::multiply, x, cosine), g.map(AluOp::multiply, turned, sine)));
    CHECK(compiler::split(compiler::simplify(g)).kernels.size() == 2);
    lab.check(d == Dtype::float32 ? 3e-6 : 0.006);
  }
}

TEST_CASE("a half that is negated in fewer bits is rounded to them") {
  Lab lab;
  Graph& g = lab.g;
  const auto bf16 = Dtype::bfloat16, fp32 = Dtype::float32;
  const NodeId x = lab.values({1 + 0x1p-20, 3, 5, 1 + 0x1p-20}, {1, 4}, fp32);
  const NodeId late = g.map(AluOp::multiply, g.cast(g.slice(x, 1, 2, 4), bf16), g.constant(-1, bf16));
  lab.output(g.concat({g.cast(late, fp32), g.slice(x, 1, 0, 2)}, 1));
  lab.check(0);
}

TEST_CASE("rolls along every dim, of what rows share and of integers") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({6, 10, 140}), row = lab.input({1, 10, 1}), count = lab.input({3, 300}, Dtype::int32);
  for (int dim = 0; dim < 3; ++dim) lab.output(g.map(AluOp::add, g.roll(x, dim, 5, dim == 1 ? -1 : 1), row));
  lab.output(g.map(AluOp::multiply, x, g.expand(g.roll(row, 1, 3, 1), {6, 10, 140})));
  lab.output(g.reduce(AluOp::add, g.roll(x, 2, 100, -1), {2}));
  lab.output(g.roll(g.map(AluOp::add, count, count), 1, 1, 1));
  lab.check();
}

TEST_CASE("a tensor whose rows lie further apart than access patterns step is refused") {
  for (const int64_t step : {int64_t{1} << 20, int64_t{1} << 25, int64_t{1} << 32}) {
    Graph g("far");
    const uint32_t from = g.slot({.name = "x", .dtype = Dtype::float32, .bytes = int64_t{1} << 50, .shape = {}}),
                   to = g.slot(
                       {.name = "y", .use = SlotUse::output, .dtype = Dtype::float32, .bytes = 1024, .shape = {}});
    const NodeId x = g.input(from, Dtype::float32, {128, 2}, {step, 1});
    g.output(g.map(AluOp::add, x, x), to, {2, 1});
    if (step == 1 << 20)
      CHECK_NOTHROW(compiler::compile(g, trn2()));
    else
      CHECK_THROWS_WITH(compiler::compile(g, trn2()), Catch::Contains("reaches over more"));
  }
}
