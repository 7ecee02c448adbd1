#pragma once
#include <algorithm>
#include <array>

#include "isa/card.h"
#include "isa/threads.h"

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
  // Reading row p of this operand does not see what other threads write to other rows of `dst`.
  bool keeps_apart(const Rows& dst) const;

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

  Space space_;
  int first_partition_;
  ByteRange range_;
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

// Elements below which a second thread costs more than it brings.
inline constexpr int64_t kElementsPerThread = 16 * 1024;

// What one instruction touches; null where an operand is absent.
struct RowOperands {
  std::array<const Rows*, 2> written{};  // the first one has the instruction's shape
  std::array<const Rows*, 4> read{};
};

// True where rows can be worked on in any order: no row that is read or written is another row of a written operand.
bool rows_are_independent(const RowOperands& o);

// body(first, last) for ranges of partitions, at the same time where that is safe and `elements` of work are worth it.
template <class Body>
void for_partitions(const RowOperands& o, int64_t elements, Body&& body) {
  const int64_t partitions = o.written[0]->partitions();
  const int64_t pieces = std::min(partitions, pieces_of(elements, kElementsPerThread));
  split(partitions, pieces > 1 && rows_are_independent(o) ? pieces : 1, 1, body);
}

// Calls body(partition, start, count) over all elements in chunks that suit every operand; the chunks of one partition
// come in order in one thread.
template <class Body>
void for_chunks(const RowOperands& o, Body&& body) {
  const Rows& dst = *o.written[0];
  int64_t chunk = Rows::kChunk;
  const auto suit = [&chunk](const Rows* r) {
    if (r && r->run() >= Rows::kChunk / 8) chunk = std::min(chunk, r->run());
  };
  std::for_each(o.written.begin(), o.written.end(), suit);
  std::for_each(o.read.begin(), o.read.end(), suit);
  for_partitions(o, dst.partitions() * dst.elements(), [&](int64_t first, int64_t last) {
    for (auto p = static_cast<int>(first); p < last; ++p)
      for (int64_t start = 0; start < dst.elements(); start += chunk)
        body(p, start, std::min(chunk, dst.elements() - start));
  });
}

}  // namespace trn
