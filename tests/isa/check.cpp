#include <catch2/catch.hpp>

#include "isa/examples.h"
#include "isa/isa.h"

using namespace trn;
using Catch::Contains;

namespace {

// load -> copy -> store, synchronised by semaphores 0 and 1.
Program small() {
  Program p;
  p.name = "small";
  p.slots = {{.name = "in", .use = SlotUse::input, .bytes = 128 * 64 * 4},
             {.name = "out", .use = SlotUse::output, .bytes = 128 * 64 * 4}};
  p.waits = {{0, 1}, {1, 1}};
  const auto add = [&]<class C>(std::type_identity<C>, Engine e, const typename C::Args& args, uint16_t update,
                                uint32_t wait, uint8_t waits) {
    Instruction i;
    i.card = card_index<C>;
    i.engine = e;
    i.update = update;
    i.first_wait = wait;
    i.waits = waits;
    i.args = p.push_args(args);
    p.instructions.push_back(i);
  };
  DmaCopy::Args load, store;
  load.dst = example::sbuf(128, 64);
  load.src = example::hbm(128, 64, Dtype::float32, 0);
  store.dst = example::hbm(128, 64, Dtype::float32, 1);
  store.src = example::sbuf(128, 64, Dtype::float32, 512);
  TensorCopy::Args copy;
  copy.dst = example::sbuf(128, 64, Dtype::float32, 512);
  copy.src = example::sbuf(128, 64);
  add(std::type_identity<DmaCopy>{}, Engine::sync, load, 0, 0, 0);
  add(std::type_identity<TensorCopy>{}, Engine::vector, copy, 1, 0, 1);
  add(std::type_identity<DmaCopy>{}, Engine::sync, store, 2, 1, 1);
  return p;
}

std::string complaint(const Program& p) {
  const Verdict v = check(p, trn2());
  return v ? v->rule : "legal";
}

template <class C, class Change>
Program with_args(size_t index, Change change) {
  Program p = small();
  auto args = p.args<C>(p.instructions[index]);
  change(args);
  p.instructions[index].args = p.push_args(args);
  return p;
}

}  // namespace

TEST_CASE("a synchronised Program is legal") {
  CHECK(complaint(small()) == "legal");
  CHECK(complaint(Program{}) == "legal");
}

TEST_CASE("indices that dangle are named with their instruction") {
  const auto broken = [](auto change) {
    Program p = small();
    change(p);
    return complaint(p);
  };
  CHECK_THAT(broken([](Program& p) { p.cores = 3; }), Contains("1 or 2 physical cores"));
  CHECK_THAT(broken([](Program& p) { p.instructions[1].card = 999; }),
             Contains("no card number 999") && Contains("instruction 1"));
  CHECK_THAT(broken([](Program& p) { p.instructions[1].engine = static_cast<Engine>(9); }),
             Contains("no engine number 9"));
  CHECK_THAT(broken([](Program& p) { p.instructions[1].engine = Engine::tensor; }),
             Contains("does not run on the tensor engine"));
  CHECK_THAT(broken([](Program& p) { p.instructions[1].core = 1; }), Contains("core 1 of a Program for 1"));
  CHECK_THAT(broken([](Program& p) { p.instructions[0].queue = 16; }), Contains("no DMA queue 16"));
  CHECK_THAT(broken([](Program& p) { p.instructions[2].args = 1u << 30; }),
             Contains("arguments lie outside") && Contains("(dma_copy)"));
  CHECK_THAT(broken([](Program& p) { p.words.resize(p.words.size() - 1); }), Contains("arguments lie outside"));
  CHECK_THAT(broken([](Program& p) { p.instructions[2].waits = 200; }), Contains("waits lie outside"));
  CHECK_THAT(broken([](Program& p) { p.instructions[2].source = 5; }), Contains("source 5"));
  CHECK_THAT(broken([](Program& p) { p.instructions[2].update = 60000; }), Contains("semaphore 60000"));
  CHECK_THAT(broken([](Program& p) { p.waits[0].semaphore = 60000; }), Contains("semaphore 60000"));
  CHECK_THAT(broken([](Program& p) { p.slots[0].bytes = -1; }), Contains("slot in has a negative size"));
  CHECK_THAT(broken([](Program& p) { p.slots[0].use = SlotUse::constant; }),
             Contains("outside the Program's 0 bytes of constants"));
}

TEST_CASE("waits must be met by earlier instructions") {
  Program p = small();
  p.waits[0].value = 2;
  CHECK_THAT(complaint(p), Contains("waits for semaphore 0 >= 2, but earlier instructions bring it to 1"));
  p = small();
  std::swap(p.instructions[0], p.instructions[1]);
  CHECK_THAT(complaint(p), Contains("bring it to 0"));
}

TEST_CASE("operands outside their memories are refused") {
  CHECK_THAT(complaint(with_args<DmaCopy>(0, [](auto& a) { a.src.offset = 4; })),
             Contains("of slot in, which has 32768"));
  CHECK_THAT(complaint(with_args<DmaCopy>(0, [](auto& a) { a.src.dims[0].step = -64; })), Contains("of slot in"));
  CHECK_THAT(complaint(with_args<DmaCopy>(0, [](auto& a) { a.src.buffer = 7; })), Contains("slot 7 of 2"));
  CHECK_THAT(complaint(with_args<DmaCopy>(2, [](auto& a) { a.dst.buffer = 0; })),
             Contains("slot in is an input and cannot be written"));
  CHECK_THAT(complaint(with_args<TensorCopy>(1, [](auto& a) { a.src.offset = 229300; })),
             Contains("sbuf partition, which has 229376"));
  CHECK_THAT(complaint(with_args<TensorCopy>(1, [](auto& a) { a.src.partition = 1; })),
             Contains("partitions 1 to 128 of 128"));
  CHECK_THAT(complaint(with_args<TensorCopy>(1, [](auto& a) { a.src.dims[1].count = 0; })), Contains("empty dim"));
  CHECK_THAT(complaint(with_args<TensorCopy>(1,
                                             [](auto& a) {
                                               a.src.dims[1] = {INT32_MAX, INT32_MAX};
                                             })),
             Contains("does not fit any memory"));
}

TEST_CASE("values that no enum has are refused before anything looks at them") {
  CHECK_THAT(complaint(with_args<TensorCopy>(1, [](auto& a) { a.src.dtype = static_cast<Dtype>(200); })),
             Contains("field src"));
  CHECK_THAT(complaint(with_args<TensorCopy>(1, [](auto& a) { a.src.space = static_cast<Space>(9); })),
             Contains("field src"));
  CHECK_THAT(complaint(with_args<TensorCopy>(1, [](auto& a) { a.dst.ndim = 77; })), Contains("field dst"));
  Program p = small();
  auto* bytes = reinterpret_cast<unsigned char*>(&p.words[p.instructions[0].args]);
  bytes[offsetof(DmaCopy::Args, index_selects_dst)] = 77;
  CHECK_THAT(complaint(p), Contains("field index_selects_dst"));
}

TEST_CASE("a card's own rule is passed on with the instruction's place") {
  Program p = with_args<TensorCopy>(1, [](auto& a) { a.src.dims[1].count = 32; });
  p.sources.emplace_back("aten::copy_ model.py:12");
  p.instructions[1].source = 1;
  const std::string text = complaint(p);
  CHECK_THAT(text, Contains("instruction 1 (tensor_copy) from aten::copy_ model.py:12"));
}

TEST_CASE("cards are found by name") {
  for (const CardRow& r : isa()) CHECK(card_named(r.name) == &r);
  CHECK(card_named("no_such_instruction") == nullptr);
}

TEST_CASE("the accesses of an instruction are its operands in memory") {
  const Program p = small();
  const AccessList list = accesses(p, p.instructions[1]);
  REQUIRE(list.count == 2);
  CHECK((list.written[0] && !list.written[1]));
  CHECK(*list.access[0] == p.args<TensorCopy>(p.instructions[1]).dst);
}
