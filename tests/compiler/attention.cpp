#include "backend/compiler/split.h"
#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;

namespace {

struct Shapes {
  Dims q, k, v;
};

// Result and sums from one kernel; `bias`: its shape, if there is one.
void attend(const Shapes& s, Dtype d, bool causal, const Dims& bias = {}) {
  Lab lab;
  Graph& g = lab.g;
  std::vector<NodeId> operands{lab.input(s.q, d), lab.input(s.k, d), lab.input(s.v, d)};
  if (!bias.empty()) operands.push_back(lab.input(bias));
  const double scale = 1 / std::sqrt(static_cast<double>(s.q.back()));
  lab.output(g.attention(Op::attention, operands, scale, causal));
  lab.output(g.attention(Op::attention_log_sum, operands, scale, causal));
  lab.check(d == Dtype::float32 ? 3e-6 : 0.01);
}

Shapes self(Dims batch, int64_t queries, int64_t keys, int64_t width, int64_t value_width) {
  Shapes s{batch, batch, batch};
  for (const int64_t n : {queries, width}) s.q.push_back(n);
  for (const int64_t n : {keys, width}) s.k.push_back(n);
  for (const int64_t n : {keys, value_width}) s.v.push_back(n);
  return s;
}

}  // namespace

TEST_CASE("attention of many sizes") {
  for (const Dtype d : {Dtype::float32, Dtype::bfloat16})
    for (const bool causal : {false, true}) {
      attend(self({2}, 128, 128, 64, 64), d, causal);
      attend(self({}, 200, 70, 24, 40), d, causal);
      attend(self({1, 2}, 70, 300, 33, 17), d, causal);
      attend(self({1}, 3, 5, 1, 1), d, causal);
    }
  attend(self({}, 140, 140, 64, 64), Dtype::float16, true);
}

TEST_CASE("short heads side by side") {
  for (const Dtype d : {Dtype::float32, Dtype::bfloat16})
    for (const bool causal : {false, true}) {
      attend(self({3, 5}, 64, 64, 32, 32), d, causal);        // two heads a stack, one left over; four share k
      attend(self({2, 9}, 32, 128, 64, 40), d, causal);       // four heads a stack
      attend(self({2, 1, 3, 1}, 50, 50, 48, 20), d, causal);  // one head a stack
    }
  attend(self({2, 40}, 64, 64, 64, 64), Dtype::float32, false);  // more heads than a bank holds
  attend(self({4}, 127, 33, 128, 512), Dtype::float16, true);
}

TEST_CASE("short heads with a bias") {
  attend(self({2, 6}, 64, 64, 32, 32), Dtype::float32, false, {2, 1, 64, 64});
  attend(self({2, 5}, 64, 32, 32, 32), Dtype::float32, false, {2, 5, 64, 32});
  attend(self({2, 6}, 64, 64, 32, 32), Dtype::bfloat16, true, {1, 64});
  attend(self({3}, 20, 30, 8, 8), Dtype::float32, false, {20, 30});
}

TEST_CASE("attention over more keys than a chunk of scores holds") {
  attend(self({}, 150, 1100, 16, 16), Dtype::float32, false);
  attend(self({}, 1200, 1200, 16, 16), Dtype::float32, true);
  attend(self({}, 130, 2500, 16, 16), Dtype::bfloat16, false, {130, 2500});
}

TEST_CASE("attention with wide heads, and with keys that do not stay on chip") {
  attend(self({}, 140, 140, 200, 600), Dtype::float32, true);
  attend(self({}, 10, 3000, 256, 700), Dtype::float32, false);
}

TEST_CASE("queries that share keys, and a bias that many share") {
  attend({{2, 2, 3, 130, 16}, {2, 2, 1, 140, 16}, {2, 2, 1, 140, 16}}, Dtype::float32, true);
  attend({{2, 2, 3, 130, 16}, {2, 2, 1, 140, 16}, {2, 2, 1, 140, 16}}, Dtype::float32, false, {2, 1, 1, 130, 140});
  attend({{3, 130, 16}, {140, 16}, {140, 16}}, Dtype::bfloat16, false, {130, 140});
  attend(self({2}, 130, 20, 16, 16), Dtype::float32, false, {130, 1});
}

TEST_CASE("a query that may see nothing attends to nothing") {
  for (const int64_t queries : {130, 64}) {
    Lab lab;
    Graph& g = lab.g;
    std::vector<double> bias(queries * 20, 0);
    for (int64_t k = 0; k < 20; ++k) bias[7 * 20 + k] = -INFINITY;
    bias[8 * 20 + 3] = -INFINITY;
    const NodeId mask = lab.values(bias, {queries, 20}, Dtype::float32);
    const auto heads = [&](int64_t rows) { return lab.input({2, rows, 16}); };
    const std::vector<NodeId> operands{heads(queries), heads(20), heads(20), mask};
    lab.output(g.attention(Op::attention, operands, 0.25, false));
    lab.output(g.attention(Op::attention_log_sum, operands, 0.25, false));
    lab.check(3e-6);
  }
}

TEST_CASE("heads are read from and written into one row, and no copy is made of them") {
  Lab lab;
  Graph& g = lab.g;
  const auto heads = [&] { return g.permute(g.reshape(lab.input({128, 64}), {128, 4, 16}), {1, 0, 2}); };
  const NodeId out = g.attention(Op::attention, {heads(), heads(), heads()}, 0.25, true);
  lab.output(g.matmul(g.reshape(g.permute(out, {1, 0, 2}), {128, 64}), lab.input({64, 32}), Dtype::float32));
  const compiler::Plan plan = compiler::split(g);
  CHECK(plan.kernels.size() == 2);
  lab.check(3e-6);
}

TEST_CASE("attention that makes no sense is refused") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId q = lab.input({4, 8}), k = lab.input({6, 8}), narrow = lab.input({6, 7}),
               half = lab.input({6, 8}, Dtype::float16);
  const auto fails = [&](std::vector<NodeId> operands, double scale, const std::string& why) {
    REQUIRE_THROWS_WITH(g.attention(Op::attention, std::move(operands), scale, false), Catch::Contains(why));
  };
  fails({q, k}, 1, "operands are q, k, v");
  fails({q, narrow, k}, 1, "contraction sizes differ");
  fails({q, k, q}, 1, "keys and values differ in number");
  fails({q, k, half}, 1, "different dtypes");
  fails({q, k, k}, 0, "scale is not a positive number");
  fails({q, k, k, lab.input({4, 5})}, 1, "bias does not broadcast");
  fails({q, k, k, lab.input({4, 6}, Dtype::float16)}, 1, "bias is not float32");
}
