#include "tests/compiler/lab.h"

using namespace trn;
using namespace trn::test;

namespace {

// Bytes that plain transfers move between HBM scratch and SBUF.
int64_t scratch_bytes(const Program& p) {
  int64_t bytes = 0;
  for (const Instruction& i : p.instructions) {
    if (!row(i).is_dma) continue;
    const AccessList list = accesses(p, i);
    for (int k = 0; k < list.count; ++k)
      if (const Access& a = *list.access[k]; a.space == Space::hbm && p.slots[a.buffer].use == SlotUse::scratch)
        bytes += a.bytes();
  }
  return bytes;
}

NodeId normalised(Graph& g, NodeId x) {
  const int64_t n = g[x].shape.back(), axis = static_cast<int64_t>(g[x].shape.size()) - 1;
  const NodeId over = g.constant(1.0 / static_cast<double>(n), Dtype::float32);
  const NodeId mean = g.map(AluOp::multiply, g.reduce(AluOp::add, g.map(AluOp::multiply, x, x), {axis}), over);
  return g.map(AluOp::multiply, x, g.map(Activation::rsqrt, g.map(AluOp::add, mean, g.constant(1e-5, Dtype::float32))));
}

}  // namespace

TEST_CASE("what a norm gives to a product stays on chip") {
  Lab lab;
  const NodeId x = lab.input({256, 384}), w = lab.input({384, 256});
  lab.output(lab.g.matmul(normalised(lab.g, x), w, Dtype::float32));
  lab.check(1e-5);
  auto slots = lab.slots;
  REQUIRE(scratch_bytes(lab.run(slots)) == 0);
}

TEST_CASE("tiles of a product become parts of a row") {
  Lab lab;
  const NodeId x = lab.input({256, 128}), w = lab.input({128, 1536});
  lab.output(normalised(lab.g, lab.g.matmul(x, w, Dtype::float32)));
  lab.check(1e-5);
  auto slots = lab.slots;
  REQUIRE(scratch_bytes(lab.run(slots)) == 0);
}

TEST_CASE("products of one operand turn it once") {
  Lab one, three;
  for (auto& [lab, products] : {std::pair<Lab&, int>{one, 1}, {three, 3}}) {
    const NodeId x = normalised(lab.g, lab.input({256, 384}));
    for (int i = 0; i < products; ++i) lab.output(lab.g.matmul(x, lab.input({384, 128}), Dtype::float32));
    lab.check(1e-5);
  }
  auto a = one.slots, b = three.slots;
  REQUIRE(count_of(three.run(b), "nc_transpose") == count_of(one.run(a), "nc_transpose"));
}

TEST_CASE("a chain of products and norms with residuals") {
  Lab lab;
  NodeId x = lab.input({130, 256});
  for (int i = 0; i < 3; ++i) {
    const NodeId w = lab.input({256, 512}), back = lab.input({512, 256});
    const NodeId up = lab.g.map(Activation::tanh, lab.g.matmul(normalised(lab.g, x), w, Dtype::float32));
    x = lab.g.map(AluOp::add, x, lab.g.matmul(up, back, Dtype::float32));
  }
  lab.output(x);
  lab.check(1e-4);
}

TEST_CASE("what does not fit on chip goes through memory") {
  Lab lab;
  const NodeId x = lab.input({2048, 64}, Dtype::bfloat16), w = lab.input({64, 8192}, Dtype::bfloat16);
  const NodeId wide = lab.g.cast(lab.g.map(Activation::tanh, lab.g.matmul(x, w, Dtype::float32)), Dtype::bfloat16);
  const NodeId sum = lab.g.reduce(AluOp::add, lab.g.cast(wide, Dtype::float32), {1});
  lab.output(lab.g.map(AluOp::multiply, lab.g.cast(wide, Dtype::float32), sum));
  lab.check(3e-2);
}

TEST_CASE("a value that is overwritten in its slot is read before") {
  Lab lab;
  const auto slot = lab.add_slot({256, 64}, Dtype::float32, SlotUse::inout);
  for (size_t i = 0; i < 256 * 64; ++i) Lab::write(lab.slots[slot], Dtype::float32, i, static_cast<double>(i % 7) - 3);
  const NodeId x = lab.g.input(slot, Dtype::float32, {256, 64}, {64, 1});
  const NodeId w = lab.input({64, 64});
  const NodeId y = lab.g.matmul(normalised(lab.g, x), w, Dtype::float32);
  lab.output(lab.g.map(AluOp::add, x, y));
  lab.g.output(y, slot, {64, 1});
  lab.check(1e-5);
}
