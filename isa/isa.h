#pragma once
#include "isa/activate2.h"
#include "isa/activation.h"
#include "isa/activation_reduce.h"
#include "isa/affine_select.h"
#include "isa/bn_aggr.h"
#include "isa/bn_stats.h"
#include "isa/compare_branch.h"
#include "isa/core_barrier.h"
#include "isa/dispatch.h"
#include "isa/dma_compute.h"
#include "isa/dma_copy.h"
#include "isa/dma_transpose.h"
#include "isa/dropout.h"
#include "isa/end_loop.h"
#include "isa/exponential.h"
#include "isa/indirect.h"
#include "isa/iota.h"
#include "isa/label.h"
#include "isa/local_gather.h"
#include "isa/loop.h"
#include "isa/max8.h"
#include "isa/memset.h"
#include "isa/nc_find_index8.h"
#include "isa/nc_match_replace8.h"
#include "isa/nc_matmul.h"
#include "isa/nc_matmul_mx.h"
#include "isa/nc_n_gather.h"
#include "isa/nc_stream_shuffle.h"
#include "isa/nc_transpose.h"
#include "isa/nonzero_with_count.h"
#include "isa/program.h"
#include "isa/quantize_mx.h"
#include "isa/rand2.h"
#include "isa/rand_get_state.h"
#include "isa/rand_set_state.h"
#include "isa/range_select.h"
#include "isa/reciprocal.h"
#include "isa/register_alloc.h"
#include "isa/register_alu.h"
#include "isa/register_load.h"
#include "isa/register_move.h"
#include "isa/register_store.h"
#include "isa/rng.h"
#include "isa/scalar_tensor_tensor.h"
#include "isa/select_reduce.h"
#include "isa/sendrecv.h"
#include "isa/sequence_bounds.h"
#include "isa/set_rng_seed.h"
#include "isa/tensor_copy.h"
#include "isa/tensor_copy_predicated.h"
#include "isa/tensor_partition_reduce.h"
#include "isa/tensor_reduce.h"
#include "isa/tensor_scalar.h"
#include "isa/tensor_scalar_cumulative.h"
#include "isa/tensor_scalar_reduce.h"
#include "isa/tensor_tensor.h"
#include "isa/tensor_tensor_scan.h"
#include "isa/topk.h"

namespace trn {

// The one list. Adding an instruction is one file and one line here. An instruction's number is its place; append, so
// that older executables load.
using Isa = std::tuple<NcMatmul, NcTranspose, Activate, ActivationReduce, TensorCopy, TensorTensor, TensorScalar,
                       ScalarTensorTensor, TensorReduce, TensorTensorScan, TensorCopyPredicated, SelectReduce, Iota,
                       AffineSelect, Memset, Reciprocal, Max8, NcFindIndex8, NcMatchReplace8, DmaCopy, DmaCompute,
                       DmaTranspose, NcStreamShuffle, TensorPartitionReduce, LocalGather, NcNGather, BnStats, BnAggr,
                       RangeSelect, TensorScalarReduce, TensorScalarCumulative, SequenceBounds, NonzeroWithCount, Rng,
                       SetRngSeed, RandSetState, RandGetState, Dropout, Topk, NcMatmulMx, QuantizeMx, Activate2,
                       Exponential, Rand2, Indirect, RegisterAlloc, RegisterMove, RegisterLoad, RegisterStore,
                       RegisterAlu, Loop, EndLoop, Label, CompareBranch, CoreBarrier, SendRecv>;

// ---- everything below is derived ----

template <class C, class Tuple>
struct IndexOf;
template <class C, class... Rest>
struct IndexOf<C, std::tuple<C, Rest...>> : std::integral_constant<uint16_t, 0> {};
template <class C, class First, class... Rest>
struct IndexOf<C, std::tuple<First, Rest...>>
    : std::integral_constant<uint16_t, 1 + IndexOf<C, std::tuple<Rest...>>::value> {};

template <Card C>
inline constexpr uint16_t card_index = IndexOf<C, Isa>::value;

}  // namespace trn
