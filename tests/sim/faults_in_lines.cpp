// Planted faults of the kinds of faults.cpp in other shapes: other cards and engines, two cores, indices.
#include "tests/sim/planted.h"

using namespace trn;
using namespace trn::test;

namespace {

// A row kernel on four engines.
constexpr std::string_view kSoftmax = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.vector tensor_reduce dst=sbuf.float32@p0+4096[1x128,1x1] op=maximum data=<A> negate=true wait=s0>=1 post=s1
c0.scalar activation dst=<B> op=exp data=<A> bias=sbuf.float32@p0+4096[1x128,1x1] reduce_res=sbuf.float32@p0+4100[1x128,1x1] reduce_cmd=reset_reduce wait=s0>=1,s1>=1 post=s2
c0.vector reciprocal dst=sbuf.float32@p0+4104[1x128,1x1] data=sbuf.float32@p0+4100[1x128,1x1] wait=s2>=1 post=s1
c0.gpsimd tensor_tensor dst=<C> data1=<B> data2=sbuf.float32@p0+4104[1x128,0x64] op=multiply wait=s1>=2,s2>=1 post=s3
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s3>=1
)";

// Two buffers of operands, a group of two products, and a product in the next bank.
constexpr std::string_view kProducts = R"(
c0.sync dma_copy dst=sbuf.bfloat16@p0+0[1x128,1x64] src=hbm.bfloat16@s0+0[64x128,1x64] queue=0 post=s0
c0.gpsimd dma_copy dst=sbuf.bfloat16@p0+1024[1x128,1x64] src=hbm.bfloat16@s1+0[64x128,1x64] queue=2 post=s1
c0.tensor nc_matmul dst=psum.float32@p0+0[1x64,1x64] stationary=sbuf.bfloat16@p0+0[1x128,1x64] moving=sbuf.bfloat16@p0+1024[1x128,1x64] wait=s0>=1,s1>=1 post=s2
c0.sync dma_copy dst=sbuf.bfloat16@p0+128[1x128,1x64] src=hbm.bfloat16@s0+16384[64x128,1x64] queue=0 post=s0
c0.gpsimd dma_copy dst=sbuf.bfloat16@p0+1152[1x128,1x64] src=hbm.bfloat16@s1+16384[64x128,1x64] queue=2 post=s1
c0.tensor nc_matmul dst=psum.float32@p0+0[1x64,1x64] stationary=sbuf.bfloat16@p0+128[1x128,1x64] moving=sbuf.bfloat16@p0+1152[1x128,1x64] accumulate=true wait=s0>=2,s1>=2 post=s2
c0.sync dma_copy dst=sbuf.bfloat16@p0+0[1x128,1x64] src=hbm.bfloat16@s0+0[64x128,1x64] queue=0 wait=s2>=1 post=s0
c0.tensor nc_matmul dst=psum.float32@p0+2048[1x64,1x64] stationary=sbuf.bfloat16@p0+0[1x128,1x64] moving=sbuf.bfloat16@p0+1152[1x128,1x64] wait=s0>=3 post=s2
c0.scalar activation dst=sbuf.float32@p0+8192[1x64,1x64] op=relu data=psum.float32@p0+0[1x64,1x64] wait=s2>=2 post=s3
c0.vector tensor_tensor dst=sbuf.float32@p0+8448[1x64,1x64] data1=psum.float32@p0+2048[1x64,1x64] data2=sbuf.float32@p0+8192[1x64,1x64] op=add wait=s2>=3,s3>=1 post=s4
c0.sync dma_copy dst=hbm.float32@s2+0[64x64,1x64] src=sbuf.float32@p0+8448[1x64,1x64] queue=0 wait=s4>=1
)";

// A tile turned by the tensor engine, another by DMA, added in place.
constexpr std::string_view kTransposes = R"(
c0.sync dma_copy dst=sbuf.bfloat16@p0+0[1x128,1x128] src=hbm.bfloat16@s0+0[128x128,1x128] queue=0 post=s0
c0.tensor nc_transpose dst=psum.bfloat16@p0+4096[1x128,1x128] data=sbuf.bfloat16@p0+0[1x128,1x128] wait=s0>=1 post=s1
c0.vector tensor_copy dst=sbuf.bfloat16@p0+512[1x128,1x128] src=psum.bfloat16@p0+4096[1x128,1x128] wait=s1>=1 post=s2
c0.sync dma_transpose dst=sbuf.bfloat16@p0+1024[1x128,1x64] src=hbm.bfloat16@s1+0[128x64,1x128] queue=0 post=s3
c0.gpsimd tensor_tensor dst=sbuf.bfloat16@p0+512[1x128,1x64] data1=sbuf.bfloat16@p0+512[1x128,1x64] data2=sbuf.bfloat16@p0+1024[1x128,1x64] op=add wait=s2>=1,s3>=1 post=s4
c0.scalar dma_copy dst=hbm.bfloat16@s2+0[128x128,1x128] src=sbuf.bfloat16@p0+512[1x128,1x128] queue=1 wait=s4>=1
)";

// Two cores swap tiles, store halves, meet, and read the whole.
constexpr std::string_view kExchange = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c1.sync dma_copy dst=<A> src=<s1> queue=0 post=s1
c0.gpsimd sendrecv src=<A> dst=<B> queue=2 wait=s0>=1 post=s2
c1.gpsimd sendrecv src=<A> dst=<B> send_to_rank=0 recv_from_rank=0 queue=2 wait=s1>=1 post=s3
c0.vector tensor_tensor dst=<C> data1=<A> data2=<B> op=add wait=s2>=1 post=s4
c1.vector tensor_tensor dst=<C> data1=<A> data2=<B> op=subtract wait=s3>=1 post=s5
c0.sync dma_copy dst=hbm.float32@s2+0[64x64,1x64] src=sbuf.float32@p0+512[1x64,1x64] queue=0 wait=s4>=1 post=s6
c1.sync dma_copy dst=hbm.float32@s2+16384[64x64,1x64] src=sbuf.float32@p64+512[1x64,1x64] queue=0 wait=s5>=1 post=s7
c0.gpsimd core_barrier data=<s2> wait=s6>=1
c1.gpsimd core_barrier data=<s2> wait=s7>=1
c1.sync dma_copy dst=<D> src=<s2> queue=0 wait=s8>=1
c1.gpsimd register_alloc dst=r5 x=1 post=s8
)";

// Rows chosen by an index, added into scratch by an index, and chosen again by a mask.
constexpr std::string_view kRows = R"(
c0.sync dma_copy dst=sbuf.int32@p0+4096[1x128,1x1] src=hbm.int32@s1+0[1x128,1x1] queue=0 post=s0
c0.gpsimd dma_copy dst=<A> src=<s0> index=sbuf.int32@p0+4096[1x128,1x1] queue=2 wait=s0>=1 post=s1
c0.scalar activation dst=<B> op=gelu data=<A> wait=s1>=1 post=s2
c0.vector memset dst=<C> value=0 post=s3
c0.sync dma_copy dst=<s3> src=<C> queue=0 wait=s3>=1 post=s0
c0.gpsimd dma_compute dst=<s3> src0=<B> index=sbuf.int32@p0+4096[1x128,1x1] unique_indices=false queue=2 wait=s2>=1,s0>=2 post=s1
c0.sync dma_copy dst=<D> src=<s3> queue=0 wait=s1>=2 post=s0
c0.gpsimd iota dst=sbuf.uint8@p0+4200[1x128,1x64] pattern=[0x1,0x1,0x1,1x64] post=s4
c0.vector select_reduce dst=<A> predicate=sbuf.uint8@p0+4200[1x128,1x64] on_true=<D> on_false=0 wait=s0>=3,s4>=1,s2>=1 post=s3
c0.sync dma_copy dst=<s2> src=<A> queue=0 wait=s3>=2
)";

// Groups of 32 and 64 partitions.
constexpr std::string_view kStatistics = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.vector bn_stats dst=sbuf.float32@p32+2048[1x32,1x6] data=sbuf.float32@p32+0[1x32,1x64] wait=s0>=1 post=s1
c0.vector bn_aggr dst=sbuf.float32@p32+2080[1x32,1x2] data=sbuf.float32@p32+2048[1x32,1x6] wait=s1>=1 post=s1
c0.scalar activation dst=sbuf.float32@p32+256[1x32,1x64] op=copy data=sbuf.float32@p32+0[1x32,1x64] scale=sbuf.float32@p32+2080[1x32,1x1] bias=sbuf.float32@p32+2084[1x32,1x1] wait=s1>=2 post=s2
c0.gpsimd tensor_copy dst=sbuf.float32@p64+256[1x64,1x64] src=sbuf.float32@p64+0[1x64,1x64] wait=s0>=1 post=s3
c0.sync dma_copy dst=hbm.float32@s2+0[64x96,1x64] src=sbuf.float32@p32+256[1x96,1x64] queue=0 wait=s2>=1,s3>=1
)";

// Memory to memory on three queues.
constexpr std::string_view kMemory = R"(
c0.sync dma_copy dst=<s3> src=<s0> queue=0 post=s0
c0.scalar dma_copy dst=hbm.float32@s2+0[64x64,1x64] src=hbm.float32@s3+0[64x64,1x64] queue=1 wait=s0>=1 post=s1
c0.gpsimd dma_copy dst=hbm.float32@s2+16384[64x64,1x64] src=hbm.float32@s3+16384[64x64,1x64] queue=2 wait=s0>=1 post=s2
c0.sync dma_copy dst=<s3> src=<s1> queue=0 wait=s1>=1,s2>=1 post=s0
c0.scalar dma_compute dst=<s2> src0=<s2> src1=<s3> queue=1 wait=s0>=2,s1>=1,s2>=1 post=s1
)";

// A tile that its own engine clears behind a read.
constexpr std::string_view kCleared = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.vector tensor_copy dst=<B> src=<A> wait=s0>=1 post=s1
c0.vector memset dst=<A> value=0 post=s1
c0.scalar tensor_copy dst=<C> src=<A> wait=s1>=2 post=s2
c0.scalar dma_copy dst=<s2> src=<C> queue=1 wait=s2>=1
)";

// Even and odd columns by two engines.
constexpr std::string_view kColumns = R"(
c0.vector memset dst=sbuf.float32@p0+0[1x128,2x32] value=1 post=s0
c0.gpsimd memset dst=sbuf.float32@p0+4[1x128,2x32] value=2 post=s1
c0.scalar activation dst=<B> op=sqrt data=<A> wait=s0>=1,s1>=1 post=s2
c0.sync dma_copy dst=<s2> src=<B> queue=0 wait=s2>=1
)";

// Sums kept from one instruction to the next.
constexpr std::string_view kSums = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.scalar activation dst=<B> op=exp data=<A> reduce_cmd=reset_reduce wait=s0>=1 post=s1
c0.scalar activation dst=<C> op=exp data=<A> reduce_res=sbuf.float32@p0+4096[1x128,1x1] reduce_cmd=reduce post=s1
c0.vector tensor_scalar dst=<D> data=<C> op0=multiply operand0=sbuf.float32@p0+4096[1x128,1x1] wait=s1>=2 post=s2
c0.sync dma_copy dst=<s2> src=<D> queue=0 wait=s2>=1
)";

// Two groups of products open at once, each in a bank of its own.
constexpr std::string_view kOpenGroups = R"(
c0.sync dma_copy dst=sbuf.bfloat16@p0+0[1x128,1x128] src=hbm.bfloat16@s0+0[128x128,1x128] queue=0 post=s0
c0.tensor nc_matmul dst=psum.float32@p0+0[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] moving=sbuf.bfloat16@p0+0[1x128,1x128] wait=s0>=1
c0.tensor nc_matmul dst=psum.float32@p0+2048[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] moving=sbuf.bfloat16@p0+0[1x128,1x128]
c0.tensor nc_matmul dst=psum.float32@p0+0[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] moving=sbuf.bfloat16@p0+0[1x128,1x128] accumulate=true post=s1
c0.tensor nc_matmul dst=psum.float32@p0+2048[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] moving=sbuf.bfloat16@p0+0[1x128,1x128] accumulate=true post=s1
c0.vector tensor_copy dst=sbuf.float32@p0+512[1x128,1x128] src=psum.float32@p0+0[1x128,1x128] wait=s1>=1 post=s2
c0.scalar tensor_copy dst=sbuf.float32@p0+1024[1x128,1x128] src=psum.float32@p0+2048[1x128,1x128] wait=s1>=2 post=s3
c0.sync dma_copy dst=<s2> src=sbuf.float32@p0+512[1x128,1x64] queue=0 wait=s2>=1,s3>=1
)";

// Other quarters of the partitions.
constexpr std::string_view kQuarters = R"(
c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0
c0.vector nc_transpose dst=sbuf.float32@p0+1024[1x32,1x32] data=sbuf.float32@p96+0[1x32,1x32] wait=s0>=1 post=s1
c0.vector max8 dst=sbuf.float32@p32+2048[1x32,1x8] src=sbuf.float32@p32+0[1x32,1x64] wait=s0>=1 post=s1
c0.sync dma_copy dst=hbm.float32@s2+0[32x32,1x32] src=sbuf.float32@p0+1024[1x32,1x32] queue=0 wait=s1>=1
c0.sync dma_copy dst=hbm.float32@s2+8192[8x32,1x8] src=sbuf.float32@p32+2048[1x32,1x8] queue=0 wait=s1>=2
)";

using enum RuleKind;

const Planted kFaults[] = {
    {race, "bias column read before its reduce", kSoftmax, {{"wait=s0>=1,s1>=1 post=s2", "wait=s0>=1 post=s2"}}},
    {race,
     "reduce register result before activation",
     kSoftmax,
     {{"data=sbuf.float32@p0+4100[1x128,1x1] wait=s2>=1", "data=sbuf.float32@p0+4100[1x128,1x1]"}}},
    {race, "gpsimd scale before reciprocal", kSoftmax, {{"wait=s1>=2,s2>=1", "wait=s1>=1,s2>=1"}}},
    {race,
     "reload of stationary while matmul may read",
     kProducts,
     {{"queue=0 wait=s2>=1 post=s0", "queue=0 post=s0"}}},
    {race, "moving load on gpsimd queue not awaited", kProducts, {{"wait=s0>=2,s1>=2", "wait=s0>=2,s1>=1"}}},
    {race, "scalar evacuates before second matmul", kProducts, {{"wait=s2>=2 post=s3", "wait=s2>=1 post=s3"}}},
    {race, "vector reads bank 1 unawaited", kProducts, {{"wait=s2>=3,s3>=1", "wait=s2>=2,s3>=1"}}},
    {race, "transpose result", kTransposes, {{"wait=s1>=1 post=s2", "wait=s0>=1 post=s2"}}},
    {race, "dma_transpose unawaited", kTransposes, {{"wait=s2>=1,s3>=1", "wait=s2>=1"}}},
    {race, "in-place over columns that the store reads", kTransposes, {{"queue=1 wait=s4>=1", "queue=1 wait=s2>=1"}}},
    {race, "sendrecv result read early on core 1", kExchange, {{"op=subtract wait=s3>=1", "op=subtract wait=s1>=1"}}},
    {race, "sendrecv source still loading", kExchange, {{"queue=2 wait=s0>=1 post=s2", "queue=2 post=s2"}}},
    {race, "barrier without the store", kExchange, {{"core_barrier data=<s2> wait=s6>=1", "core_barrier data=<s2>"}}},
    {race, "scatter-add onto table still zeroed", kRows, {{"wait=s2>=1,s0>=2", "wait=s2>=1"}}},
    {race, "table read before scatter-add", kRows, {{"queue=0 wait=s1>=2 post=s0", "queue=0 post=s0"}}},
    {race, "predicate by gpsimd", kRows, {{"wait=s0>=3,s4>=1,s2>=1", "wait=s0>=3,s2>=1"}}},
    {race,
     "own stats on vector",
     kStatistics,
     {{"data=sbuf.float32@p32+2048[1x32,1x6] wait=s1>=1", "data=sbuf.float32@p32+2048[1x32,1x6]"}}},
    {race, "half of stored partitions", kStatistics, {{"wait=s2>=1,s3>=1", "wait=s2>=1"}}},
    {race, "scratch overwritten, half still read", kMemory, {{"wait=s1>=1,s2>=1 post=s0", "wait=s1>=1 post=s0"}}},
    {race, "chain: scratch copy not awaited", kMemory, {{"queue=2 wait=s0>=1 post=s2", "queue=2 post=s2"}}},
    {uninitialised,
     "half K loaded",
     kProducts,
     {{"dst=sbuf.bfloat16@p0+1152[1x128,1x64] src=hbm.bfloat16@s1+16384[64x128,1x64]",
       "dst=sbuf.bfloat16@p0+1152[1x64,1x64] src=hbm.bfloat16@s1+16384[64x64,1x64]"}}},
    {uninitialised,
     "index never loaded",
     kRows,
     {{"dst=sbuf.int32@p0+4096[1x128,1x1] src=hbm.int32@s1+0[1x128,1x1]",
       "dst=sbuf.int32@p0+5096[1x128,1x1] src=hbm.int32@s1+0[1x128,1x1]"}}},
    {uninitialised,
     "scatter-add onto scratch never zeroed",
     kRows,
     {{"c0.sync dma_copy dst=<s3> src=<C>", "c0.sync dma_copy dst=<s2> src=<C>"}}},
    {uninitialised,
     "bias column",
     kSoftmax,
     {{"dst=sbuf.float32@p0+4096[1x128,1x1] op=maximum", "dst=sbuf.float32@p0+4108[1x128,1x1] op=maximum"}}},
    {uninitialised,
     "transposed psum tail",
     kTransposes,
     {{"c0.tensor nc_transpose dst=psum.bfloat16@p0+4096[1x128,1x128] data=sbuf.bfloat16@p0+0[1x128,1x128]",
       "c0.tensor nc_transpose dst=psum.bfloat16@p0+4096[1x64,1x128] data=sbuf.bfloat16@p0+0[1x128,1x64]"}}},
    {uninitialised,
     "sendrecv source",
     kExchange,
     {{"c1.sync dma_copy dst=<A> src=<s1>", "c1.sync dma_copy dst=<D> src=<s1>"}}},
    {uninitialised,
     "accumulate onto an unwritten output",
     kMemory,
     {{"dst=hbm.float32@s2+16384[64x64,1x64] src=hbm.float32@s3+16384[64x64,1x64]",
       "dst=hbm.float32@s2+16384[64x32,1x64] src=hbm.float32@s3+16384[64x32,1x64]"}}},
    {uninitialised, "engine registers never reset", kSoftmax, {{"reduce_cmd=reset_reduce", "reduce_cmd=reduce"}}},
    {uninitialised,
     "stats of other partitions",
     kStatistics,
     {{"data=sbuf.float32@p32+2048[1x32,1x6]", "data=sbuf.float32@p64+2048[1x32,1x6]"},
      {"dst=sbuf.float32@p32+2080[1x32,1x2]", "dst=sbuf.float32@p64+2080[1x32,1x2]"}}},
    {bounds,
     "gather table beyond slot",
     kRows,
     {{"dst=<A> src=<s0> index", "dst=<A> src=hbm.float32@s0+256[64x128,1x64] index"}}},
    {bounds,
     "transpose source",
     kTransposes,
     {{"src=hbm.bfloat16@s1+0[128x64,1x128]", "src=hbm.bfloat16@s1+49160[128x64,1x128]"}}},
    {bounds, "negative free start", kSoftmax, {{"data=<A> negate", "data=sbuf.float32@p0+-4[1x128,1x64] negate"}}},
    {bounds,
     "partition 129",
     kExchange,
     {{"src=sbuf.float32@p64+512[1x64,1x64]", "src=sbuf.float32@p65+512[1x64,1x64]"}}},
    {bounds,
     "write input by scatter-add",
     kRows,
     {{"c0.gpsimd dma_compute dst=<s3>", "c0.gpsimd dma_compute dst=<s0>"}}},
    {bounds,
     "misaligned offset",
     kStatistics,
     {{"src=sbuf.float32@p64+0[1x64,1x64]", "src=sbuf.float32@p64+2[1x64,1x64]"}}},
    {capacity,
     "matmul beyond PSUM",
     kProducts,
     {{"dst=psum.float32@p0+2048[1x64,1x64]", "dst=psum.float32@p0+16384[1x64,1x64]"}}},
    {capacity,
     "DMA beyond SBUF",
     kSoftmax,
     {{"dma_copy dst=<A> src=<s0>", "dma_copy dst=sbuf.float32@p0+229300[1x128,1x64] src=<s0>"}}},
    {capacity,
     "iota beyond",
     kRows,
     {{"dst=sbuf.uint8@p0+4200[1x128,1x64] pattern", "dst=sbuf.uint8@p0+229376[1x128,1x64] pattern"}}},
    {capacity,
     "sendrecv dst",
     kExchange,
     {{"dst=<B> queue=2 wait=s0", "dst=sbuf.float32@p0+229248[1x128,1x64] queue=2 wait=s0"}}},
    {capacity, "psum wide transposed", kTransposes, {{"dst=psum.bfloat16@p0+4096[", "dst=psum.bfloat16@p0+16256["}}},
    {overlap,
     "windows written over each other",
     kSoftmax,
     {{"dma_copy dst=<A> src=<s0>",
       "dma_copy dst=sbuf.float32@p0+0[1x128,32x2,1x40] src=hbm.float32@s0+0[64x128,1x2,1x40]"}}},
    {overlap,
     "hbm rows written over each other",
     kMemory,
     {{"dma_copy dst=<s3> src=<s1>", "dma_copy dst=hbm.float32@s3+0[32x128,1x64] src=<s1>"}}},
    {overlap,
     "hbm broadcast store",
     kStatistics,
     {{"dst=hbm.float32@s2+0[64x96,1x64]", "dst=hbm.float32@s2+0[0x96,1x64]"}}},
    {overlap,
     "reduce into its own data",
     kSoftmax,
     {{"dst=sbuf.float32@p0+4096[1x128,1x1] op=maximum", "dst=sbuf.float32@p0+128[1x128,1x1] op=maximum"}}},
    {overlap,
     "hbm shifted onto itself",
     kMemory,
     {{"dst=hbm.float32@s2+16384[64x64,1x64] src=hbm.float32@s3+16384[64x64,1x64]",
       "dst=hbm.float32@s3+8192[64x64,1x64] src=hbm.float32@s3+16384[64x64,1x64]"}}},
    {overlap,
     "activation into half-width in place",
     kSoftmax,
     {{"dst=<B> op=exp data=<A>", "dst=sbuf.bfloat16@p0+128[1x128,1x64] op=exp data=<A>"}}},
    {overlap,
     "two results of one instruction",
     kSoftmax,
     {{"reduce_res=sbuf.float32@p0+4100[1x128,1x1]", "reduce_res=sbuf.float32@p0+300[1x128,1x1]"}}},
    {overlap,
     "bn_aggr onto part of its data",
     kStatistics,
     {{"dst=sbuf.float32@p32+2080[1x32,1x2] data", "dst=sbuf.float32@p32+2052[1x32,1x2] data"}}},
    {psum_group, "a product that forgets to add", kProducts, {{" accumulate=true", ""}}, "which nothing has read"},
    {psum_group,
     "the second of two open groups started again",
     kOpenGroups,
     {{"accumulate=true post=s1", "accumulate=true"}, {" accumulate=true post=s1", " post=s1"}, {"s1>=2", "s1>=1"}},
     "which nothing has read"},
    {psum_group,
     "wrong bank continued",
     kProducts,
     {{"dst=psum.float32@p0+0[1x64,1x64] stationary=sbuf.bfloat16@p0+128",
       "dst=psum.float32@p0+4096[1x64,1x64] stationary=sbuf.bfloat16@p0+128"}}},
    {psum_group,
     "group that starts with True",
     kProducts,
     {{"moving=sbuf.bfloat16@p0+1024[1x128,1x64] wait",
       "moving=sbuf.bfloat16@p0+1024[1x128,1x64] accumulate=true wait"}}},
    {psum_group,
     "activation in the middle",
     kProducts,
     {{"c0.sync dma_copy dst=sbuf.bfloat16@p0+128[1x128,1x64]",
       "c0.scalar activation dst=psum.float32@p0+0[1x64,1x64] op=exp data=psum.float32@p0+0[1x64,1x64] wait=s2>=1 "
       "post=s9\nc0.sync dma_copy dst=sbuf.bfloat16@p0+128[1x128,1x64]"},
      {"accumulate=true wait=s0>=2,s1>=2", "accumulate=true wait=s0>=2,s1>=2,s9>=1"}}},
    {psum_group,
     "onto a bank of another dtype/tile",
     kProducts,
     {{"dst=psum.float32@p0+0[1x64,1x64] stationary=sbuf.bfloat16@p0+128",
       "dst=psum.float32@p0+32[1x64,1x64] stationary=sbuf.bfloat16@p0+128"}}},
    {bank_conflict,
     "second product in the bank being evacuated",
     kProducts,
     {{"dst=psum.float32@p0+2048[1x64,1x64] stationary", "dst=psum.float32@p0+1024[1x64,1x64] stationary"},
      {"data1=psum.float32@p0+2048[1x64,1x64]", "data1=psum.float32@p0+1024[1x64,1x64]"}}},
    {bank_conflict,
     "scalar and vector read one bank while tensor writes",
     kTransposes,
     {{"c0.sync dma_transpose",
       "c0.tensor nc_transpose dst=psum.bfloat16@p0+4608[1x128,1x128] data=sbuf.bfloat16@p0+0[1x128,1x128]\nc0.sync "
       "dma_transpose"}}},
    {psum_bank,
     "matmul across banks",
     kProducts,
     {{"dst=psum.float32@p0+2048[1x64,1x64] stationary", "dst=psum.float32@p0+1984[1x64,1x64] stationary"},
      {"data1=psum.float32@p0+2048[1x64,1x64]", "data1=psum.float32@p0+1984[1x64,1x64]"}}},
    {psum_bank,
     "transpose across banks",
     kTransposes,
     {{"dst=psum.bfloat16@p0+4096", "dst=psum.bfloat16@p0+4000"},
      {"src=psum.bfloat16@p0+4096", "src=psum.bfloat16@p0+4000"}}},
    {partition_start,
     "bn at 16",
     kStatistics,
     {{"dst=sbuf.float32@p32+2048[1x32,1x6] data=sbuf.float32@p32+0[1x32,1x64]",
       "dst=sbuf.float32@p16+2048[1x32,1x6] data=sbuf.float32@p16+0[1x32,1x64]"}}},
    {partition_start,
     "gpsimd 64 from 32",
     kStatistics,
     {{"dst=sbuf.float32@p64+256[1x64,1x64] src=sbuf.float32@p64+0",
       "dst=sbuf.float32@p32+256[1x64,1x64] src=sbuf.float32@p64+0"}}},
    {partition_start,
     "activation 40 from 96",
     kStatistics,
     {{"dst=sbuf.float32@p32+256[1x32,1x64] op=copy", "dst=sbuf.float32@p8+256[1x32,1x64] op=copy"}}},
    {partition_start,
     "psum 65 from 32",
     kProducts,
     {{"data=psum.float32@p0+0[1x64,1x64] wait", "data=psum.float32@p32+0[1x64,1x64] wait"}}},
    {partition_start,
     "matmul dst 64",
     kProducts,
     {{"dst=psum.float32@p0+2048[1x64,1x64] stationary", "dst=psum.float32@p32+2048[1x64,1x64] stationary"}}},
    {semaphore_underflow, "wait counts twice", kSoftmax, {{"wait=s3>=1", "wait=s3>=2"}}},
    {semaphore_underflow,
     "post of core 0 awaited twice on core 1",
     kExchange,
     {{"wait=s5>=1 post=s7", "wait=s5>=2 post=s7"}}},
    {semaphore_overflow, "number 256", kProducts, {{"post=s4", "post=s256"}}},
    {deadlock,
     "evacuation waits for the last product which waits for it",
     kProducts,
     {{"moving=sbuf.bfloat16@p0+1152[1x128,1x64] wait=s0>=3",
       "moving=sbuf.bfloat16@p0+1152[1x128,1x64] wait=s0>=3,s3>=1"},
      {"wait=s2>=2 post=s3", "wait=s2>=3 post=s3"}}},
    {deadlock,
     "cores wait on each other",
     kExchange,
     {{"c0.sync dma_copy dst=<A> src=<s0> queue=0 post=s0",
       "c0.sync dma_copy dst=<A> src=<s0> queue=0 wait=s1>=1 post=s0"},
      {"c1.sync dma_copy dst=<A> src=<s1> queue=0 post=s1",
       "c1.sync dma_copy dst=<A> src=<s1> queue=0 wait=s0>=1 post=s1"}}},
    {deadlock, "one core skips the barrier", kExchange, {{"c1.gpsimd core_barrier data=<s2> wait=s7>=1\n", ""}}},
    {deadlock,
     "barrier awaited by a post after it",
     kExchange,
     {{"c0.gpsimd core_barrier data=<s2> wait=s6>=1", "c0.gpsimd core_barrier data=<s2> wait=s6>=1,s8>=1"}}},
    {deadlock,
     "DMA queue of gather",
     kRows,
     {{"c0.gpsimd dma_copy dst=<A> src=<s0>", "c0.gpsimd dma_copy dst=<A> src=<s0>"},
      {"queue=2 wait=s0>=1 post=s1", "queue=2 wait=s0>=1,s2>=1 post=s1"}}},
    {queue_overflow, "queue 16", kMemory, {{"queue=2 wait=s0>=1", "queue=16 wait=s0>=1"}}},
    {engine, "activation on vector", kSoftmax, {{"c0.scalar activation", "c0.vector activation"}}},
    {engine, "bn_stats on gpsimd", kStatistics, {{"c0.vector bn_stats", "c0.gpsimd bn_stats"}}},
    {engine, "gpsimd psum", kProducts, {{"c0.vector tensor_tensor", "c0.gpsimd tensor_tensor"}}},
    {engine, "iota on scalar", kRows, {{"c0.gpsimd iota", "c0.scalar iota"}}},
    {dtype,
     "index as float",
     kRows,
     {{"index=sbuf.int32@p0+4096[1x128,1x1] queue=2 wait=s0>=1",
       "index=sbuf.float32@p0+4096[1x128,1x1] queue=2 wait=s0>=1"}}},
    {dtype, "wide predicate", kRows, {{"predicate=sbuf.uint8@p0+4200", "predicate=sbuf.uint32@p0+4200"}}},
    {dtype, "int64 in activation", kSoftmax, {{"dst=<B> op=exp", "dst=sbuf.int64@p0+256[1x128,1x64] op=exp"}}},
    {dtype,
     "transpose changes dtype",
     kTransposes,
     {{"dst=psum.bfloat16@p0+4096[1x128,1x128] data", "dst=psum.float32@p0+4096[1x128,1x128] data"}}},
    {shape,
     "stationary 129 columns",
     kProducts,
     {{"stationary=sbuf.bfloat16@p0+128[1x128,1x64]", "stationary=sbuf.bfloat16@p0+128[1x128,1x129]"}}},
    {shape,
     "moving 513",
     kProducts,
     {{"moving=sbuf.bfloat16@p0+1152[1x128,1x64] accumulate", "moving=sbuf.bfloat16@p0+1152[1x128,1x513] accumulate"}}},
    {shape,
     "bn_stats 5",
     kStatistics,
     {{"dst=sbuf.float32@p32+2048[1x32,1x6] data", "dst=sbuf.float32@p32+2048[1x32,1x5] data"}}},
    {shape,
     "reduce to 3",
     kSoftmax,
     {{"dst=sbuf.float32@p0+4096[1x128,1x1] op=maximum", "dst=sbuf.float32@p0+4096[1x128,1x3] op=maximum"}}},
    {shape, "iota sizes", kRows, {{"1x64] post=s4", "1x63] post=s4"}}},
    {shape, "dma sizes", kMemory, {{"dst=<s3> src=<s1>", "dst=<s3> src=hbm.float32@s1+0[64x127,1x64]"}}},
    {race, "a tile cleared before another engine read it", kCleared, {{"wait=s1>=2 post=s2", "wait=s1>=1 post=s2"}}},
    {race, "columns between those that were waited for", kColumns, {{"wait=s0>=1,s1>=1", "wait=s0>=1"}}},
    {race,
     "sums read from the engine that adds them",
     kSums,
     {{"operand0=sbuf.float32@p0+4096[1x128,1x1] wait=s1>=2", "operand0=sbuf.float32@p0+4096[1x128,1x1] wait=s1>=1"}}},
    {race, "the second of two open groups", kOpenGroups, {{"wait=s1>=2 post=s3", "wait=s1>=1 post=s3"}}},
    {race, "a transpose on the vector engine", kQuarters, {{"queue=0 wait=s1>=1", "queue=0"}}},
    {uninitialised,
     "one column of two",
     kColumns,
     {{"dst=sbuf.float32@p0+4[1x128,2x32]", "dst=sbuf.float32@p0+0[1x128,2x32]"},
      {"c0.gpsimd memset", "c0.vector memset"}}},
    {psum_group,
     "groups that cross",
     kOpenGroups,
     {{"dst=psum.float32@p0+2048[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] "
       "moving=sbuf.bfloat16@p0+0[1x128,1x128]\n",
       "dst=psum.float32@p0+4096[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] "
       "moving=sbuf.bfloat16@p0+0[1x128,1x128]\n"}}},
    {bank_conflict,
     "a copy out beside a product in the bank",
     kOpenGroups,
     {{"dst=psum.float32@p0+2048[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] "
       "moving=sbuf.bfloat16@p0+0[1x128,1x128] accumulate=true post=s1",
       "dst=psum.float32@p0+2048[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] "
       "moving=sbuf.bfloat16@p0+0[1x128,1x128] accumulate=true post=s1\nc0.tensor nc_matmul "
       "dst=psum.float32@p0+1024[1x128,1x128] stationary=sbuf.bfloat16@p0+0[1x128,1x128] "
       "moving=sbuf.bfloat16@p0+0[1x128,1x128]"}}},
    {partition_start, "a transpose from 80", kQuarters, {{"data=sbuf.float32@p96+0", "data=sbuf.float32@p80+0"}}},
    {shape, "max8 of seven", kQuarters, {{"src=sbuf.float32@p32+0[1x32,1x64]", "src=sbuf.float32@p32+0[1x32,1x7]"}}},
    {engine, "max8 on scalar", kQuarters, {{"c0.vector max8", "c0.scalar max8"}}},
    {dtype, "bits of a mask as floats", kRows, {{"on_true=<D>", "on_true=sbuf.int32@p0+768[1x128,1x64]"}}},
};

}  // namespace

TEST_CASE("Programs of other shapes without a fault are clean") {
  for (const std::string_view text : {kSoftmax, kProducts, kTransposes, kExchange, kRows, kStatistics, kMemory,
                                      kCleared, kColumns, kSums, kOpenGroups, kQuarters})
    check_clean(text);
}

TEST_CASE("planted faults of other shapes are found") {
  for (const Planted& f : kFaults) check_found(f);
}
