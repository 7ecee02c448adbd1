// A catalogue of planted faults: legal Programs, and what one change makes of them. Each fault must be found as what it
// is; the Programs without it must be clean.
#include "tests/sim/planted.h"

using namespace trn;
using namespace trn::test;

namespace {

// c = a + b.
constexpr std::string_view kAdd = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0 from=1
c0.scalar dma_copy dst=<B> src=<s1> queue=1 post=s1 from=1
c0.vector tensor_tensor dst=<C> data1=<A> data2=<B> op=add wait=s0>=1,s1>=1 post=s2 from=1
c0.sync dma_copy dst=<s2> src=<C> queue=0 wait=s2>=1 post=s0 from=1
)";

// The same buffers twice: each write waits for the readers before it.
constexpr std::string_view kTwice = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.vector tensor_copy dst=<C> src=<A> wait=s0>=1 post=s1
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s1>=1 post=s2
c0.sync dma_copy dst=<A> src=<s1> queue=0 wait=s1>=1 post=s0
c0.vector tensor_copy dst=<C> src=<A> wait=s0>=2,s2>=1 post=s1
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s1>=2 post=s2
)";

// Two accumulation groups in one bank, each evacuated.
constexpr std::string_view kMatmul = R"(
c0.sync dma_copy dst=<W> src=hbm.bfloat16@s0+0[128x128,1x128] queue=0 post=s0
c0.sync dma_copy dst=<M> src=hbm.bfloat16@s1+0[64x128,1x64] queue=0 post=s0
c0.tensor nc_matmul dst=<P> stationary=<W> moving=<M> wait=s0>=2
c0.tensor nc_matmul dst=<P> stationary=<W> moving=<M> accumulate=true post=s1
c0.vector tensor_copy dst=<C> src=<P> wait=s1>=1 post=s2
c0.tensor nc_matmul dst=<P> stationary=<W> moving=<M> wait=s2>=1 post=s1
c0.vector tensor_copy dst=<D> src=<P> wait=s1>=2 post=s2
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s2>=2
)";

// Through memory and back on one queue, then on the same engine twice.
constexpr std::string_view kScratch = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.sync dma_copy dst=<s3> src=<A> queue=0 wait=s0>=1 post=s0
c0.sync dma_copy dst=<B> src=<s3> queue=0 wait=s0>=2 post=s0
c0.vector tensor_copy dst=<C> src=<B> wait=s0>=3 post=s1
c0.vector tensor_copy dst=<D> src=<C> wait=s1>=1 post=s1
c0.vector dma_copy dst=<s2> src=<D> queue=3 wait=s1>=2
)";

// One semaphore that two queues post: all of it must be there.
constexpr std::string_view kShared = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.scalar dma_copy dst=<B> src=<s1> queue=1 post=s0
c0.vector tensor_tensor dst=<C> data1=<A> data2=<B> op=add wait=s0>=2 post=s1
c0.sync dma_copy dst=<A> src=<s1> queue=0 wait=s1>=1 post=s0
c0.vector tensor_copy dst=<D> src=<A> wait=s0>=3 post=s1
c0.sync dma_copy dst=<s2> src=<D> queue=0 wait=s1>=2
)";

// Core 1 takes over through HBM what core 0 has made.
constexpr std::string_view kCores = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.sync dma_copy dst=<s3> src=<A> queue=0 wait=s0>=1 post=s1
c1.sync dma_copy dst=<A> src=<s3> queue=0 wait=s1>=1 post=s2
c1.vector tensor_copy dst=<B> src=<A> wait=s2>=1 post=s3
c1.sync dma_copy dst=<s2> src=<B> queue=0 wait=s3>=1
)";

// Rows of a chosen by b, scattered into t and read back.
constexpr std::string_view kGather = R"(
c0.sync dma_copy dst=sbuf.int32@p0+4096[1x128,1x1] src=hbm.int32@s1+0[1x128,1x1] queue=0 post=s0
c0.gpsimd dma_copy dst=<A> src=<s0> index=sbuf.int32@p0+4096[1x128,1x1] queue=2 wait=s0>=1 post=s1
c0.gpsimd dma_copy dst=<s3> src=<A> index=sbuf.int32@p0+4096[1x128,1x1] index_selects_dst=true queue=2 wait=s1>=1 post=s1
c0.sync dma_copy dst=<B> src=<s3> queue=0 wait=s1>=2 post=s0
c0.vector tensor_copy dst=<C> src=<B> wait=s0>=2 post=s2
c0.sync dma_copy dst=<s2> src=<C> queue=0 wait=s2>=1
)";

// Three engines hand one tile around.
constexpr std::string_view kRound = R"(
c0.vector memset dst=<A> value=1 post=s0
c0.gpsimd tensor_copy dst=<B> src=<A> wait=s0>=1 post=s1
c0.scalar tensor_copy dst=<A> src=<B> wait=s1>=1 post=s2
c0.vector tensor_copy dst=<C> src=<A> wait=s2>=1 post=s0
c0.sync dma_copy dst=<s2> src=<C> queue=0 wait=s0>=2 post=s3
)";

// PSUM written by the vector engine while others read other banks.
constexpr std::string_view kBanks = R"(
c0.vector memset dst=<P> value=1 post=s0
c0.vector memset dst=<Q> value=2 post=s0
c0.scalar tensor_copy dst=<A> src=<P> wait=s0>=2 post=s1
c0.vector tensor_copy dst=psum.float32@p0+4096[1x128,1x64] src=<Q> wait=s0>=2 post=s0
c0.scalar tensor_copy dst=<B> src=<Q> wait=s0>=2 post=s1
c0.sync dma_copy dst=<s2> src=<A> queue=0 wait=s1>=2
)";

// t = a, four times over, by loops: one buffer, so that each round waits for the last one's readers.
constexpr std::string_view kLoop = R"(
c0.sync loop counter=r0 stop=4
c0.sync dma_copy dst=<A> src=<s0> queue=0 wait=s1>=0+1*r0 post=s0
c0.sync end_loop
c0.vector loop counter=r0 stop=4
c0.vector tensor_copy dst=<C> src=<A> wait=s0>=1+1*r0,s2>=0+1*r0 post=s1 from=1
c0.vector end_loop
c0.scalar loop counter=r0 stop=4
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s1>=1+1*r0,s2>=0+1*r0 post=s2
c0.scalar end_loop
)";

using enum RuleKind;

void three_counts(Spec& s) { s.semaphore_max.value = 3; }
void one_count(Spec& s) { s.semaphore_max.value = 1; }
void small_rings(Spec& s) { s.dma_ring_descriptors.value = 16; }

const Planted kFaults[] = {
    {race, "a load that nobody waited for", kAdd, {{"s0>=1,s1", "s1"}}, "wait=s0>=1 of #2"},
    {race, "the other load", kAdd, {{",s1>=1", ""}}, "wait=s1>=1 of #2"},
    {race, "a store before its result", kAdd, {{"wait=s2>=1 ", ""}}, "wait=s2>=1 of #3"},
    {race, "two loads into one place", kAdd, {{"dst=<B> src=<s1> queue=1", "dst=<A> src=<s1> queue=1"}}, "overwrites"},
    {race, "a wait for the load before", kTwice, {{"wait=s0>=2,", "wait=s0>=1,"}}, "wait=s0>=2 of #4"},
    {race,
     "a load over what is still read",
     kTwice,
     {{"queue=0 wait=s1>=1", "queue=0 wait=s0>=1"}},
     "may still be reading"},
    {race, "a result over what is still stored", kTwice, {{"wait=s0>=2,s2>=1", "wait=s0>=2"}}, "may still be reading"},
    {race, "two stores to one place", kTwice, {{"wait=s1>=2", "wait=s0>=2"}}, "slot 2 \"c\""},
    {race, "an evacuation before its matmul", kMatmul, {{"src=<P> wait=s1>=1", "src=<P>"}}, "nc_matmul (tensor)"},
    {race, "a matmul into a bank that is still read", kMatmul, {{" wait=s2>=1 post=s1", " post=s1"}}, "overwrites"},
    {race, "one of two operands", kMatmul, {{"wait=s0>=2", "wait=s0>=1"}}, "wait=s0>=2 of #2"},
    {race, "the second group's result", kMatmul, {{"wait=s1>=2", "wait=s1>=1"}}, "wait=s1>=2 of #6"},
    {race, "memory read back on the same queue", kScratch, {{"wait=s0>=2 post", "post"}}, "slot 3 \"t\""},
    {race,
     "an engine's own result",
     kScratch,
     {{"src=<C> wait=s1>=1", "src=<C>"}},
     "reads what #3 tensor_copy (vector)"},
    {race,
     "a store triggered by the engine that computes",
     kScratch,
     {{"queue=3 wait=s1>=2", "queue=3"}},
     "may still be writing"},
    {race,
     "a count that the other queue can reach",
     kShared,
     {{"op=add wait=s0>=2", "op=add wait=s0>=1"}},
     "a semaphore for #0 alone"},
    {race,
     "a result that posts nothing",
     kAdd,
     {{"wait=s0>=1,s1>=1 post=s2 from=1\nc0.sync dma_copy dst=<s2> src=<C> queue=0 wait=s2>=1",
       "wait=s0>=1,s1>=1 from=1\nc0.sync dma_copy dst=<s2> src=<C> queue=0"}},
     "posts none"},
    {race, "the other core's memory", kCores, {{" wait=s1>=1", ""}}, "core 1"},
    {race, "an index that is still loaded", kGather, {{"queue=2 wait=s0>=1", "queue=2"}}, "reads what #0"},
    {race, "a scattered table", kGather, {{"wait=s1>=2", "wait=s1>=1"}}, "slot 3 \"t\""},
    {race,
     "part of a tile",
     kAdd,
     {{"dst=<B> src=<s1>", "dst=sbuf.float32@p100+128[1x28,1x64] src=hbm.float32@s1+0[64x28,1x64]"}},
     "bytes 128..255 of sbuf partitions 100..127 (128 of each)"},
    {race,
     "two engines on some of the same partitions",
     kRound,
     {{"dst=<A> src=<B> wait=s1>=1", "dst=<A> src=<A> wait=s0>=1"}},
     ""},

    {race, "a round that does not wait for the one before", kLoop, {{"wait=s1>=0+1*r0", "wait=s1>=0"}}, "later #4"},
    {race,
     "a loop's first load",
     kLoop,
     {{"wait=s0>=1+1*r0", "wait=s0>=0+1*r0"}},
     "#4 tensor_copy (vector) reads what #1"},
    {race, "a loop's last store", kLoop, {{"1+1*r0,s2>=0+1*r0 post=s1", "1+1*r0 post=s1"}}, "#4"},
    {uninitialised,
     "what no round has loaded",
     kLoop,
     {{"dst=<A> src=<s0>", "dst=<B> src=<s0>"}},
     "#4 tensor_copy (vector)"},
    {deadlock, "a round ahead of itself", kLoop, {{"wait=s1>=0+1*r0", "wait=s1>=1+1*r0"}}, "deadlock"},

    {uninitialised,
     "a load that is missing",
     kAdd,
     {{"c0.sync dma_copy dst=<A> src=<s0>", "c0.sync dma_copy dst=<D> src=<s0>"}},
     "bytes 0..255 of sbuf partitions 0..127"},
    {uninitialised,
     "columns that were not loaded",
     kAdd,
     {{"c0.sync dma_copy dst=<A> src=<s0>",
       "c0.sync dma_copy dst=sbuf.float32@p0+0[1x128,1x60] src=hbm.float32@s0+0[64x128,1x60]"}},
     "bytes 240..255"},
    {uninitialised,
     "partitions that were not loaded",
     kAdd,
     {{"c0.sync dma_copy dst=<A> src=<s0>",
       "c0.sync dma_copy dst=sbuf.float32@p0+0[1x100,1x64] src=hbm.float32@s0+0[64x100,1x64]"}},
     "partitions 100..127"},
    {uninitialised,
     "every other column",
     kAdd,
     {{"c0.sync dma_copy dst=<A> src=<s0>",
       "c0.sync dma_copy dst=sbuf.float32@p0+0[1x128,2x32] src=hbm.float32@s0+0[64x128,1x32]"}},
     "bytes 4..7 and further"},
    {uninitialised, "scratch before its store", kAdd, {{"src=<s0>", "src=<s3>"}}, "slot 3 \"t\""},
    {uninitialised, "an output before its store", kAdd, {{"src=<s1>", "src=<s2>"}}, "slot 2 \"c\""},
    {uninitialised, "PSUM that no matmul filled", kMatmul, {{"dst=<C> src=<P>", "dst=<C> src=<Q>"}}, "psum"},
    {uninitialised,
     "what the other core has",
     kCores,
     {{"c0.sync dma_copy dst=<A> src=<s0>", "c1.sync dma_copy dst=<A> src=<s0>"}},
     "core 0"},

    {bounds, "a slot's end", kAdd, {{"src=<s0>", "src=hbm.float32@s0+4[64x128,1x64]"}}, "which has 32768"},
    {bounds, "a slot's beginning", kAdd, {{"src=<s0>", "src=hbm.float32@s0+0[-64x128,1x64]"}}, "slot a"},
    {bounds, "a slot that is not there", kAdd, {{"src=<s0>", "src=hbm.float32@s9+0[64x128,1x64]"}}, "slot 9 of 5"},
    {bounds,
     "the last partition",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.float32@p32+512[1x128,1x64] data1"}},
     "partitions"},
    {bounds, "before a partition's first byte", kAdd, {{"data1=<A>", "data1=sbuf.float32@p0+0[1x128,-1x64]"}}, "bytes"},
    {bounds, "an input that is written", kAdd, {{"dst=<s2>", "dst=<s0>"}}, "cannot be written"},

    {capacity,
     "SBUF's end",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.float32@p0+229248[1x128,1x64] data1"}},
     "which has 229376"},
    {capacity, "PSUM's end", kBanks, {{"dst=psum.float32@p0+4096", "dst=psum.float32@p0+16256"}}, "which has 16384"},
    {capacity,
     "a tile larger than a partition",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.float32@p0+512[1x128,1x60000] data1"}},
     "sbuf partition"},
    {capacity,
     "the system's part of SBUF",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.float32@p0+212992[1x128,1x64] data1"}},
     "system's"},

    {overlap,
     "a copy shifted by one",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.float32@p0+4[1x128,1x64] data1"}},
     "still reads"},
    {overlap,
     "a transfer onto itself",
     kScratch,
     {{"dst=<s3> src=<A>", "dst=sbuf.float32@p1+0[1x127,1x64] src=sbuf.float32@p0+0[1x127,1x64]"}},
     "still reads"},
    {overlap,
     "elements written twice",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.float32@p0+512[1x128,0x64] data1"}},
     "twice"},
    {overlap,
     "half the place in half the width",
     kAdd,
     {{"dst=<C> data1", "dst=sbuf.bfloat16@p0+128[1x128,1x64] data1"}},
     "still reads"},

    {partition_start,
     "64 partitions from 32",
     kAdd,
     {{"dst=<C> data1=<A> data2=<B>",
       "dst=sbuf.float32@p32+512[1x64,1x64] data1=sbuf.float32@p0+0[1x64,1x64] data2=sbuf.float32@p0+256[1x64,1x64]"}},
     "start partition 32 is not a multiple of 64"},
    {partition_start,
     "32 partitions from 16",
     kAdd,
     {{"dst=<C> data1=<A> data2=<B>",
       "dst=sbuf.float32@p16+512[1x32,1x64] data1=sbuf.float32@p0+0[1x32,1x64] data2=sbuf.float32@p0+256[1x32,1x64]"}},
     "start partition 16"},
    {partition_start,
     "1 partition from 1",
     kRound,
     {{"dst=<C> src=<A>", "dst=sbuf.float32@p0+512[1x1,1x64] src=sbuf.float32@p1+0[1x1,1x64]"}},
     "start partition 1"},
    {partition_start,
     "a matmul's operand from 64",
     kMatmul,
     {{"stationary=<W> moving=<M> wait=s0>=2",
       "stationary=sbuf.bfloat16@p64+0[1x48,1x128] moving=sbuf.bfloat16@p32+256[1x48,1x64] wait=s0>=2"}},
     "start partition 32"},

    {psum_bank,
     "a product across two banks",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s0>=2",
       "dst=psum.float32@p0+1920[1x128,1x64] stationary=<W> moving=<M> wait=s0>=2"}},
     "cross a PSUM bank"},
    {psum_bank,
     "the second group across two banks",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s2>=1",
       "dst=psum.float32@p0+3968[1x128,1x64] stationary=<W> moving=<M> wait=s2>=1"}},
     "cross a PSUM bank"},
    {psum_bank,
     "columns that stand too far apart",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s0>=2",
       "dst=psum.float32@p0+0[1x128,9x64] stationary=<W> moving=<M> wait=s0>=2"}},
     "cross a PSUM bank"},

    {psum_group,
     "no first matmul",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s0>=2", "dst=<Q> stationary=<W> moving=<M> wait=s0>=2"}},
     "no matmul of this Program wrote"},
    {psum_group,
     "accumulation from the start",
     kMatmul,
     {{"moving=<M> wait=s0>=2", "moving=<M> accumulate=true wait=s0>=2"}},
     "no matmul"},
    {psum_group,
     "a group that starts on fewer columns",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s0>=2",
       "dst=psum.float32@p0+0[1x128,1x32] stationary=<W> moving=sbuf.bfloat16@p0+256[1x128,1x32] wait=s0>=2"}},
     "16384 of 32768 bytes"},
    {psum_group,
     "a group that starts on fewer partitions",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s0>=2",
       "dst=psum.float32@p0+0[1x64,1x64] stationary=sbuf.bfloat16@p0+0[1x128,1x64] moving=<M> wait=s0>=2"}},
     "16384 of 32768 bytes"},
    {psum_group,
     "zeros that another engine wrote",
     kMatmul,
     {{"c0.tensor nc_matmul dst=<P> stationary=<W> moving=<M> wait=s0>=2\n",
       "c0.vector memset dst=<P> post=s3\nc0.tensor nc_matmul dst=<P> stationary=<W> moving=<M> accumulate=true "
       "wait=s0>=2,s3>=1\n"}},
     "memset (vector) wrote, which starts no group"},
    {psum_group,
     "onto a transpose",
     kMatmul,
     {{"c0.tensor nc_matmul dst=<P> stationary=<W> moving=<M> wait=s0>=2\n",
       "c0.tensor nc_matmul dst=psum.bfloat16@p0+0[1x128,1x128] stationary=<W> moving=<W> is_transpose=true "
       "wait=s0>=2\n"}},
     "nc_matmul (tensor) wrote, which starts no group"},

    {bank_conflict,
     "a neighbour's column",
     kBanks,
     {{"dst=psum.float32@p0+4096[", "dst=psum.float32@p0+1024["}},
     "PSUM bank 0"},
    {bank_conflict,
     "a bank that is filled while it is drained",
     kBanks,
     {{"dst=psum.float32@p0+4096[", "dst=psum.float32@p0+3072["}},
     "PSUM bank 1"},
    {bank_conflict,
     "a product beside a read",
     kMatmul,
     {{"dst=<P> stationary=<W> moving=<M> wait=s2>=1",
       "dst=psum.float32@p0+512[1x128,1x64] stationary=<W> moving=<M>"}},
     "PSUM bank 0"},

    {semaphore_overflow,
     "a count past the largest",
     kAdd,
     {{"from=1\nc0.scalar",
       "from=1\nc0.sync dma_copy dst=<D> src=<s0> queue=0 post=s0\nc0.sync dma_copy dst=<D> src=<s0> queue=0 "
       "wait=s0>=2 "
       "post=s0\nc0.scalar"}},
     "past its largest value 3",
     three_counts},
    {semaphore_overflow,
     "two posts where one counts",
     kShared,
     {{"op=add", "op=add"}},
     "past its largest value 1",
     one_count},
    {semaphore_overflow, "a semaphore that is not there", kAdd, {{"post=s2", "post=s256"}}, "semaphore 256 of 256"},
    {semaphore_overflow,
     "a wait for one that is not there",
     kAdd,
     {{"wait=s2>=1", "wait=s300>=1"}},
     "semaphore 300 of 256"},

    {semaphore_underflow,
     "one more than is posted",
     kAdd,
     {{"wait=s2>=1", "wait=s2>=2"}},
     "only 1 instruction posts s2"},
    {semaphore_underflow, "what nobody posts", kAdd, {{"wait=s2>=1", "wait=s7>=1"}}, "nothing posts s7"},
    {semaphore_underflow, "a post that got lost", kAdd, {{"queue=1 post=s1", "queue=1"}}, "nothing posts s1"},
    {semaphore_underflow, "bytes instead of transfers", kAdd, {{"wait=s0>=1", "wait=s0>=16"}}, "waits for s0>=16"},

    {deadlock, "its own post", kRound, {{"wait=s0>=1 post=s1", "wait=s0>=1,s1>=1 post=s1"}}, "only comes after it"},
    {deadlock,
     "a later one of the same engine",
     kScratch,
     {{"src=<B> wait=s0>=3", "src=<B> wait=s0>=3,s1>=2"}},
     "only comes after it"},
    {deadlock, "two engines", kRound, {{"memset dst=<A> value=1", "memset dst=<A> value=1 wait=s1>=1"}}, "2 engines"},
    {deadlock, "three engines", kRound, {{"memset dst=<A> value=1", "memset dst=<A> value=1 wait=s2>=1"}}, "3 engines"},
    {deadlock, "a transfer that its producer waits for", kAdd, {{"s0>=1,s1>=1", "s0>=2,s1>=1"}}, "2 engines"},
    {deadlock,
     "what stands behind the one that waits",
     kMatmul,
     {{"queue=0 post=s0", "queue=0 wait=s1>=1 post=s0"}},
     "stands behind #2"},

    {order,
     "a sequence that cannot run",
     kCores,
     {{"c0.sync dma_copy dst=<s3> src=<A> queue=0 wait=s0>=1 post=s1\nc1.sync dma_copy dst=<A> src=<s3> queue=0 "
       "wait=s1>=1 "
       "post=s2\n",
       "c1.sync dma_copy dst=<A> src=<s3> queue=0 wait=s1>=1 post=s2\nc0.sync dma_copy dst=<s3> src=<A> queue=0 "
       "wait=s0>=1 "
       "post=s1\n"}},
     "earlier instructions bring it to 0"},

    {queue_overflow, "a queue that is not there", kAdd, {{"queue=1", "queue=16"}}, "no DMA queue 16"},
    {queue_overflow, "far beyond", kAdd, {{"queue=1", "queue=255"}}, "no DMA queue 255"},
    {queue_overflow,
     "element by element",
     kAdd,
     {{"dst=<A> src=<s0>", "dst=<A> src=hbm.float32@s0+0[1x128,128x64]"}},
     "512 descriptors",
     small_rings},
    {queue_overflow,
     "three transfers that nobody waited for",
     kAdd,
     {{"from=1\nc0.scalar",
       "from=1\nc0.sync dma_copy dst=<C> src=<s0> queue=0 post=s9\nc0.sync dma_copy dst=<D> src=<s0> queue=0 "
       "post=s9\nc0.scalar"}},
     "24 descriptors",
     small_rings},

    {engine,
     "a product on the vector engine",
     kMatmul,
     {{"c0.tensor nc_matmul", "c0.vector nc_matmul"}},
     "vector engine"},
    {engine,
     "elementwise on the tensor engine",
     kAdd,
     {{"c0.vector tensor_tensor", "c0.tensor tensor_tensor"}},
     "tensor engine"},
    {engine,
     "GpSimd at PSUM",
     kBanks,
     {{"c0.scalar tensor_copy dst=<A> src=<P>", "c0.gpsimd tensor_copy dst=<A> src=<P>"}},
     "gpsimd cannot access PSUM"},
    {engine,
     "an operator that the engine lacks",
     kAdd,
     {{"c0.vector tensor_tensor", "c0.sync tensor_tensor"}},
     "sync engine"},

    {dtype, "bits of floats", kAdd, {{"op=add", "op=bitwise_and"}}, "takes integers, not float32"},
    {dtype,
     "storage in an engine",
     kRound,
     {{"dst=<C> src=<A>", "dst=sbuf.int64@p0+512[1x128,1x32] src=sbuf.int64@p0+0[1x128,1x32]"}},
     "is for storage"},
    {dtype,
     "integers in the array",
     kMatmul,
     {{"stationary=<W> moving=<M> wait=s0>=2",
       "stationary=sbuf.int8@p0+0[1x128,1x128] moving=sbuf.int8@p0+256[1x128,1x64] wait=s0>=2"}},
     "int8"},
    {dtype,
     "a scale in halves",
     kRound,
     {{"c0.scalar tensor_copy dst=<A> src=<B>",
       "c0.vector tensor_scalar dst=<A> data=<B> op0=multiply operand0=sbuf.bfloat16@p0+256[1x128,1x1]"}},
     "operand0 must be float32"},
    {dtype,
     "halves with floats",
     kMatmul,
     {{"stationary=<W> moving=<M> wait=s0>=2", "stationary=sbuf.float32@p0+0[1x128,1x128] moving=<M> wait=s0>=2"}},
     "float32 and moving bfloat16"},

    {shape,
     "one column less",
     kAdd,
     {{"data2=<B>", "data2=sbuf.float32@p0+256[1x128,1x63]"}},
     "elements per partition"},
    {shape, "half the partitions", kAdd, {{"data2=<B>", "data2=sbuf.float32@p0+256[1x64,1x64]"}}, "partitions"},
    {shape,
     "contraction 128 with 64",
     kMatmul,
     {{"moving=<M> wait=s0>=2", "moving=sbuf.bfloat16@p0+256[1x64,1x64] wait=s0>=2"}},
     "contraction sizes differ"},
    {shape, "a transfer of another size", kAdd, {{"src=<s0>", "src=hbm.float32@s0+0[64x128,1x63]"}}, "elements"},
    {shape,
     "a bias of two columns",
     kRound,
     {{"c0.scalar tensor_copy dst=<A> src=<B>",
       "c0.scalar activation dst=<A> op=copy data=<B> bias=sbuf.float32@p0+256[1x128,1x2]"}},
     "1 element per partition"},
};

}  // namespace

TEST_CASE("Programs without a fault are clean") {
  for (const std::string_view text : {kAdd, kTwice, kMatmul, kScratch, kShared, kCores, kGather, kRound, kBanks, kLoop})
    check_clean(text);
}

TEST_CASE("every planted fault is found as what it is") {
  std::array<int, kRuleKinds> planted_of{};
  for (const Planted& f : kFaults) {
    check_found(f);
    ++planted_of[static_cast<size_t>(f.kind)];
  }
  for (int kind = 0; kind < kRuleKinds; ++kind) {
    const auto k = static_cast<RuleKind>(kind);
    INFO(name(k));
    if (k != structure && k != operand && k != order && k != numeric && k != index_bounds)
      CHECK(planted_of[static_cast<size_t>(kind)] >= 3);
  }
}
