#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/alu.h"
#include "memory/memories.h"

namespace trn {

// Two access patterns joined into one loop nest: element k of the source's order goes to element k of the destination's
// order. Innermost dim first; steps are host bytes.
struct CopyNest {
  static constexpr int kMaxDims = 2 * Access::kMaxDims;
  int ndim = 0;
  std::array<int64_t, kMaxDims> count{};
  std::array<ptrdiff_t, kMaxDims> dst{}, src{};

  // Adds the next dim outwards, merged with the one inside it where both sides walk on regularly.
  void append(int64_t dim_count, ptrdiff_t dst_step, ptrdiff_t src_step);
};

// Joins the dims [first, ndim) of each side, which have equal element counts. False if no common nest exists (counts
// that do not divide one another).
bool join(const Access& dst, int dst_first, const Access& src, int src_first, const CoreMemory& m, CopyNest& nest);

// Same dtype: elements of `size` bytes (1, 2, 4 or 8).
void copy_nest(const CopyNest& nest, int size, std::byte* dst, const std::byte* src);
// Conversion: integer to integer exactly (32-bit values), everything else through fp32.
void convert_nest(const CopyNest& nest, Dtype to, std::byte* dst, Dtype from, const std::byte* src);
// dst = dst op src, in 32-bit integers where both sides are integers, else in fp32.
void combine_nest(const CopyNest& nest, AluOp op, Dtype to, std::byte* dst, Dtype from, const std::byte* src);

// Whole accesses, whatever their dims, in the order of both patterns; converts where the dtypes differ.
void copy_elements(const Access& dst, const Access& src, const CoreMemory& m);
void combine_elements(AluOp op, const Access& dst, const Access& src, const CoreMemory& m);

// The elements of `a` in pattern order as 32-bit integers or fp32, and back.
void read_indices(const Access& a, const CoreMemory& m, std::vector<int32_t>& values);
void read_floats(const Access& a, const CoreMemory& m, std::vector<float>& values);
void write_indices(const Access& a, const CoreMemory& m, const std::vector<int32_t>& values);
void write_floats(const Access& a, const CoreMemory& m, const std::vector<float>& values);

}  // namespace trn
