#include "isa/transpose_kernel.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/transpose_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
T* at(std::byte* base, ptrdiff_t step, int64_t row, int64_t column) {
  return reinterpret_cast<T*>(base + row * step) + column;
}
template <class T>
const T* at(const std::byte* base, ptrdiff_t step, int64_t row, int64_t column) {
  return reinterpret_cast<const T*>(base + row * step) + column;
}

// One element; its address need not be a multiple of its size (short runs travel as one wide element).
template <class T>
void move(T* dst, const T* src) {
  std::memcpy(static_cast<void*>(dst), src, sizeof(T));
}

template <class T>
struct Scalar {
  static constexpr int64_t kSide = 4;
  static void block(std::byte* dst, ptrdiff_t dst_step, const std::byte* src, ptrdiff_t src_step) {
    for (int64_t c = 0; c < kSide; ++c)
      for (int64_t r = 0; r < kSide; ++r) move(at<T>(dst, dst_step, c, r), at<T>(src, src_step, r, c));
  }
};

#if HWY_TARGET == HWY_SCALAR
using Words = Scalar<uint32_t>;
using Halves = Scalar<uint16_t>;
#else
// 128-bit vectors on every target: the copies are bound by the caches.
struct Words {
  static constexpr int64_t kSide = 4;
  static void block(std::byte* dst, ptrdiff_t dst_step, const std::byte* src, ptrdiff_t src_step) {
    const hn::Full128<uint32_t> d;
    const hn::Full128<uint64_t> pair;
    const auto r0 = hn::LoadU(d, at<uint32_t>(src, src_step, 0, 0)),
               r1 = hn::LoadU(d, at<uint32_t>(src, src_step, 1, 0));
    const auto r2 = hn::LoadU(d, at<uint32_t>(src, src_step, 2, 0)),
               r3 = hn::LoadU(d, at<uint32_t>(src, src_step, 3, 0));
    const auto a = hn::BitCast(pair, hn::InterleaveLower(d, r0, r1)),
               b = hn::BitCast(pair, hn::InterleaveLower(d, r2, r3));
    const auto e = hn::BitCast(pair, hn::InterleaveUpper(d, r0, r1)),
               f = hn::BitCast(pair, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, a, b)), d, at<uint32_t>(dst, dst_step, 0, 0));
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, a, b)), d, at<uint32_t>(dst, dst_step, 1, 0));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, e, f)), d, at<uint32_t>(dst, dst_step, 2, 0));
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, e, f)), d, at<uint32_t>(dst, dst_step, 3, 0));
  }
};

struct Halves {
  static constexpr int64_t kSide = 8;
  static void block(std::byte* dst, ptrdiff_t dst_step, const std::byte* src, ptrdiff_t src_step) {
    const hn::Full128<uint16_t> d;
    const hn::Full128<uint32_t> two;
    const hn::Full128<uint64_t> four;
    using V = hn::Vec<hn::Full128<uint32_t>>;
    V pairs[8];  // pairs[2i + h]: rows 2i, 2i+1 interleaved, lower or upper columns
    for (int i = 0; i < 4; ++i) {
      const auto x = hn::LoadU(d, at<uint16_t>(src, src_step, 2 * i, 0)),
                 y = hn::LoadU(d, at<uint16_t>(src, src_step, 2 * i + 1, 0));
      pairs[2 * i] = hn::BitCast(two, hn::InterleaveLower(d, x, y));
      pairs[2 * i + 1] = hn::BitCast(two, hn::InterleaveUpper(d, x, y));
    }
    for (int h = 0; h < 2; ++h) {
      const auto lo0 = hn::BitCast(four, hn::InterleaveLower(two, pairs[h], pairs[2 + h]));
      const auto hi0 = hn::BitCast(four, hn::InterleaveUpper(two, pairs[h], pairs[2 + h]));
      const auto lo1 = hn::BitCast(four, hn::InterleaveLower(two, pairs[4 + h], pairs[6 + h]));
      const auto hi1 = hn::BitCast(four, hn::InterleaveUpper(two, pairs[4 + h], pairs[6 + h]));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(four, lo0, lo1)), d, at<uint16_t>(dst, dst_step, 4 * h, 0));
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(four, lo0, lo1)), d, at<uint16_t>(dst, dst_step, 4 * h + 1, 0));
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(four, hi0, hi1)), d, at<uint16_t>(dst, dst_step, 4 * h + 2, 0));
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(four, hi0, hi1)), d, at<uint16_t>(dst, dst_step, 4 * h + 3, 0));
    }
  }
};

#endif

template <class T, class Block>
void transpose_as(int64_t rows, int64_t columns, std::byte* dst, ptrdiff_t dst_step, const std::byte* src,
                  ptrdiff_t src_step) {
  // Squares of one cache line a side, so that each line is fetched once.
  constexpr int64_t kTile = 64 / sizeof(T);
  constexpr int64_t kSide = Block::kSide;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const int64_t r1 = std::min(rows, r0 + kTile), c1 = std::min(columns, c0 + kTile);
      const int64_t rb = r0 + (r1 - r0) / kSide * kSide, cb = c0 + (c1 - c0) / kSide * kSide;
      for (int64_t c = c0; c < cb; c += kSide)
        for (int64_t r = r0; r < rb; r += kSide)
          Block::block(reinterpret_cast<std::byte*>(at<T>(dst, dst_step, c, r)), dst_step,
                       reinterpret_cast<const std::byte*>(at<T>(src, src_step, r, c)), src_step);
      for (int64_t c = c0; c < c1; ++c)
        for (int64_t r = c < cb ? rb : r0; r < r1; ++r) move(at<T>(dst, dst_step, c, r), at<T>(src, src_step, r, c));
    }
}

}  // namespace

void transpose(int size, int64_t rows, int64_t columns, std::byte* dst, ptrdiff_t dst_step, const std::byte* src,
               ptrdiff_t src_step) {
  switch (size) {
    case 1: return transpose_as<uint8_t, Scalar<uint8_t>>(rows, columns, dst, dst_step, src, src_step);
    case 2: return transpose_as<uint16_t, Halves>(rows, columns, dst, dst_step, src, src_step);
    case 4: return transpose_as<uint32_t, Words>(rows, columns, dst, dst_step, src, src_step);
    default: return transpose_as<uint64_t, Scalar<uint64_t>>(rows, columns, dst, dst_step, src, src_step);
  }
}

void interleave(const uint16_t* first, const uint16_t* second, int64_t n, uint32_t* pairs, ptrdiff_t step) {
  const hn::CappedTag<uint32_t, 16> d;
  const hn::Rebind<uint16_t, decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < n; i += lanes) {
    const auto low = hn::PromoteTo(d, hn::LoadU(half, first + i)), high = hn::PromoteTo(d, hn::LoadU(half, second + i));
    hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), d, pairs + i / 16 * step + i % 16);
  }
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {

HWY_EXPORT(transpose);
HWY_EXPORT(interleave);

void transpose(int size, int64_t rows, int64_t columns, std::byte* dst, ptrdiff_t dst_step, const std::byte* src,
               ptrdiff_t src_step) {
  HWY_DYNAMIC_DISPATCH(transpose)(size, rows, columns, dst, dst_step, src, src_step);
}

void interleave(const uint16_t* first, const uint16_t* second, int64_t n, uint32_t* pairs, ptrdiff_t step) {
  HWY_DYNAMIC_DISPATCH(interleave)(first, second, n, pairs, step);
}

}  // namespace trn
#endif
