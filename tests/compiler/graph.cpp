#include "backend/compiler/graph.h"

#include <catch2/catch.hpp>
#include <set>

#include "memory/error.h"

using namespace trn;
using namespace trn::compiler;

namespace {

struct Fixture {
  Graph g{"test"};
  uint32_t slot = g.slot({.name = "x", .dtype = Dtype::float32, .bytes = 1 << 20, .shape = {}});
  NodeId in(Dims shape, Dtype dtype = Dtype::float32) {
    Dims strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return g.input(slot, dtype, std::move(shape), std::move(strides));
  }
};

template <class F>
std::string refused(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK(e.fault() == Fault::illegal);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE_METHOD(Fixture, "shapes broadcast as numpy's do") {
  const NodeId a = in({4, 1, 3}), b = in({2, 1}), c = in({}), d = in({5});
  CHECK(g[g.map(AluOp::add, a, b)].shape == Dims{4, 2, 3});
  CHECK(g[g.map(AluOp::add, b, a)].shape == Dims{4, 2, 3});
  CHECK(g[g.map(AluOp::add, a, c)].shape == Dims{4, 1, 3});
  CHECK(g[g.expand(b, {4, 2, 3})].shape == Dims{4, 2, 3});
  CHECK_THAT(refused([&] { g.map(AluOp::add, a, d); }),
             Catch::Contains("shapes do not broadcast [map2 add of float32[4, 1, 3], float32[5]"));
  CHECK_THAT(refused([&] { g.expand(a, {4, 2}); }), Catch::Contains("does not broadcast"));
}

TEST_CASE_METHOD(Fixture, "dtypes follow the operator") {
  const NodeId f = in({4}), i = in({4}, Dtype::int32), h = in({4}, Dtype::bfloat16);
  CHECK(g[g.map(AluOp::less, f, f)].dtype == Dtype::boolean);
  CHECK(g[g.map(AluOp::logical_and, i, i)].dtype == Dtype::boolean);
  CHECK(g[g.map(AluOp::multiply, i, i)].dtype == Dtype::int32);
  CHECK(g[g.map(AluOp::abs, i)].dtype == Dtype::int32);
  CHECK(g[g.map(Activation::exp, h)].dtype == Dtype::bfloat16);
  CHECK(g[g.arg_reduce(AluOp::maximum, f, 0)].dtype == Dtype::int32);
  CHECK(g[g.arg_sort(f, 0, true)].dtype == Dtype::int32);
  CHECK_THAT(refused([&] { g.map(AluOp::add, f, h); }), Catch::Contains("different dtypes"));
  CHECK_THAT(refused([&] { g.map(AluOp::bitwise_and, f, f); }), Catch::Contains("bitvec"));
  CHECK_THAT(refused([&] { g.map(AluOp::abs, f, h); }), Catch::Contains("different dtypes"));
  CHECK_THAT(refused([&] { g.map(AluOp::add, f); }), Catch::Contains("takes two operands"));
  CHECK_THAT(refused([&] { g.map(Activation::exp, i); }), Catch::Contains("floating"));
  CHECK_THAT(refused([&] { g.reduce(AluOp::divide, f, {0}); }), Catch::Contains("does not reduce"));
  CHECK_THAT(refused([&] { g.select(f, f, f); }), Catch::Contains("predicate is not boolean"));
}

TEST_CASE_METHOD(Fixture, "views and movement") {
  const NodeId a = in({2, 3, 4});
  CHECK(g[g.permute(a, {2, 0, 1})].shape == Dims{4, 2, 3});
  CHECK(g[g.reshape(a, {6, 4})].shape == Dims{6, 4});
  CHECK(g[g.slice(a, 2, 1, 4, 2)].shape == Dims{2, 3, 2});
  CHECK(g[g.slice(a, 1, 2, 2)].shape == Dims{2, 0, 4});
  CHECK(g[g.pad(a, 1, 1, 2, 0)].shape == Dims{2, 6, 4});
  CHECK(g[g.pad(a, 1, -1, -2, 0)].shape == Dims{2, 0, 4});
  CHECK(g[g.concat({a, g.slice(a, 1, 0, 1)}, 1)].shape == Dims{2, 4, 4});
  CHECK(g[g.reduce(AluOp::add, a, {0, 2})].shape == Dims{1, 3, 1});
  CHECK(g[g.scan(AluOp::add, a, 1)].shape == Dims{2, 3, 4});
  CHECK_THAT(refused([&] { g.permute(a, {0, 0, 1}); }), Catch::Contains("not a permutation"));
  CHECK_THAT(refused([&] {
               g.reshape(a, {5, 5});
             }),
             Catch::Contains("element counts differ [reshape of float32[2, 3, 4] -> float32[5, 5]"));
  CHECK_THAT(refused([&] { g.slice(a, 3, 0, 1); }), Catch::Contains("dim is out of range"));
  CHECK_THAT(refused([&] { g.slice(a, 1, 2, 4); }), Catch::Contains("0 <= start <= stop <= size"));
  CHECK_THAT(refused([&] { g.pad(a, 1, -2, -2, 0); }), Catch::Contains("crops more"));
  CHECK_THAT(refused([&] { g.concat({a, g.slice(a, 2, 0, 1)}, 1); }), Catch::Contains("shapes differ outside dim"));
  CHECK_THAT(refused([&] { g.reduce(AluOp::add, a, {3}); }), Catch::Contains("axis is out of range"));
  CHECK_THAT(refused([&] { g.reduce(AluOp::add, a, {1, 1}); }), Catch::Contains("named twice"));
}

TEST_CASE_METHOD(Fixture, "products and indexing") {
  const NodeId a = in({5, 1, 2, 3}), b = in({7, 3, 4}), table = in({10, 6}), index = in({4}, Dtype::int32);
  CHECK(g[g.matmul(a, b, Dtype::bfloat16)].shape == Dims{5, 7, 2, 4});
  CHECK(g[g.matmul(a, b, Dtype::bfloat16)].dtype == Dtype::bfloat16);
  CHECK(g[g.gather(table, index)].shape == Dims{4, 6});
  CHECK(g[g.scatter(AluOp::add, table, index, in({4, 6}))].shape == Dims{10, 6});
  CHECK(g[g.take(table, in({2, 6}, Dtype::int32), 0)].shape == Dims{2, 6});
  CHECK(g[g.put(AluOp::bypass, table, in({2, 5}, Dtype::int32), in({2, 6}), 0)].shape == Dims{10, 6});
  CHECK(g[g.random(in({4}, Dtype::uint32), {3, 3})].dtype == Dtype::uint32);
  CHECK_THAT(refused([&] { g.matmul(b, b, Dtype::float32); }),
             Catch::Contains("contraction sizes differ [matmul of float32[7, 3, 4], float32[7, 3, 4]"));
  CHECK_THAT(refused([&] {
               g.matmul(in({3, 3}, Dtype::int32), in({3, 3}, Dtype::int32), Dtype::float32);
             }),
             Catch::Contains("floating operands"));
  CHECK_THAT(refused([&] { g.gather(table, in({4})); }), Catch::Contains("not a vector of int32"));
  CHECK_THAT(refused([&] { g.take(table, in({2, 7}, Dtype::int32), 0); }), Catch::Contains("larger than the operand"));
  CHECK_THAT(refused([&] { g.scatter(AluOp::add, table, index, in({3, 6})); }), Catch::Contains("one row"));
  CHECK_THAT(refused([&] { g.random(index, {3}); }), Catch::Contains("four uint32"));
}

TEST_CASE_METHOD(Fixture, "equal nodes are one node, and what does nothing is none") {
  const NodeId a = in({2, 3});
  CHECK(in({2, 3}) == a);
  CHECK(g.map(Activation::exp, a) == g.map(Activation::exp, a));
  CHECK(g.map(Activation::exp, a) != g.map(Activation::log, a));
  CHECK(g.constant(0.0, Dtype::float32) != g.constant(-0.0, Dtype::float32));
  CHECK(g.constant(NAN, Dtype::float32) == g.constant(NAN, Dtype::float32));
  CHECK(g.constant(1, Dtype::float32) != g.constant(1, Dtype::bfloat16));
  CHECK(g.cast(a, Dtype::float32) == a);
  CHECK(g.expand(a, {2, 3}) == a);
  CHECK(g.permute(a, {0, 1}) == a);
  CHECK(g.slice(a, 0, 0, 2) == a);
  CHECK(g.concat({a}, 0) == a);
  CHECK(g.pad(a, 0, 0, 0, 1) == a);
  CHECK(g.reduce(AluOp::add, a, {}) == a);
}

TEST_CASE_METHOD(Fixture, "nodes that differ in one word are different nodes") {
  const NodeId q = in({4, 8});
  std::set<NodeId> all{g.attention(Op::attention, {q, q, q}, 1, false),
                       g.attention(Op::attention, {q, q, q}, 1, true),
                       g.attention(Op::attention, {q, q, q}, 2, true),
                       g.roll(q, 0, 1, 1),
                       g.roll(q, 0, 1, -1),
                       g.roll(q, 0, 2, 1),
                       g.roll(q, 1, 1, 1),
                       g.sort(q, 0, true),
                       g.sort(q, 0, false),
                       g.constant(0, Dtype::float32),
                       g.constant(-0.0, Dtype::float32)};
  CHECK(all.size() == 11);
  CHECK(g.roll(q, 0, 1, -1) == *std::next(all.begin(), 4));
}

TEST_CASE_METHOD(Fixture, "views stay inside their slots") {
  const uint32_t small = g.slot({.name = "y", .dtype = Dtype::float32, .bytes = 24, .shape = {2, 3}});
  const NodeId a = g.input(small, Dtype::float32, {2, 3}, {3, 1});
  CHECK_NOTHROW(g.input(small, Dtype::float32, {3, 2}, {1, 3}));
  CHECK_NOTHROW(g.input(small, Dtype::float32, {3}, {-1}, 8));
  CHECK_NOTHROW(g.input(small, Dtype::float32, {100, 0}, {1, 1}));
  CHECK_NOTHROW(g.input(small, Dtype::float32, {1000}, {0}));
  CHECK_THAT(refused([&] {
               g.input(small, Dtype::float32, {2, 3}, {3, 1}, 4);
             }),
             Catch::Contains("reaches outside its slot y"));
  CHECK_THAT(refused([&] { g.input(small, Dtype::float32, {3}, {-1}, 4); }), Catch::Contains("reaches outside"));
  CHECK_THAT(refused([&] { g.input(9, Dtype::float32, {1}, {1}); }), Catch::Contains("slot does not exist"));
  CHECK_NOTHROW(g.output(a, small, {3, 1}));
  CHECK_THAT(refused([&] { g.output(a, small, {0, 1}); }), Catch::Contains("result elements overlap"));
  CHECK_THAT(refused([&] { g.output(99, small, {1}); }), Catch::Contains("not a node"));
}

TEST_CASE_METHOD(Fixture, "a listing shows every node") {
  const NodeId x = in({4}), two = g.constant(2.5, Dtype::float32);
  g.output(g.map(AluOp::add, x, two), slot, {1});
  CHECK_THAT(listing(g), Catch::Contains("%1 = constant 2.5 : float32[]") &&
                             Catch::Contains("%2 = map2 add %0 %1 : float32[4]") &&
                             Catch::Contains("%3 = output %2 slot 0 strides [1] +0"));
}
