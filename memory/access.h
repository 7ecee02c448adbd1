#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "memory/dtype.h"

namespace trn {

// Where bytes live. `hbm` operands name a Program slot; `sbuf` and `psum` operands name partitions of the core that
// executes.
enum class Space : uint8_t { none, hbm, sbuf, psum };

constexpr std::string_view space_name(Space s) {
  constexpr std::string_view names[] = {"none", "hbm", "sbuf", "psum"};
  return names[static_cast<int>(s)];
}

// One dimension of an access pattern: `count` steps of `step` elements (of partitions, for dims[0] on chip). A negative
// count names a scalar register of the issuing engine instead: the dim adds `step` times the register's value to the
// offset and is one element long (nki: scalar_offset). Only generic code sees such a dim; whoever executes an
// instruction resolves it first (isa/registers.h), so cards never do.
struct Dim {
  int32_t step = 0;
  int32_t count = 1;
  static constexpr Dim dynamic(int reg, int32_t step) { return {step, -1 - reg}; }
  constexpr bool is_dynamic() const { return count < 0; }
  constexpr int reg() const { return -1 - count; }
  friend bool operator==(const Dim&, const Dim&) = default;
};

// An operand: which bytes an instruction touches, in which order. Plain data, 56 bytes, comparable, serialisable.
//   on chip: dims[0] walks partitions from `partition` (step 1, or 0 to broadcast one partition on a read), dims[1..]
//   walk one partition's bytes
//            from byte `offset`; all partitions share the free pattern (trn2.md section 4).
//   hbm:     all dims are element steps from byte `offset` of slot `buffer`.
// In a program before allocation (compiler), an on-chip `buffer` is a virtual tile's id and `offset` counts from its
// start.
struct Access {
  static constexpr int kMaxDims = 5;

  Space space = Space::none;
  Dtype dtype = Dtype::float32;
  uint8_t ndim = 0;
  uint8_t partition = 0;
  uint32_t buffer = 0;
  int64_t offset = 0;
  std::array<Dim, kMaxDims> dims{};

  bool present() const { return space != Space::none; }
  bool on_chip() const { return space == Space::sbuf || space == Space::psum; }
  int64_t elements() const {
    int64_t n = 1;
    for (int i = 0; i < ndim; ++i) n *= dims[i].count;
    return n;
  }
  int partitions() const { return ndim ? dims[0].count : 1; }
  // Elements per partition.
  int64_t free_elements() const {
    int64_t n = 1;
    for (int i = 1; i < ndim; ++i) n *= dims[i].count;
    return n;
  }
  int64_t bytes() const { return elements() * size_of(dtype); }
  friend bool operator==(const Access&, const Access&) = default;
};

// Byte interval [begin, end) that the free dims (on chip) or all dims (hbm) of `a` can touch, relative to
// partition/slot start.
struct ByteRange {
  int64_t begin, end;
};
ByteRange byte_range(const Access& a);

// True when walking the free dims in order visits consecutive elements.
bool is_contiguous(const Access& a);

// Drops count-1 dims (never dims[0] on chip) and merges neighbours that form one regular walk. Same elements, same
// order.
Access simplified(Access a);

// "sbuf bfloat16 p0+128 @4096 [1,512]" - the spelling used by assembly text and messages.
std::string to_string(const Access& a);

}  // namespace trn
