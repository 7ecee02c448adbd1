#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;

TEST_CASE("concat and pad") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId a = lab.input({4, 5, 6}), b = lab.input({4, 3, 6}), c = lab.input({4, 1, 6});
  lab.output(g.concat({a, b, c}, 1));
  lab.output(g.concat({g.map(Activation::exp, a), b, g.expand(g.constant(7, Dtype::float32), {4, 2, 6})}, 1));
  lab.output(g.map(AluOp::add, g.concat({a, g.map(AluOp::multiply, a, g.constant(-1, Dtype::float32))}, 2),
                   g.constant(1, Dtype::float32)));
  lab.output(g.permute(g.concat({a, g.map(Activation::abs, b)}, 1), {2, 1, 0}));
  lab.output(g.pad(a, 1, 2, 3, -1));
  lab.output(g.pad(g.pad(g.map(Activation::square, a), 2, 1, 1, 0), 1, 1, -2, 5));
  lab.output(g.pad(a, 0, -1, -1, 0));
  lab.output(g.reduce(AluOp::add, g.concat({a, b}, 1), {1}));
  const NodeId e = g.map(Activation::exp, a);
  lab.output(e);
  lab.output(g.concat({e, e}, 0));
  lab.check();
}

TEST_CASE("rotary embedding as slices and a concat") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({2, 4, 30, 16}), cos = lab.input({30, 16}), sin = lab.input({30, 16});
  const NodeId half =
      g.concat({g.map(AluOp::multiply, g.slice(x, 3, 8, 16), g.constant(-1, Dtype::float32)), g.slice(x, 3, 0, 8)}, 3);
  lab.output(g.map(AluOp::add, g.map(AluOp::multiply, x, cos), g.map(AluOp::multiply, half, sin)));
  lab.check();
}

TEST_CASE("gather and scatter of rows") {
  for (int64_t n : {1, 5, 128, 300})
    for (Dtype d : {Dtype::float32, Dtype::bfloat16, Dtype::int64}) {
      Lab lab;
      Graph& g = lab.g;
      const NodeId table = lab.input({37, 48}, d), index = g.cast(lab.input({n}, Dtype::int64, 0, 36), Dtype::int32),
                   rows = lab.input({n, 48}, d);
      lab.output(g.gather(table, index));
      lab.output(g.gather(lab.input({40, 3, 5}, d), g.map(AluOp::add, index, g.constant(2, Dtype::int32))));
      if (n <= 37) lab.output(g.scatter(AluOp::bypass, table, index, rows));
      lab.output(g.scatter(AluOp::add, table, index, rows));
      lab.output(g.scatter(AluOp::maximum, table, index, rows));
      lab.check(d == Dtype::bfloat16 ? 0.02 : 1e-6);
    }
}

TEST_CASE("an index out of range stops the Program") {
  Lab lab;
  lab.output(lab.g.gather(lab.input({7, 4}), lab.values({1, 7}, {2}, Dtype::int32)));
  REQUIRE_THROWS_WITH(lab.check(), Catch::Contains("7 of 7 rows"));
}

TEST_CASE("take and put along a dim") {
  const Dims shapes[][2] = {{{5, 7}, {5, 3}}, {{5, 7}, {4, 9}}, {{1, 300}, {1, 200}}, {{130, 6}, {130, 1}}};
  for (const auto& [a, i] : shapes) {
    Lab lab;
    Graph& g = lab.g;
    const NodeId x = lab.input(a), index = lab.input(i, Dtype::int32, 0, static_cast<int>(a[1]) - 1),
                 src = lab.input(i);
    lab.output(g.take(x, index, 1));
    lab.output(g.put(AluOp::add, x, index, src, 1));
    lab.output(g.put(AluOp::bypass, x, index, src, 1));
    lab.check(3e-6);
  }
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({6, 4, 5}), index = lab.input({3, 4, 5}, Dtype::int32, 0, 5);
  lab.output(g.take(x, index, 0));
  lab.output(g.put(AluOp::add, x, index, lab.input({4, 4, 6}), 0));
  lab.check(1e-6);
}

TEST_CASE("scans") {
  const Dims shapes[] = {{1}, {7}, {5000}, {3, 70}, {130, 33}, {2, 3, 2100}};
  for (const Dims& shape : shapes)
    for (int dim = 0; dim < static_cast<int>(shape.size()); ++dim) {
      Lab lab;
      Graph& g = lab.g;
      const NodeId x = lab.input(shape), i = lab.input(shape, Dtype::int64), b = lab.input(shape, Dtype::boolean);
      lab.output(g.scan(AluOp::add, x, dim));
      lab.output(g.scan(AluOp::maximum, x, dim));
      lab.output(g.scan(AluOp::add, i, dim));
      lab.output(g.scan(AluOp::add, g.cast(b, Dtype::int64), dim));
      lab.output(g.scan(AluOp::minimum, i, dim));
      lab.check(1e-5);
    }
}

TEST_CASE("arg_reduce gives the first winner, NaN first") {
  for (const Dims& shape : {Dims{7}, Dims{50, 60}, Dims{3, 5000}, Dims{5000, 2}}) {
    for (int dim = 0; dim < static_cast<int>(shape.size()); ++dim) {
      Lab lab;
      lab.output(lab.g.arg_reduce(AluOp::maximum, lab.input(shape), dim));
      lab.output(lab.g.arg_reduce(AluOp::minimum, lab.input(shape, Dtype::int32, -3, 3), dim));
      lab.check(0);
    }
  }
  Lab lab;
  const NodeId x = lab.values({1, NAN, 3, NAN, 5, 5, -INFINITY, -INFINITY}, {2, 4}, Dtype::float32);
  lab.output(lab.g.arg_reduce(AluOp::maximum, x, 1));
  lab.output(lab.g.arg_reduce(AluOp::minimum, x, 1));
  lab.check(0);
}

TEST_CASE("sorts are stable, in either direction, of any length") {
  const Dims shapes[] = {{1}, {2}, {7}, {128}, {1000}, {5000}, {20000}, {3, 70}, {200, 33}, {2, 3, 40}};
  for (const Dims& shape : shapes)
    for (bool descending : {false, true})
      for (int dim = 0; dim < static_cast<int>(shape.size()); ++dim) {
        Lab lab;
        Graph& g = lab.g;
        const NodeId x = lab.input(shape), i = lab.input(shape, Dtype::int64, -5, 5);
        lab.output(g.sort(x, dim, descending));
        lab.output(g.arg_sort(x, dim, descending));
        lab.output(g.arg_sort(i, dim, descending));
        lab.output(g.sort(i, dim, descending));
        lab.check(0);
      }
}

TEST_CASE("sorts put NaN last and keep equal zeros in order") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.values({3, NAN, -INFINITY, 0, -0.0, INFINITY, -1, 0, NAN, -0.0}, {10}, Dtype::float32);
  for (bool descending : {false, true}) {
    lab.output(g.sort(x, 0, descending));
    lab.output(g.arg_sort(x, 0, descending));
    lab.output(g.arg_sort(g.cast(x, Dtype::bfloat16), 0, descending));
  }
  lab.check(0);
}

namespace {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> k) {
  for (int r = 0; r < 10; ++r) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<uint32_t>(a)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

}  // namespace

TEST_CASE("random bits are Philox4x32-10") {
  // Published test vector: Random123's kat_vectors, all zeros.
  REQUIRE(philox({0, 0, 0, 0}, {0, 0}) == std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  for (int64_t n : {1, 3, 4, 100, 4099, 300000}) {
    Lab lab;
    const double seed[] = {123456789, 4000000000.0, 7, 0};
    const NodeId s = lab.values({seed[0], seed[1], seed[2], seed[3]}, {4}, Dtype::uint32);
    const uint32_t slot = lab.add_slot({n}, Dtype::uint32, SlotUse::output);
    lab.g.output(lab.g.random(s, {n}), slot, {1});
    auto bound = lab.slots;
    lab.run(bound);
    for (int64_t i = 0; i < n; ++i) {
      const auto block = philox({7, 0, static_cast<uint32_t>(i / 4), 0}, {123456789, 4000000000u});
      uint32_t got;
      std::memcpy(&got, bound[slot].data() + 4 * i, 4);
      if (got != block[i % 4]) REQUIRE(got == block[i % 4]);
    }
  }
}

TEST_CASE("transposing copies keep every bit") {
  for (Dtype d : {Dtype::float32, Dtype::bfloat16, Dtype::int32, Dtype::int64, Dtype::uint8})
    for (const Dims& shape : {Dims{40, 50}, Dims{129, 1100}, Dims{3, 20, 300}, Dims{500, 17}}) {
      Lab lab;
      const auto rank = static_cast<int64_t>(shape.size());
      Dims axes(rank);
      std::iota(axes.begin(), axes.end(), 0);
      std::swap(axes[rank - 1], axes[rank - 2]);
      lab.output(lab.g.permute(lab.input(shape, d), axes));
      lab.check(0);
    }
  Lab lab;
  lab.output(lab.g.permute(lab.values({NAN, -0.0, INFINITY}, {3, 1}, Dtype::float32), {1, 0}));
  lab.check(0);
}
