#pragma once
#include <optional>

#include "backend/compiler/graph.h"

namespace trn::compiler {

// A tensor in HBM: which bytes of a slot, in which order. Strides are in elements and may be 0 (broadcast) or negative
// (flip).
struct View {
  uint32_t slot = 0;
  Dtype dtype = Dtype::float32;
  int64_t offset = 0;  // bytes inside the slot
  Dims shape, strides;
  friend bool operator==(const View&, const View&) = default;
};

int64_t elements(const Dims& shape);
Dims contiguous_strides(const Dims& shape);
// Strides of `shape`'s elements seen as `to`, if that needs no copy.
std::optional<Dims> reshaped_strides(const Dims& shape, const Dims& strides, const Dims& to);

View view_of(const Node& input_or_output);
View contiguous_view(uint32_t slot, Dtype dtype, Dims shape);
View permuted(View v, const Dims& axes);
View expanded(View v, const Dims& shape);  // numpy broadcast
View sliced(View v, int dim, int64_t start, int64_t count, int64_t step = 1);
View flipped(View v, int dim);
std::optional<View> reshaped(View v, const Dims& shape);
// What view node `n` (expand, permute, reshape, slice, flip) makes of its operand's view; nothing if it needs a copy.
std::optional<View> apply_view(const Node& n, View operand);
// The operand's elements inside the view of the node's result; the inverse of apply_view for permute, flip and reshape,
// nothing else.
std::optional<View> invert_view(const Node& n, View result, const Dims& operand_shape);

bool is_view(Op op);
// map1, map2, select, cast: element i of the result depends on element i of the operands.
bool is_pointwise(Op op);

// Bytes [begin, end) of the slot that the view can touch; empty if it has no elements.
ByteRange byte_range(const View& v);

}  // namespace trn::compiler
