#pragma once
#include "backend/compiler/split.h"

namespace trn::compiler {

// One HBM tensor as a row kernel sees it: element steps along each axis of the iteration space, 0 where it does not
// vary.
struct Source {
  NodeId node;
  View view;
  Dims steps;
};

// The iteration space of a row kernel after dims that every tensor walks alike are joined, and the tensors that it
// touches.
struct Iteration {
  Dims size;
  std::vector<char> reduced;
  std::vector<Source> reads, writes;  // writes follow Kernel::results
  std::vector<Source> iotas;          // steps: 1 along the counted axis; no view
  std::vector<Source> rolls;          // steps: 1 along the rolled axis, which every tile holds whole; no view

  int axes() const { return static_cast<int>(size.size()); }
};
const Source* source_of(const std::vector<Source>& list, NodeId id);  // null: not there
uint32_t axes_with_steps(const Source& s);                            // a bit for each

// `in_order`: axes stay in the kernel's order; else they follow the memory of the largest tensor. Dims are joined only
// where `reduced` agrees.
Iteration iteration_space(const Plan& p, const Kernel& k, bool in_order = false);

// A loop over `count` indices of an axis, `step` apart.
struct Walk {
  int axis;
  int64_t step, count;
  friend bool operator==(const Walk&, const Walk&) = default;
};

// What one tile holds: partition p is index first_row + p of the row-major space of `rows`, the free dims are `free`;
// both count from `start`.
struct Block {
  Dims start;  // by axis
  std::vector<Walk> rows;
  int64_t first_row = 0;
  int partitions = 1;
  std::vector<Walk> free;
};

// Blocks that share their kept indices: reductions accumulate over them, nothing else connects steps.
using Step = std::vector<Block>;

struct Layout {
  std::vector<Step> steps;
  bool rows_are_reduced = false;  // partitions walk reduced axes: reductions end with one across partitions
};
// `bytes`: SBUF bytes that one element of the space needs in all live tiles; `budget`: bytes per partition. `one_row`:
// each partition has one row of what is reduced, as products have their rows, so that tiles can stay on chip.
Layout choose_layout(const Iteration& s, int64_t bytes, int64_t budget, bool one_row);

}  // namespace trn::compiler
