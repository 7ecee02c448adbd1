// Planted faults in Programs with control flow: loops, branches, and runs that data decides.
#include "tests/sim/planted.h"

using namespace trn;
using namespace trn::test;

namespace {

// Eight tiles through one buffer, placed by the loops' counters.
constexpr std::string_view kPipeline = R"(
c0.sync loop counter=r0 stop=8
c0.sync dma_copy dst=sbuf.float32@p0+0[1x16,1x64] src=hbm.float32@s0+0[64x16,1x64,1024xr0] queue=0 wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.vector loop counter=r0 stop=8
c0.vector tensor_scalar dst=sbuf.float32@p0+256[1x16,1x64] data=sbuf.float32@p0+0[1x16,1x64] op0=add operand0=1 wait=s0>=1+1*r0,s2>=0+1*r0 post=s1
c0.vector end_loop
c0.scalar loop counter=r0 stop=8
c0.scalar dma_copy dst=hbm.float32@s2+0[64x16,1x64,1024xr0] src=sbuf.float32@p0+256[1x16,1x64] queue=1 wait=s1>=1+1*r0 post=s2
c0.scalar end_loop
)";

// A loop inside another, whose results a third engine takes every fourth time.
constexpr std::string_view kNested = R"(
c0.gpsimd memset dst=<A> value=0 post=s9
c0.vector register_alloc dst=r2 x=0
c0.vector loop counter=r0 stop=3
c0.vector loop counter=r1 stop=4
c0.vector tensor_scalar dst=<B> data=<A> op0=add operand0=2 wait=s9>=1,s1>=0+1*r0,s2>=0+1*r2 post=s0
c0.vector register_alu dst=r2 op=add operand0=r2 operand1=1
c0.vector tensor_copy dst=<A> src=<B> wait=s0>=0+1*r2 post=s2
c0.vector end_loop
c0.vector end_loop
c0.scalar loop counter=r0 stop=3
c0.scalar tensor_copy dst=<C> src=<B> wait=s0>=4+4*r0,s3>=0+1*r0 post=s1
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s1>=1+1*r0,s3>=0+1*r0 post=s3
c0.scalar end_loop
)";

// A branch that is always taken.
constexpr std::string_view kBranch = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.vector register_alloc dst=r0 x=1
c0.vector compare_branch cmp_op=equal cmp0=r0 cmp1=1 label_id=3
c0.vector tensor_copy dst=<B> src=<A> wait=s0>=1
c0.vector label label_id=3
c0.vector tensor_copy dst=<C> src=<A> wait=s0>=1 post=s1
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s1>=1
)";

// Rows whose places memory holds, on two engines.
constexpr std::string_view kPlaces = R"(
c0.sync register_load dst=r1 src=hbm.int32@s4+0[1x1]
c0.scalar register_load dst=r1 src=hbm.int32@s4+4[1x1]
c0.sync dma_copy dst=sbuf.float32@p0+0[1x1,1x64] src=hbm.float32@s0+0[64x1,1x64,64xr1] queue=0 post=s0
c0.scalar dma_copy dst=sbuf.float32@p1+0[1x1,1x64] src=hbm.float32@s0+0[64x1,1x64,64xr1] queue=1 post=s1
c0.sync dma_copy dst=hbm.float32@s2+0[64x1,1x64,64xr1] src=sbuf.float32@p0+0[1x1,1x64] queue=0 wait=s0>=1
c0.scalar dma_copy dst=hbm.float32@s2+0[64x1,1x64,64xr1] src=sbuf.float32@p1+0[1x1,1x64] queue=1 wait=s1>=1
)";

// Two tiles a round, each in a buffer of its own.
constexpr std::string_view kPairs = R"(
c0.sync loop counter=r0 stop=8 step=2
c0.sync dma_copy dst=sbuf.float32@p0+0[1x16,1x64] src=hbm.float32@s0+0[64x16,1x64,1024xr0] queue=0 wait=s1>=0+1*r0 post=s0
c0.sync dma_copy dst=sbuf.float32@p0+256[1x16,1x64] src=hbm.float32@s0+4096[64x16,1x64,1024xr0] queue=0 wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.gpsimd loop counter=r0 stop=8 step=2
c0.gpsimd tensor_copy dst=sbuf.float32@p0+512[1x16,1x64] src=sbuf.float32@p0+0[1x16,1x64] wait=s0>=1+1*r0,s2>=0+1*r0 post=s1
c0.gpsimd tensor_copy dst=sbuf.float32@p0+768[1x16,1x64] src=sbuf.float32@p0+256[1x16,1x64] wait=s0>=2+1*r0,s2>=0+1*r0 post=s1
c0.gpsimd end_loop
c0.scalar loop counter=r0 stop=8 step=2
c0.scalar dma_copy dst=hbm.float32@s2+0[64x16,1x64,1024xr0] src=sbuf.float32@p0+512[1x16,1x64] queue=1 wait=s1>=1+1*r0 post=s2
c0.scalar dma_copy dst=hbm.float32@s2+4096[64x16,1x64,1024xr0] src=sbuf.float32@p0+768[1x16,1x64] queue=1 wait=s1>=2+1*r0 post=s2
c0.scalar end_loop
)";

// The pipeline as often as memory says.
std::string counted(std::string text) {
  for (size_t at; (at = text.find("stop=8")) != std::string::npos;) text.replace(at, 6, "stop=r1");
  std::string loads;
  for (const char* engine : {"sync", "vector", "scalar"})
    loads += std::string("\nc0.") + engine + " register_load dst=r1 src=hbm.int32@s4+0[1x1]";
  return loads + text;
}
const std::string kCounted = counted(std::string(kPipeline));

using enum RuleKind;

const Planted kFaults[] = {
    {race,
     "loop store slot overlaps when step is short",
     kPipeline,
     {{"dst=hbm.float32@s2+0[64x16,1x64,1024xr0] src=sbuf.float32@p0+256[1x16,1x64] queue=1 wait=s1>=1+1*r0",
       "dst=hbm.float32@s2+0[64x16,1x64,1024xr0] src=sbuf.float32@p0+256[1x16,1x64] queue=1 wait=s1>=0+1*r0"}}},
    {race, "loop-carried WAR missing on vector", kPipeline, {{",s2>=0+1*r0 post=s1", " post=s1"}}},
    {race, "dynamic trip count, WAR on load", kCounted, {{"queue=0 wait=s1>=0+1*r0 post=s0", "queue=0 post=s0"}}},
    {race, "dynamic trip count, RAW", kCounted, {{"wait=s0>=1+1*r0,s2>=0+1*r0", "wait=s0>=0+1*r0,s2>=0+1*r0"}}},
    {race, "nested: inner own result", kNested, {{"src=<B> wait=s0>=0+1*r2 post=s2", "src=<B> post=s2"}}},
    {race, "nested: outer consumer", kNested, {{"wait=s0>=4+4*r0,", "wait=s0>=3+4*r0,"}}},
    {race, "nested: producer overruns consumer", kNested, {{",s1>=0+1*r0,", ","}}},
    {race, "branch path", kBranch, {{"dst=<C> src=<A> wait=s0>=1 post=s1", "dst=<C> src=<A> post=s1"}}},
    {uninitialised,
     "loop reads tile beyond its load",
     kPipeline,
     {{"data=sbuf.float32@p0+0[1x16,1x64]", "data=sbuf.float32@p0+0[1x32,1x64]"},
      {"dst=sbuf.float32@p0+256[1x16,1x64] data", "dst=sbuf.float32@p0+256[1x32,1x64] data"}}},
    {uninitialised,
     "loop with dynamic count",
     kCounted,
     {{"dst=sbuf.float32@p0+0[1x16,1x64] src", "dst=sbuf.float32@p0+512[1x16,1x64] src"}}},
    {uninitialised, "the skipped path", kBranch, {{"src=<C> queue=1", "src=<B> queue=1"}}},
    {uninitialised,
     "register from SBUF",
     kPipeline,
     {{"\nc0.sync loop counter=r0 stop=8",
       "\nc0.sync register_load dst=r3 src=sbuf.int32@p0+9000[1x1,1x1]\nc0.sync loop counter=r0 stop=8"}}},
    {bounds,
     "loop runs one too far",
     kPipeline,
     {{"c0.sync loop counter=r0 stop=8", "c0.sync loop counter=r0 stop=9"}}},
    {bounds,
     "loop store step too long",
     kPipeline,
     {{"dst=hbm.float32@s2+0[64x16,1x64,1024xr0]", "dst=hbm.float32@s2+0[64x16,1x64,2048xr0]"}}},
    {semaphore_underflow,
     "more rounds than posts",
     kPipeline,
     {{"c0.sync loop counter=r0 stop=8", "c0.sync loop counter=r0 stop=7"}}},
    {semaphore_underflow,
     "post on the skipped path",
     kBranch,
     {{"dst=<B> src=<A> wait=s0>=1", "dst=<B> src=<A> wait=s0>=1 post=s5"},
      {"queue=1 wait=s1>=1", "queue=1 wait=s1>=1,s5>=1"}}},
    {deadlock, "pipeline with crossed order", kPipeline, {{"wait=s1>=0+1*r0 post=s0", "wait=s2>=1+1*r0 post=s0"}}},
    {deadlock, "nested loops", kNested, {{"wait=s0>=4+4*r0,", "wait=s0>=5+4*r0,"}}},
    {deadlock, "dynamic loop", kCounted, {{"wait=s1>=0+1*r0 post=s0", "wait=s1>=1+1*r0 post=s0"}}},
    {semaphore_overflow,
     "loops that count past 2^31-1",
     kNested,
     {{"c0.vector loop counter=r0 stop=3", "c0.vector loop counter=r0 stop=2000000000"}}},
    {semaphore_overflow,
     "a nest of loops",
     kNested,
     {{"c0.vector loop counter=r0 stop=3\nc0.vector loop counter=r1 stop=4",
       "c0.vector loop counter=r0 stop=100000\nc0.vector loop counter=r1 stop=100000"}}},
    {semaphore_overflow, "wait on 300", kPipeline, {{"wait=s1>=1+1*r0 post=s2", "wait=s300>=1+1*r0 post=s2"}}},
    {race,
     "long loop",
     kPipeline,
     {{"c0.sync loop counter=r0 stop=8", "c0.sync loop counter=r0 stop=300000"},
      {"c0.vector loop counter=r0 stop=8", "c0.vector loop counter=r0 stop=300000"},
      {"c0.scalar loop counter=r0 stop=8", "c0.scalar loop counter=r0 stop=300000"},
      {"1024xr0", "0xr0"},
      {"hbm.float32@s2+0[64x16,1x64,1024xr0]", "hbm.float32@s2+0[64x16,1x64,0xr0]"},
      {"post=s0", "post=s0"},
      {",s2>=0+1*r0 post=s1", " post=s1"}}},
    {race,
     "a store of what is loaded from a place that data chooses",
     kPlaces,
     {{"src=sbuf.float32@p1+0[1x1,1x64] queue=1 wait=s1>=1", "src=sbuf.float32@p1+0[1x1,1x64] queue=1"}}},
    {race,
     "the second buffer of a pair",
     kPairs,
     {{"queue=1 wait=s1>=2+1*r0 post=s2", "queue=1 wait=s1>=1+1*r0 post=s2"}}},
    {semaphore_overflow, "semaphore 256 in a loop", kPairs, {{"post=s2", "post=s256"}}},
    {queue_overflow, "queue 200 in a loop", kPairs, {{"queue=1", "queue=200"}}},
    {deadlock, "a loop that starts with its own end", kPairs, {{"wait=s1>=0+1*r0 post=s0", "wait=s2>=2+1*r0 post=s0"}}},
};

}  // namespace

TEST_CASE("Programs of many steps without a fault are clean") {
  for (const std::string_view text : {kPipeline, kNested, kBranch, kPlaces, kPairs, std::string_view(kCounted)})
    check_clean(text);
}

TEST_CASE("planted faults of many steps are found") {
  for (const Planted& f : kFaults) check_found(f);
}

TEST_CASE("what is said of a run names the Program's instructions, and leaves other numbers alone") {
  std::string text(kPipeline);
  const std::string wait = ",s2>=0+1*r0 post=s1";
  text.replace(text.find(wait), wait.size(), " post=s1 from=1");
  Program p = program(text);
  p.sources[1] = "layer #3";
  const Findings found = find_hazards(p, trn2());
  REQUIRE(found.size() == 1);  // though each round has it
  const std::string said = explain(found[0], p);
  INFO(said);
  CHECK(said.find("#4 tensor_scalar (vector) overwrites what #7 dma_copy (DMA queue 1) may still be reading") !=
        std::string::npos);
  CHECK(said.find("layer #3") != std::string::npos);
}
