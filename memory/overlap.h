#pragma once
#include <optional>
#include <vector>

#include "memory/access.h"

namespace trn {

// Byte steps of an operand's dims that move (on chip: inside one partition), with its offset.
struct ByteWalk {
  std::array<int64_t, Access::kMaxDims> step;
  std::array<int64_t, Access::kMaxDims> count;
  int dims = 0;
  int64_t offset;
  int64_t element;

  explicit ByteWalk(const Access& a);
  ByteRange range() const;
  // No hole between the first and the last byte.
  bool is_dense() const;
  // Takes out the dims that move by whole rows of `pitch` bytes; rows [first, last] remain. False if what is left does
  // not stay inside one row.
  bool take_rows(int64_t pitch, int64_t& first, int64_t& last);
};

// True when two operands in the same buffer touch a common byte. Exact for patterns that are rows of one pitch inside
// rows of another, which is what tiles of tensors are; otherwise may say true for disjoint ones.
bool overlaps(const Access& a, const Access& b);
// The same inside one partition.
bool overlaps(ByteWalk a, ByteWalk b);

// True when two of an operand's own elements share a byte (on chip: of one partition).
bool overlaps_itself(const Access& a);

// True when the free dims (on chip) or all dims (hbm) leave no hole between the first and the last byte.
bool is_dense(const Access& a);

// Partitions [begin, end) that an operand touches; one in HBM.
struct Partitions {
  int begin, end;
};
Partitions partitions_of(const Access& a);

// The bytes that `a` touches in each partition (hbm: in its slot) as disjoint intervals in rising order. False, and
// nothing useful in `runs`, if there are more than `most`.
bool byte_runs(const Access& a, std::vector<ByteRange>& runs, size_t most = size_t{1} << 22);

// What two operands in the same buffer share, exactly.
struct CommonBytes {
  Partitions partitions;
  ByteRange first;  // the first interval of common bytes
  int64_t bytes;    // all common bytes of one partition
};
std::optional<CommonBytes> common_bytes(const Access& a, const Access& b);

}  // namespace trn
