#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>

#include "isa/card.h"

namespace trn {

// One on-chip operand while an instruction runs: rows (partitions) of `elements` in pattern order. Values are used in
// place when they already stand as contiguous fp32 (or int32), else they pass through a caller's buffer of at least the
// asked count.
class Rows {
 public:
  // Elements per call that fits three fp32 buffers into a first-level cache.
  static constexpr int64_t kChunk = 2048;

  Rows(const Access& a, const CoreMemory& m);

  int partitions() const { return partitions_; }
  int64_t elements() const { return elements_; }
  // Elements of the innermost contiguous run.
  int64_t run() const { return contiguous_ ? counts_[0] : 1; }
  Dtype dtype() const { return dtype_; }
  // Reads and writes the elements as bit patterns, without sign extension.
  void as_bits(Dtype bits) { dtype_ = bits; }

  // The same pattern, `bytes` further into each partition.
  Rows shifted(ptrdiff_t bytes) const {
    Rows r = *this;
    r.base_ += bytes;
    return r;
  }

  // Elements as they stand in memory, packed.
  const std::byte* raw(int p, int64_t start, int64_t count, std::byte* buffer) const;
  void store_raw(int p, int64_t start, int64_t count, const std::byte* packed) const;

  const float* floats(int p, int64_t start, int64_t count, float* buffer) const;
  const int32_t* ints(int p, int64_t start, int64_t count, int32_t* buffer) const;
  float scalar(int p) const;
  int32_t int_scalar(int p) const;

  // Where to compute elements [start, start+count): in place or `buffer`. Then store() the same pointer.
  float* float_target(int p, int64_t start, int64_t count, float* buffer) const;
  int32_t* int_target(int p, int64_t start, int64_t count, int32_t* buffer) const;
  void store(int p, int64_t start, int64_t count, const float* values) const;
  void store(int p, int64_t start, int64_t count, const int32_t* values) const;

 private:
  std::byte* in_place(int p, int64_t start, int64_t count) const;  // null if not one contiguous run
  void gather(int p, int64_t start, int64_t count, std::byte* packed) const;
  void scatter(int p, int64_t start, int64_t count, const std::byte* packed) const;

  std::byte* base_;
  ptrdiff_t partition_step_;
  int partitions_;
  int64_t elements_;
  Dtype dtype_;
  int size_;
  int ndim_;  // free dims, innermost first
  std::array<int64_t, Access::kMaxDims> counts_;
  std::array<ptrdiff_t, Access::kMaxDims> steps_;  // bytes
  bool contiguous_;                                // innermost step is one element
};

// Calls body(partition, start, count) over all elements in chunks that suit every operand.
template <class Body>
void for_chunks(std::initializer_list<const Rows*> operands, Body&& body) {
  const Rows& first = **operands.begin();
  int64_t chunk = Rows::kChunk;
  for (const Rows* r : operands)
    if (r->run() >= Rows::kChunk / 8) chunk = std::min(chunk, r->run());
  for (int p = 0; p < first.partitions(); ++p)
    for (int64_t start = 0; start < first.elements(); start += chunk)
      body(p, start, std::min(chunk, first.elements() - start));
}

}  // namespace trn
