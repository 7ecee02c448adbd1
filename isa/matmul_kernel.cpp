#include "isa/matmul_kernel.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "isa/threads.h"
#include "isa/tile_matmul.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/matmul_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// A register block of kRows x 2 vectors: with the two b vectors and a broadcast it fills 16 or 32 registers.
constexpr int64_t kRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
constexpr int64_t columns_per_block() { return 2 * hn::MaxLanes(D()); }

// kR rows of a block; `a` holds kRows values per k, `b` two vectors per k. The sum's order over k is that of the loop,
// alone per element.
template <int64_t kR>
HWY_INLINE void block(int64_t k, const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, float* dst,
                      ptrdiff_t dst_step, bool accumulate) {
  const D d;
  const int64_t lanes = hn::MaxLanes(d);
  V left[kR], right[kR];
  HWY_UNROLL(12)
  for (int64_t r = 0; r < kR; ++r) left[r] = right[r] = hn::Zero(d);
  for (int64_t i = 0; i < k; ++i, a += kRows, b += 2 * lanes) {
    const V b0 = hn::Load(d, b), b1 = hn::Load(d, b + lanes);
    HWY_UNROLL(12)
    for (int64_t r = 0; r < kR; ++r) {
      const V x = hn::Set(d, a[r]);
      left[r] = hn::MulAdd(x, b0, left[r]);
      right[r] = hn::MulAdd(x, b1, right[r]);
    }
  }
  HWY_UNROLL(12)
  for (int64_t r = 0; r < kR; ++r) {
    float* row = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(dst) + r * dst_step);
    if (accumulate) {
      left[r] = hn::Add(hn::LoadU(d, row), left[r]);
      right[r] = hn::Add(hn::LoadU(d, row + lanes), right[r]);
    }
    hn::StoreU(left[r], d, row);
    hn::StoreU(right[r], d, row + lanes);
  }
}

template <int64_t kR>
void block_of_rows(int64_t rows, int64_t k, const float* a, const float* b, float* dst, ptrdiff_t dst_step,
                   bool accumulate) {
  if constexpr (kR > 0) {
    if (rows == kR) return block<kR>(k, a, b, dst, dst_step, accumulate);
    return block_of_rows<kR - 1>(rows, k, a, b, dst, dst_step, accumulate);
  }
}

}  // namespace

int64_t BlockRows() { return kRows; }
int64_t BlockColumns() { return columns_per_block(); }

// Row k of the stationary operand, `m` floats, spread over the row blocks: out[block][k][kRows].
void SpreadRow(int64_t k, int64_t depth, int64_t m, const float* row, float* out) {
  out += k * kRows;
  for (; m >= kRows; m -= kRows, row += kRows, out += depth * kRows) std::memcpy(out, row, kRows * sizeof(float));
  if (m == 0) return;
  std::memset(out, 0, kRows * sizeof(float));
  std::memcpy(out, row, static_cast<size_t>(m) * sizeof(float));
}

// One column block of the moving operand, widened, for the dtypes that most products have. Elements of a row are
// consecutive. False: some other dtype.
bool PackBlock(int64_t k, const std::byte* src, ptrdiff_t row_step, Dtype dtype, float* out) {
  const D d;
  const int64_t lanes = hn::MaxLanes(d);
  constexpr int64_t kAhead = 4;  // rows lie far apart: fetch the line of this block some rows early
  if (dtype == Dtype::float32) {
    for (int64_t i = 0; i < k; ++i, src += row_step, out += 2 * lanes) {
      hwy::Prefetch(src + kAhead * row_step);
      const auto* from = reinterpret_cast<const float*>(src);
      hn::Store(hn::LoadU(d, from), d, out);
      hn::Store(hn::LoadU(d, from + lanes), d, out + lanes);
    }
    return true;
  }
  if (dtype == Dtype::bfloat16) {
    const hn::RebindToUnsigned<D> wide;
    const hn::Rebind<uint16_t, D> half;
    for (int64_t i = 0; i < k; ++i, src += row_step, out += 2 * lanes) {
      hwy::Prefetch(src + kAhead * row_step);
      const auto* from = reinterpret_cast<const uint16_t*>(src);
      hn::Store(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(half, from)))), d, out);
      hn::Store(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(half, from + lanes)))), d, out + lanes);
    }
    return true;
  }
  return false;
}

// All m rows against one packed column block of b. A block narrower than two vectors is computed in full beside dst and
// copied.
void Column(int64_t k, int64_t m, int64_t n, const float* a, const float* b, float* dst, ptrdiff_t dst_step,
            bool accumulate) {
  constexpr int64_t kColumns = columns_per_block();
  HWY_ALIGN float wide[kRows * kColumns];
  for (int64_t r = 0; r < m; r += kRows, a += kRows * k) {
    const int64_t rows = std::min(kRows, m - r);
    float* out = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(dst) + r * dst_step);
    if (n == kColumns) {
      block_of_rows<kRows>(rows, k, a, b, out, dst_step, accumulate);
      continue;
    }
    block_of_rows<kRows>(rows, k, a, b, wide, kColumns * sizeof(float), false);
    for (int64_t i = 0; i < rows; ++i, out = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(out) + dst_step))
      for (int64_t j = 0; j < n; ++j) out[j] = accumulate ? out[j] + wide[i * kColumns + j] : wide[i * kColumns + j];
  }
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {

HWY_EXPORT(BlockRows);
HWY_EXPORT(BlockColumns);
HWY_EXPORT(SpreadRow);
HWY_EXPORT(PackBlock);
HWY_EXPORT(Column);

namespace {

// Below this many multiply-adds a second thread costs more than it brings.
constexpr int64_t kWorkPerThread = 128 * 128 * 256;

class Workspace {
 public:
  float* get(size_t n) {
    if (n > size_) {
      memory_.resize(n + 16);
      size_ = n;
    }
    void* p = memory_.data();
    size_t space = memory_.size() * sizeof(float);
    return static_cast<float*>(std::align(64, n * sizeof(float), p, space));
  }

 private:
  std::vector<float> memory_;
  size_t size_ = 0;
};

// Row i of the stationary operand as floats; `buffer` holds m.
const float* row_of(const MatrixView& v, int64_t i, int64_t m, float* buffer) {
  const std::byte* at = v.data + i * v.row_step;
  if (v.dtype == Dtype::float32 && v.column_step == sizeof(float)) return reinterpret_cast<const float*>(at);
  read_as_float(v.dtype, at, v.column_step, buffer, m);
  return buffer;
}

// `width` columns from `column` of every row, `block` wide with zeros, k after k.
void pack(const MatrixView& v, int64_t k, int64_t column, int64_t width, int64_t block, float* out) {
  const std::byte* at = v.data + column * v.column_step;
  if (width == block && v.column_step == size_of(v.dtype) &&
      HWY_DYNAMIC_DISPATCH(PackBlock)(k, at, v.row_step, v.dtype, out))
    return;
  for (int64_t i = 0; i < k; ++i, at += v.row_step, out += block) {
    read_as_float(v.dtype, at, v.column_step, out, width);
    for (int64_t j = width; j < block; ++j) out[j] = 0;
  }
}

void columns(int64_t k, int64_t m, int64_t first, int64_t last, const float* a, const MatrixView& b, float* dst,
             ptrdiff_t dst_step, bool accumulate) {
  static thread_local Workspace workspace;
  const int64_t block = HWY_DYNAMIC_DISPATCH(BlockColumns)();
  float* packed = workspace.get(k * block);
  for (int64_t n = first; n < last; n += block) {
    const int64_t width = std::min(block, last - n);
    pack(b, k, n, width, block, packed);
    HWY_DYNAMIC_DISPATCH(Column)(k, m, width, a, packed, dst + n, dst_step, accumulate);
  }
}

}  // namespace

void matmul(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst, ptrdiff_t dst_step,
            bool accumulate) {
  const auto narrow = [](const MatrixView& v) { return v.dtype == Dtype::bfloat16 && v.column_step == 2; };
  if (narrow(a) && narrow(b) && has_tiles()) return tile_matmul(k, m, n, a, b, dst, dst_step, accumulate);

  static thread_local Workspace workspace;
  const int64_t rows = HWY_DYNAMIC_DISPATCH(BlockRows)(), block = HWY_DYNAMIC_DISPATCH(BlockColumns)();
  const int64_t blocks = (m + rows - 1) / rows;
  float* packed = workspace.get(blocks * rows * k + m);
  float* buffer = packed + blocks * rows * k;
  const auto spread = HWY_DYNAMIC_DISPATCH(SpreadRow);
  for (int64_t i = 0; i < k; ++i) spread(i, k, m, row_of(a, i, m, buffer), packed);

  split(n, pieces_of(k * m * n, kWorkPerThread), block,
        [&](int64_t first, int64_t last) { columns(k, m, first, last, packed, b, dst, dst_step, accumulate); });
}

}  // namespace trn
#endif
