// Registers, loops and branches in Programs: what links, what is refused, in which order instructions are issued.
#include <algorithm>
#include <catch2/catch.hpp>

#include "isa/assembly.h"
#include "isa/canonical.h"
#include "isa/container.h"
#include "isa/isa.h"
#include "isa/unroll.h"
#include "isa/walk.h"

using namespace trn;
using Catch::Contains;

namespace {

Program program(std::string_view lines) {
  return from_assembly(
      "program \"p\" target \"trn2\" cores 2\n"
      "slot 0 inout \"x\" int32 4096 [1024]\n" +
      std::string(lines));
}

std::string complaint(std::string_view lines) {
  const Verdict v = check(program(lines), trn2());
  return v ? v->rule : "legal";
}

// The order in which instructions are issued, as "0 3 3 1".
std::string order(std::string_view lines, Loads loads = {}) {
  struct Seen : Walker {
    std::string text;
    void issue(uint32_t, uint32_t index, const void*, std::span<const Wait>) override {
      text += (text.empty() ? "" : " ") + std::to_string(index);
    }
    void meet(const Side& a, const Side& b) override {
      text += " " + std::to_string(a.index) + "+" + std::to_string(b.index);
    }
  } seen;
  const Program p = program(lines);
  Walk(p, trn2(), seen, loads, {}).run();
  return seen.text;
}

std::string failure(std::string_view lines, uint64_t most_steps, Loads loads = {}) {
  struct Nobody : Walker {
    void issue(uint32_t, uint32_t, const void*, std::span<const Wait>) override {}
    void meet(const Side&, const Side&) override {}
  } nobody;
  const Program p = program(lines);
  try {
    Walk(p, trn2(), nobody, loads, {.most_steps = most_steps}).run();
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

constexpr std::string_view kNested = R"(
c0.vector loop counter=r0 stop=2
c0.vector loop counter=r1 start=5 stop=8 step=2
c0.vector register_alu dst=r2 operand0=r0 operand1=r1
c0.vector end_loop
c0.vector end_loop
)";

}  // namespace

TEST_CASE("control cards have a text and a file") {
  const Program p = program(R"(
c0.sync register_alloc dst=r0 x=7
c0.sync register_move dst=r1 src=r0
c0.sync register_alu dst=r63 op=multiply operand0=r1 operand1=-3
c0.sync loop counter=r2 start=r0 stop=100 step=4
c0.sync register_load dst=r3 src=hbm.int32@s0+0[1x1,8xr2] wait=s0>=1+255*r2,s1>=3
c0.sync compare_branch cmp_op=less cmp0=r3 cmp1=9 label_id=-4
c0.sync register_store dst=hbm.int32@s0+4[-1xr2,1x1] src=r3
c0.sync label label_id=-4
c0.sync end_loop post=s3
c0.sync core_barrier data=hbm.int32@s0+0[1x1024] id=9
)");
  REQUIRE(p.instructions.size() == 10);
  CHECK(p.args<RegisterLoad>(p.instructions[4]).src.dims[1] == Dim::dynamic(2, 8));
  CHECK(p.waits_of(p.instructions[4])[0] == Wait(0, 1, 2, 255));
  const std::string text = to_assembly(p);
  CHECK(identical(from_assembly(text), p));
  CHECK(to_assembly(from_assembly(text)) == text);
  CHECK(identical(from_container(to_container(p)), p));
}

TEST_CASE("instructions stay small") {
  CHECK(sizeof(Instruction) <= 32);
  CHECK(sizeof(Wait) == 8);
  CHECK(sizeof(Access) == 56);
}

TEST_CASE("loops count, nest and skip") {
  CHECK(order(kNested) == "0 1 2 3 2 3 4 1 2 3 2 3 4");
  CHECK(order("c0.vector loop counter=r0 start=3 stop=3\nc0.vector label\nc0.vector end_loop\nc0.vector label "
              "label_id=1") == "0 3");
  // int32's end is no loop's end.
  CHECK(order("c0.vector loop counter=r0 start=2147483640 stop=2147483647 step=5\nc0.vector end_loop") == "0 1 1");
  CHECK(order("c0.vector loop counter=r0 start=-2147483648 stop=-2147483647\nc0.vector end_loop") == "0 1");
}

TEST_CASE("branches skip and repeat") {
  CHECK(order("c0.sync compare_branch label_id=1\nc0.sync label\nc0.sync label label_id=1") == "0 2");
  CHECK(order(R"(
c0.sync register_alloc dst=r0 x=3
c0.sync label
c0.sync register_alu dst=r0 op=subtract operand0=r0 operand1=1
c0.sync compare_branch cmp_op=greater cmp0=r0 label_id=0
c0.sync label label_id=1
)") == "0 1 2 3 1 2 3 1 2 3 4");
  for (const auto& [op, taken] : {std::pair{"less", true},
                                  {"less_equal", true},
                                  {"greater", false},
                                  {"greater_equal", false},
                                  {"equal", false},
                                  {"not_equal", true}})
    CHECK(order("c0.sync compare_branch cmp_op=" + std::string(op) +
                " cmp0=-1 cmp1=1 label_id=1\nc0.sync label\nc0.sync label label_id=1") == (taken ? "0 2" : "0 1 2"));
}

TEST_CASE("waits move with registers and order the engines") {
  CHECK(order(R"(
c0.sync loop counter=r0 stop=3
c0.sync label wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.vector loop counter=r0 stop=3
c0.vector label wait=s0>=1+1*r0 post=s1
c0.vector end_loop
)") == "3 0 1 2 4 5 1 2 4 5 1 2 4 5");
  // Two posts an iteration.
  CHECK(order(R"(
c0.sync loop counter=r0 stop=2
c0.sync label label_id=0 post=s0
c0.sync label label_id=1 wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.vector loop counter=r0 stop=2
c0.vector label wait=s0>=2+2*r0 post=s1
c0.vector end_loop
)") == "4 0 1 2 3 1 5 6 2 3 5 6");
}

TEST_CASE("words that are loaded decide") {
  constexpr std::string_view text = R"(
c0.scalar register_load dst=r0 src=hbm.int32@s0+0[1x1]
c0.scalar loop counter=r1 stop=r0
c0.scalar end_loop
)";
  Loads loads;
  loads.of_stream.resize(10);
  loads.of_stream[static_cast<size_t>(Engine::scalar)] = {2};
  CHECK(order(text, loads) == "0 1 2 2");
  CHECK_THAT(failure(text, 100), Contains("unmodelled") && Contains("register_load") && Contains("instruction 1"));
  CHECK(complaint(text) == "legal");  // nothing can be said without data
}

TEST_CASE("a Program that does not link is refused") {
  CHECK_THAT(complaint("c0.sync loop counter=r0 stop=2"), Contains("no end_loop"));
  CHECK_THAT(complaint("c0.sync end_loop"), Contains("no loop to end"));
  CHECK_THAT(complaint("c0.sync loop counter=r0 stop=2\nc0.vector end_loop"),
             Contains("no loop to end") || Contains("no end_loop"));
  CHECK_THAT(complaint("c0.sync compare_branch label_id=3"), Contains("there is no label 3"));
  CHECK_THAT(complaint("c0.sync compare_branch\nc1.sync label"), Contains("there is no label 0"));
  CHECK_THAT(complaint("c0.sync label\nc0.sync label"), Contains("given twice"));
  CHECK_THAT(complaint("c0.sync compare_branch\nc0.sync loop counter=r0 stop=2\nc0.sync label\nc0.sync end_loop"),
             Contains("enter or leave a loop"));
  CHECK_THAT(complaint("c0.sync loop counter=r0 stop=2\nc0.sync register_alloc dst=r0 x=1\nc0.sync end_loop"),
             Contains("r0") && Contains("read-only"));
  CHECK_THAT(complaint("c0.sync loop counter=r0 stop=2\nc0.sync loop counter=r0 stop=2\nc0.sync end_loop\nc0.sync "
                       "end_loop"),
             Contains("read-only"));
  std::string deep;
  for (int i = 0; i < 17; ++i) deep += "c0.sync loop counter=r" + std::to_string(i) + " stop=1\n";
  for (int i = 0; i < 17; ++i) deep += "c0.sync end_loop\n";
  CHECK_THAT(complaint(deep), Contains("more than 16 loops"));
  CHECK(complaint(kNested) == "legal");
}

TEST_CASE("registers that nothing set are not read") {
  CHECK_THAT(complaint("c0.sync register_move dst=r1 src=r0"), Contains("register r0 is read before anything sets it"));
  CHECK_THAT(complaint("c0.vector register_alloc dst=r0 x=1\nc0.sync register_move dst=r1 src=r0"),
             Contains("r0 is read before"));  // another engine's
  CHECK_THAT(complaint("c0.vector memset dst=sbuf.int32@p0+0[1x1,4xr0,1x1]"), Contains("no instruction sets"));
  CHECK_THAT(complaint("c0.vector memset dst=sbuf.int32@p0+0[1x1,1x1] wait=s0>=0+1*r0"),
             Contains("no instruction sets"));
}

TEST_CASE("what registers address is judged as far as it is known") {
  const auto stores = [](int count) {
    return "c0.sync register_alloc dst=r5 x=1\nc0.sync loop counter=r0 stop=" + std::to_string(count) +
           "\nc0.sync register_store dst=hbm.int32@s0+0[1x1,1xr0] src=r5\nc0.sync end_loop";
  };
  CHECK(complaint(stores(1024)) == "legal");
  CHECK_THAT(complaint(stores(1025)), Contains(std::string(kIndexOutOfBounds)) && Contains("[4096,4100) of slot x"));
  // From the end backwards, and from 1: the place for r0 = 0 is outside, no place that is used is.
  CHECK(complaint("c0.sync register_alloc dst=r5 x=1\nc0.sync loop counter=r0 start=1 stop=1025\n"
                  "c0.sync register_store dst=hbm.int32@s0+-4[1x1,1xr0] src=r5\nc0.sync end_loop") == "legal");
  CHECK_THAT(complaint("c0.sync memset dst=sbuf.int32@p0+0[1x1,1x1]\nc0.sync label"), Contains("does not run on"));
}

TEST_CASE("deadlocks and endless loops are told") {
  CHECK_THAT(
      complaint("c0.sync label wait=s0>=1\nc0.vector label wait=s1>=2 post=s0\nc0.sync label label_id=1 post=s1"),
      Contains("deadlock") && Contains("S[0]>=1 (is 0)") && Contains("S[1]>=2 (is 0)"));
  CHECK_THAT(complaint("c0.sync core_barrier data=hbm.int32@s0+0[1x4]"),
             Contains("deadlock") && Contains("other core"));
  constexpr std::string_view forever = "c0.sync label\nc0.sync compare_branch label_id=0";
  CHECK(complaint(forever) == "legal");  // it is given up after a bounded number of steps
  CHECK_THAT(failure(forever, 1000), Contains("more than 1000 instructions") && Contains("sync"));
}

TEST_CASE("cores meet in order") {
  constexpr std::string_view text = R"(
c0.gpsimd core_barrier data=hbm.int32@s0+0[1x4]
c0.gpsimd core_barrier data=hbm.int32@s0+0[1x4]
c1.gpsimd label
c1.gpsimd core_barrier data=hbm.int32@s0+0[1x4]
c1.vector label wait=s0>=1
c1.gpsimd core_barrier data=hbm.int32@s0+0[1x4] post=s0
)";
  CHECK(complaint(text) == "legal");
  CHECK(order(text) == "2 0+3 1+5 4");
  CHECK_THAT(complaint("c0.gpsimd core_barrier data=hbm.int32@s0+0[1x4] id=1\nc1.gpsimd core_barrier "
                       "data=hbm.int32@s0+0[1x4] id=2"),
             Contains("deadlock"));
  Program alone = program("c0.gpsimd core_barrier data=hbm.int32@s0+0[1x4]");
  alone.cores = 1;
  CHECK_THAT(check(alone, trn2())->rule, Contains("LNC 2"));
}

TEST_CASE("a run unrolls into a straight line that is legal by itself") {
  const Program p = program(R"(
c0.sync loop counter=r0 stop=3
c0.sync register_load dst=r1 src=hbm.int32@s0+0[1x1,4xr0] wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.vector loop counter=r0 stop=3
c0.vector label wait=s0>=1+1*r0 post=s1
c0.vector end_loop
c0.gpsimd core_barrier data=hbm.int32@s0+0[1x4]
c1.gpsimd core_barrier data=hbm.int32@s0+0[1x4]
)");
  const Unrolled u = unroll(p, trn2(), {});
  REQUIRE(u.origin.size() == u.program.instructions.size());
  // 7 of each loop; a barrier is an arrival and itself.
  CHECK(u.program.instructions.size() == 7 + 7 + 4);
  CHECK(std::count(u.added.begin(), u.added.end(), true) == 2);
  std::vector<uint64_t> semaphores(16);
  std::vector<int64_t> offsets;
  for (const Instruction& i : u.program.instructions) {
    for (const Wait& w : u.program.waits_of(i)) {
      CHECK_FALSE(w.is_dynamic());
      CHECK(semaphores.at(w.semaphore) >= w.value);
    }
    if (i.update != Instruction::kNoUpdate) ++semaphores.at(i.update);
    if (row(i).name == "register_load") offsets.push_back(u.program.args<RegisterLoad>(i).src.offset);
  }
  CHECK(offsets == std::vector<int64_t>{0, 16, 32});
  CHECK_THROWS_WITH(unroll(p, trn2(), {}, 5), Contains("more than 5 instructions"));
}

TEST_CASE("the beginning of a run has its share of every engine") {
  const Program p = program(R"(
c0.sync loop counter=r0 stop=1000000
c0.sync label wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.vector loop counter=r0 stop=1000000
c0.vector label label_id=1 post=s1
c0.vector end_loop
)");
  const Unrolled u = unroll_beginning(p, trn2(), {}, 1000);
  CHECK(u.program.instructions.size() == 1000);
  for (const Engine e : {Engine::sync, Engine::vector})
    CHECK(std::count_if(u.program.instructions.begin(), u.program.instructions.end(),
                        [&](const Instruction& i) { return i.engine == e; }) >= 400);
}

TEST_CASE("a stand-in decides where a word is not known, and places nothing") {
  const Program p = program(R"(
c0.sync register_load dst=r1 src=hbm.int32@s0+0[1x1]
c0.sync loop counter=r0 stop=r1
c0.sync register_load dst=r2 src=hbm.int32@s0+0[1x1,4xr0]
c0.sync register_store dst=hbm.int32@s0+0[1x1,4xr1] src=r0
c0.sync end_loop
)");
  CHECK_THROWS_WITH(unroll(p, trn2(), {}), Contains("unmodelled"));
  for (const int n : {0, 1, 3}) {
    const Unrolled u = unroll(p, trn2(), {.of_stream = {}, .stand_in = n});
    CHECK(u.program.instructions.size() == static_cast<size_t>(2 + 3 * n));
    for (size_t i = 0; i < u.origin.size(); ++i) CHECK(u.placed_by_data[i] == (u.origin[i] == 3));
  }
}

TEST_CASE("waits that nothing is left to meet are told from a circle") {
  CHECK(check(program("c0.sync label wait=s0>=2\nc0.vector label post=s0"), trn2())->kind ==
        RuleKind::semaphore_underflow);
  CHECK(check(program("c0.sync label wait=s0>=1 post=s1\nc0.vector label wait=s1>=1 post=s0"), trn2())->kind ==
        RuleKind::deadlock);
}
