#pragma once
#include "isa/accumulate.h"

// Cards that choose elements by a predicate or by position.
namespace trn {

namespace rules {
Verdict predicate(std::string_view field, const Access& a, std::string_view other_field, const Access& other,
                  const Spec& s);
}

// dst = src (a tile of dst's dtype, or an immediate) where the predicate is not 0 (is 0 if reversed); other elements
// keep their bits.
void run_copy_predicated(const Access& dst, const Operand& src, const Access& predicate, bool reverse,
                         const CoreMemory& m);

// dst = predicate ? on_true : on_false, through fp32; the fp32 results are accumulated in Vector's registers.
void run_select(const Access& dst, const Access& predicate, const Access& on_true, const Operand& on_false,
                bool reverse, const Accumulation& maxima, const CoreMemory& m);

// One comparison of an index with a value per partition.
struct IndexBound {
  AluOp compare;
  const Access& bound;
};
// dst[i] = on_true[i] where first + i satisfies both bounds, else the least float32; indices are compared in fp32.
// Accumulates as run_select.
void run_range_select(const Access& dst, const Access& on_true, const IndexBound& low, const IndexBound& high,
                      int32_t first, const Accumulation& maxima, const CoreMemory& m);

// dst[p] = src[mask[p mod 32]] inside each group of 32 partitions; 255 leaves dst[p] alone.
void run_shuffle(const Access& dst, const Access& src, const ShuffleMask& mask, const CoreMemory& m);

// dst[p][i] = data[p][indices[p][i]]; throws trn::Error(undefined) for an index outside data's elements.
void run_gather(const Access& dst, const Access& data, const Access& indices, const CoreMemory& m);

// nki.isa.local_gather: groups of 16 partitions share the indices that stand in them, partition by partition.
void run_local_gather(const Access& dst, const Access& src, const Access& index, int elements_per_index, int64_t valid,
                      const CoreMemory& m);

// One partition group of 16 shares its offsets: offset i in partition i mod 16, column i / 16. Throws
// trn::Error(undefined) for one outside the indexed side's elements.
void run_indirect(const Access& dst, const Access& src, const Access& index, int64_t count, bool selects_dst,
                  const CoreMemory& m);

// dst[0][i] = data[0][i] op data[1][i] op ...
void run_partition_reduce(const Access& dst, AluOp op, const Access& data, const CoreMemory& m);

}  // namespace trn
