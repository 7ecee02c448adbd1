#pragma once
#include <array>
#include <optional>
#include <vector>

#include "memory/overlap.h"

namespace trn {

// Which bytes of one memory (SBUF or PSUM of a core, or an HBM slot) have been written: intervals of bytes, each with
// the partitions that it holds for.
class WrittenBytes {
 public:
  void add(const Access& a);
  bool empty() const { return intervals_.empty(); }
  // The first bytes of `a` that were never written, or nothing.
  std::optional<CommonBytes> missing(const Access& a);

 private:
  struct Mask {
    std::array<uint64_t, 2> bits{};
    friend bool operator==(const Mask&, const Mask&) = default;
  };
  struct Interval {
    int64_t begin, end;
    Mask partitions;
  };

  static Mask mask_of(const Access& a);
  static bool has(const Mask& all, const Mask& some) {
    return (some.bits[0] & ~all.bits[0]) == 0 && (some.bits[1] & ~all.bits[1]) == 0;
  }
  // The interval that ends after `at`, perhaps the end.
  std::vector<Interval>::iterator after(int64_t at);
  bool covers(const ByteRange& r, const Mask& m);

  std::vector<Interval> intervals_;  // disjoint, rising
  std::vector<ByteRange> runs_;
  std::vector<Interval> merged_;
};

}  // namespace trn
