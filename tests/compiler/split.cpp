#include "backend/compiler/split.h"

#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;
using compiler::Kernel;
using compiler::Plan;

namespace {

// x / rms(x) in float32, rounded, times a weight in the operands' own dtype: Llama's norm.
NodeId rms_norm(Graph& g, NodeId x, NodeId weight) {
  const NodeId wide = g.cast(x, Dtype::float32);
  const NodeId sum = g.reduce(AluOp::add, g.map(AluOp::multiply, wide, wide), {1});
  const NodeId norm = g.cast(g.map(AluOp::multiply, wide, g.map(Activation::rsqrt, sum)), Dtype::bfloat16);
  const NodeId scaled = g.map(AluOp::multiply, g.cast(weight, Dtype::float32), g.cast(norm, Dtype::float32));
  return g.cast(scaled, Dtype::bfloat16);
}

std::vector<Dtype> scratches(const Plan& p) {
  std::vector<Dtype> found;
  for (const Slot& s : p.graph.slots)
    if (s.use == SlotUse::scratch) found.push_back(s.dtype);
  return found;
}

}  // namespace

TEST_CASE("a norm with casts is one kernel") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({256, 64}, Dtype::bfloat16), w = lab.input({64}, Dtype::bfloat16);
  lab.output(g.matmul(rms_norm(g, x, w), lab.input({64, 32}, Dtype::bfloat16), Dtype::float32));
  const Plan plan = compiler::split(g);
  CHECK(plan.kernels.size() == 2);
  CHECK(scratches(plan) == std::vector{Dtype::bfloat16});
  lab.check(0.01);
}

TEST_CASE("what kernels share stays narrow between them") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({128, 64}, Dtype::bfloat16), w = lab.input({64, 64}, Dtype::bfloat16);
  const NodeId product = g.cast(g.matmul(x, w, Dtype::bfloat16), Dtype::float32);
  const NodeId cosine = g.cast(lab.input({128, 1}, Dtype::bfloat16), Dtype::float32);
  lab.output(g.map(AluOp::multiply, product, cosine));
  lab.output(g.reduce(AluOp::add, g.map(AluOp::multiply, product, product), {1}));
  const Plan plan = compiler::split(g);
  CHECK(plan.kernels.size() == 2);  // the product and what is multiplied with it; the sum with its squares
  CHECK(scratches(plan) == std::vector{Dtype::bfloat16});
  lab.check(0.01);
}

TEST_CASE("a widened value that memory shall hold is stored wide") {
  Lab lab;
  Graph& g = lab.g;
  const NodeId x = lab.input({64, 32}, Dtype::bfloat16);
  const NodeId wide = g.cast(x, Dtype::float32);
  lab.output(wide);
  lab.output(g.matmul(wide, lab.input({32, 16}), Dtype::float32));
  lab.output(g.reshape(g.permute(wide, {1, 0}), {2048}));
  lab.check();
}

TEST_CASE("a widened input is what its slot held before the Program") {
  Lab lab;
  Graph& g = lab.g;
  const auto slot = lab.add_slot({64, 32}, Dtype::bfloat16, SlotUse::inout);
  for (size_t i = 0; i < 64 * 32; ++i) Lab::write(lab.slots[slot], Dtype::bfloat16, i, static_cast<double>(i % 7));
  const NodeId x = g.input(slot, Dtype::bfloat16, {64, 32}, {32, 1});
  const NodeId wide = g.cast(x, Dtype::float32);
  const NodeId sum = g.reduce(AluOp::add, wide, {0});
  g.output(g.cast(g.map(AluOp::add, wide, g.constant(1, Dtype::float32)), Dtype::bfloat16), slot, {32, 1});
  lab.output(g.map(AluOp::subtract, wide, sum));
  lab.check();
}
