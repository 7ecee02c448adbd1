#pragma once
#include <array>
#include <span>
#include <vector>

#include "isa/activation.h"
#include "isa/activation_reduce.h"
#include "isa/affine_select.h"
#include "isa/bn_aggr.h"
#include "isa/bn_stats.h"
#include "isa/dma_compute.h"
#include "isa/dma_copy.h"
#include "isa/dma_transpose.h"
#include "isa/iota.h"
#include "isa/local_gather.h"
#include "isa/max8.h"
#include "isa/memset.h"
#include "isa/nc_find_index8.h"
#include "isa/nc_match_replace8.h"
#include "isa/nc_matmul.h"
#include "isa/nc_n_gather.h"
#include "isa/nc_stream_shuffle.h"
#include "isa/nc_transpose.h"
#include "isa/nonzero_with_count.h"
#include "isa/program.h"
#include "isa/range_select.h"
#include "isa/reciprocal.h"
#include "isa/scalar_tensor_tensor.h"
#include "isa/select_reduce.h"
#include "isa/sequence_bounds.h"
#include "isa/tensor_copy.h"
#include "isa/tensor_copy_predicated.h"
#include "isa/tensor_partition_reduce.h"
#include "isa/tensor_reduce.h"
#include "isa/tensor_scalar.h"
#include "isa/tensor_scalar_cumulative.h"
#include "isa/tensor_scalar_reduce.h"
#include "isa/tensor_tensor.h"
#include "isa/tensor_tensor_scan.h"

namespace trn {

// The one list. Adding an instruction is one file and one line here. An instruction's number is its place; append, so that older executables load.
using Isa = std::tuple<NcMatmul, NcTranspose, Activate, ActivationReduce, TensorCopy, TensorTensor, TensorScalar, ScalarTensorTensor,
                       TensorReduce, TensorTensorScan, TensorCopyPredicated, SelectReduce, Iota, AffineSelect, Memset, Reciprocal, Max8,
                       NcFindIndex8, NcMatchReplace8, DmaCopy, DmaCompute, DmaTranspose, NcStreamShuffle, TensorPartitionReduce,
                       LocalGather, NcNGather, BnStats, BnAggr, RangeSelect, TensorScalarReduce, TensorScalarCumulative, SequenceBounds,
                       NonzeroWithCount>;

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

// The operands of an instruction in memory.
struct AccessList {
  static constexpr int kMost = 24;
  std::array<const Access*, kMost> access;
  std::array<bool, kMost> written;
  int count = 0;
};

// One card with its types erased: what dispatch, tools and tests use. `args` points at the card's Args.
struct CardRow {
  std::string_view name, doc, source;
  Status status;
  Generation since;
  EngineSet engines;
  bool is_dma;
  size_t args_bytes;
  Verdict (*check)(const void* args, Engine, const Spec&);
  Cost (*cost)(const void* args, Engine, const Spec&);
  void (*run)(const void* args, const CoreMemory&);
  void (*accesses)(const void* args, AccessList&);
  // The first field whose value is none of its enum's, or empty. Everything else about `args` may be asked only after this.
  std::string_view (*damaged)(const void* args);
};

std::span<const CardRow> isa();
const CardRow* card_named(std::string_view name);  // null if there is none
inline const CardRow& row(const Instruction& i) { return isa()[i.card]; }

// Points into `p`.
AccessList accesses(const Program& p, const Instruction& i);

// Dangling indices, operands outside their memories, waits that no earlier instruction meets, rules of the cards: the first broken one with its
// instruction, or nothing. A Program that passes can be executed and timed without reading outside its memories.
Verdict check(const Program& p, const Spec& s);

}  // namespace trn
