#include "isa/assembly.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "isa/canonical.h"
#include "tests/isa/every_card.h"

using namespace trn;

namespace {

std::string error_of(std::string_view text) {
  try {
    from_assembly(text);
  } catch (const Error& e) {
    CHECK(e.fault() == Fault::illegal);
    return e.what();
  }
  return "";
}

constexpr std::string_view kProgram = "program \"p\" target \"trn2\" cores 1\n";

std::string error_after_program(std::string_view line) { return error_of(std::string(kProgram) + std::string(line)); }

}  // namespace

TEST_CASE("text and Program give each other back") {
  const Program p = test::every_card();
  const std::string text = to_assembly(p);
  const Program back = from_assembly(text);
  CHECK(identical(back, canonical(p)));
  CHECK(to_assembly(back) == text);
}

TEST_CASE("an empty Program has a text") {
  const Program p;
  CHECK(identical(from_assembly(to_assembly(p)), p));
}

TEST_CASE("a line reads as its documentation says") {
  const Program p = from_assembly(R"(
; a comment
program "add" target "trn2" cores 1
slot 0 input "a" float32 16384 [64,64]
bytes 00ff 7f
source 1 "aten::add.Tensor" ; after it
c0.vector tensor_tensor dst=sbuf.float32@p3+512[1x128,2x64] data1=psum.float32@p0+0[1x128,1x64] op=multiply wait=s0>=1,s7>=20 post=s1 from=1
c1.sync dma_copy dst=hbm.bfloat16@s0+8[64x64,1x64] queue=9
)");
  REQUIRE(p.instructions.size() == 2);
  CHECK(p.constants == std::vector<std::byte>{std::byte{0}, std::byte{0xff}, std::byte{0x7f}});
  const Instruction& add = p.instructions[0];
  CHECK(row(add).name == "tensor_tensor");
  CHECK(add.engine == Engine::vector);
  CHECK(add.update == 1);
  CHECK(add.source == 1);
  REQUIRE(add.waits == 2);
  CHECK(p.waits_of(add)[1] == Wait{7, 20});
  const auto args = p.args<TensorTensor>(add);
  CHECK(args.op == AluOp::multiply);
  CHECK(args.dst.partition == 3);
  CHECK(args.dst.offset == 512);
  CHECK(args.dst.ndim == 2);
  CHECK(args.dst.dims[1] == Dim{2, 64});
  CHECK(args.data1.space == Space::psum);
  CHECK(!args.data2.present());
  CHECK(p.instructions[1].core == 1);
  CHECK(p.instructions[1].queue == 9);
  CHECK(p.args<DmaCopy>(p.instructions[1]).dst.dtype == Dtype::bfloat16);
}

TEST_CASE("numbers keep their bits") {
  for (const double v :
       {0.1, -0.0, 1e300, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(), std::bit_cast<double>(uint64_t{0xfff8000000001234})}) {
    Program p;
    Instruction i;
    i.card = card_index<TensorScalar>;
    TensorScalar::Args args{};
    args.operand0.immediate = v;
    i.args = p.push_args(args);
    p.instructions.push_back(i);
    const Program back = from_assembly(to_assembly(p));
    CHECK(std::bit_cast<uint64_t>(back.args<TensorScalar>(back.instructions[0]).operand0.immediate) ==
          std::bit_cast<uint64_t>(v));
  }
}

TEST_CASE("canonical form drops sharing, gaps and what patterns do not use") {
  Program p;
  p.words = {1, 2, 3};
  TensorCopy::Args args{};
  args.dst.dims[3] = {5, 6};
  args.dst.space = Space::sbuf;
  args.dst.ndim = 1;
  args.src.buffer = 7;  // of no space
  Instruction i;
  i.card = card_index<TensorCopy>;
  i.args = p.push_args(args);
  p.instructions = {i, i};
  const Program c = canonical(p);
  CHECK(c.instructions[0].args == 0);
  CHECK(c.instructions[1].args == sizeof(args) / 8);
  CHECK(c.args<TensorCopy>(c.instructions[1]).dst.dims[3] == Dim{});
  CHECK(c.args<TensorCopy>(c.instructions[1]).src == Access{});
  CHECK(identical(canonical(c), c));
}

TEST_CASE("wrong text is refused with its line") {
  CHECK(error_of("").find("no program line") != std::string::npos);
  CHECK(error_of("c0.vector").find("line 1") != std::string::npos);
  CHECK(error_after_program("c0.vector nonsense").find("no instruction named nonsense") != std::string::npos);
  CHECK(error_after_program("\n\nc0.vector nonsense").find("line 4") != std::string::npos);
  CHECK(error_after_program("c0.vectr tensor_copy").find("unknown name 'vectr'") != std::string::npos);
  CHECK(error_after_program("c0.vector tensor_copy dst=sbuf.float32@p0+0[1x1] dst=sbuf.float32@p0+0[1x1]")
            .find("given twice") != std::string::npos);
  CHECK(error_after_program("c0.vector tensor_copy foo=1").find("no argument named foo") != std::string::npos);
  CHECK(error_after_program("c0.vector tensor_copy dst=sbuf.float99@p0+0[1x1]").find("float99") != std::string::npos);
  CHECK(error_after_program("c0.vector tensor_copy dst=sbuf.float32@p300+0[1x1]").find("out of range") !=
        std::string::npos);
  CHECK(error_after_program("c0.vector tensor_copy dst=sbuf.float32@p0+0[1x1,1x1,1x1,1x1,1x1,1x1]")
            .find("at most 5 dims") != std::string::npos);
  CHECK(error_after_program("c0.vector tensor_copy post=s65535").find("no such semaphore") != std::string::npos);
  CHECK(error_after_program("slot 1 input \"a\" float32 4 [1]").find("in order") != std::string::npos);
  CHECK(error_after_program("slot 0 input \"a float32 4 [1]").find("does not end") != std::string::npos);
  CHECK(error_after_program("bytes 0").find("hexadecimal") != std::string::npos);
  CHECK(error_after_program("program \"again\"").find("a line is") != std::string::npos);
}

TEST_CASE("damaged text is refused or means something, and nothing else") {
  const std::string text = to_assembly(test::every_card());
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string s = text.substr(random() % text.size(), 600);
    if (round % 2) s = text.substr(0, 600);
    for (unsigned n = 1 + random() % 3; n > 0; --n) s[random() % s.size()] = static_cast<char>(random() % 256);
    try {
      const Program p = from_assembly(s);
      CHECK(identical(canonical(p), p));
    } catch (const Error& e) {
      CHECK(e.fault() == Fault::illegal);
    }
  }
}
