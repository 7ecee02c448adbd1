#pragma once
#include "isa/operands.h"

// Cards whose values come from positions, and cards that search.
namespace trn {

// offset + partition * channel_multiplier + sum over pattern dims of index * step, in 32-bit integers that wrap.
struct AffineIndex {
  Pattern pattern{};
  int32_t offset = 0;
  int32_t channel_multiplier = 0;
};

namespace rules {
Verdict pattern_covers(std::string_view field, const Pattern& p, std::string_view tile_field, const Access& a);
// 8 to 16384 elements per partition: what max8, nc_find_index8 and nc_match_replace8 search.
Verdict searched(std::string_view field, const Access& a);
// [P, 8] beside `searched`.
Verdict eight(std::string_view field, const Access& a, const Access& searched);
Verdict index_dtype(std::string_view field, Dtype d);
}  // namespace rules

void run_iota(const Access& dst, const AffineIndex& index, const CoreMemory& m);
void run_affine_select(const Access& dst, const AffineIndex& index, const Access& on_true, float on_false,
                       AluOp compare, const CoreMemory& m);

void run_sequence_bounds(const Access& dst, const Access& segment_ids, const CoreMemory& m);
void run_nonzero(const Access& dst, const Access& src, int32_t index_offset, int32_t padding, const CoreMemory& m);

void run_max8(const Access& dst, const Access& src, const CoreMemory& m);
void run_find_index8(const Access& dst, const Access& data, const Access& vals, const CoreMemory& m);
void run_match_replace8(const Access& dst, const Access& data, const Access& vals, float imm, const Access& dst_index,
                        const CoreMemory& m);

// The `k` largest of the first `n` elements of each group of 16 partitions, ascending, with their places. Element i of
// a group is in its partition i mod 16, column i / 16, and so are the results; the rest of the results' columns stays.
// Of equal values the later ones are taken; NaN counts as the largest.
void run_topk(const Access& val_dst, const Access& idx_dst, const Access& src, int64_t n, int64_t k,
              const CoreMemory& m);

}  // namespace trn
