#include "isa/tile_matmul.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "isa/transpose_kernel.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define TRN_HAS_AMX_CODE 1
#endif

namespace trn {

namespace {

// A tile: 16 rows of 64 bytes. Left: 16 rows of dst x 32 values of k. Right: 16 pairs of k x 16 columns, the two values
// of a pair side by side.
constexpr int64_t kSide = 16, kDepth = 32, kTileElements = kSide * kDepth;

// c[32][32] (=, or += what stands there) left[2 tiles] * right[2 tiles], over `steps` tiles of depth. Left tiles of one
// row block stand behind one another, the second row block `steps` tiles later; right tiles likewise.
struct TileUnit {
  void (*begin)();
  void (*block)(int64_t steps, const uint16_t* left, const uint16_t* right, float* c, ptrdiff_t c_step,
                bool accumulate);
  void (*end)();
};

float widen(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }

void emulated_block(int64_t steps, const uint16_t* left, const uint16_t* right, float* c, ptrdiff_t c_step,
                    bool accumulate) {
  for (int64_t row = 0; row < 2 * kSide; ++row)
    for (int64_t column = 0; column < 2 * kSide; ++column) {
      float& out = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(c) + row * c_step)[column];
      float sum = accumulate ? out : 0;
      for (int64_t k = 0; k < steps * kDepth; ++k) {
        const uint16_t x = left[(row / kSide * steps + k / kDepth) * kTileElements + row % kSide * kDepth + k % kDepth];
        const uint16_t y = right[(column / kSide * steps + k / kDepth) * kTileElements + k % kDepth / 2 * kDepth +
                                 column % kSide * 2 + k % 2];
        sum += widen(x) * widen(y);
      }
      out = sum;
    }
}

constexpr TileUnit kEmulated{[] {}, emulated_block, [] {}};

#ifdef TRN_HAS_AMX_CODE
#define TRN_AMX [[gnu::target("amx-tile,amx-bf16")]]  // known to GCC and clang, unlike GCC's pragma

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

TRN_AMX void amx_begin() {
  static const TileConfig config;
  _tile_loadconfig(&config);
}
TRN_AMX void amx_end() { _tile_release(); }

// Tiles 0 to 3: c; 4, 5: left; 6, 7: right.
TRN_AMX void amx_block(int64_t steps, const uint16_t* left, const uint16_t* right, float* c, ptrdiff_t c_step,
                       bool accumulate) {
  auto* lower = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(c) + kSide * c_step);
  if (accumulate) {
    _tile_loadd(0, c, c_step);
    _tile_loadd(1, c + kSide, c_step);
    _tile_loadd(2, lower, c_step);
    _tile_loadd(3, lower + kSide, c_step);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const uint16_t *second_left = left + steps * kTileElements, *second_right = right + steps * kTileElements;
  for (int64_t i = 0; i < steps * kTileElements; i += kTileElements) {
    _tile_loadd(4, left + i, 64);
    _tile_loadd(6, right + i, 64);
    _tile_loadd(7, second_right + i, 64);
    _tile_loadd(5, second_left + i, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, c, c_step);
  _tile_stored(1, c + kSide, c_step);
  _tile_stored(2, lower, c_step);
  _tile_stored(3, lower + kSide, c_step);
}

constexpr TileUnit kAmx{amx_begin, amx_block, amx_end};

bool allowed_to_use_amx() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24;
  if ((d & kBf16) == 0 || (d & kTile) == 0) return false;
  constexpr long kRequestPermission = 0x1023,
                 kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA (Linux asm/prctl.h)
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#endif

template <class T>
T* workspace(int which, size_t n) {
  static thread_local std::vector<T> buffers[2];
  std::vector<T>& b = buffers[which];
  if (b.size() < n + 64 / sizeof(T)) b.resize(n + 64 / sizeof(T));
  void* p = b.data();
  size_t space = b.size() * sizeof(T);
  return static_cast<T*>(std::align(64, n * sizeof(T), p, space));
}

constexpr int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Left tiles [row block][depth step][16 rows][32 values], zeros beyond the edges.
const uint16_t* pack_left(int64_t k, int64_t m, const MatrixView& a, int64_t steps) {
  const int64_t rows = up(m, 2 * kSide);
  uint16_t* out = workspace<uint16_t>(0, rows * steps * kDepth);
  if (m != rows || k != steps * kDepth) std::memset(out, 0, rows * steps * kDepth * 2);
  for (int64_t r = 0; r < m; r += kSide)
    for (int64_t i = 0; i < k; i += kDepth)
      transpose(2, std::min(kDepth, k - i), std::min(kSide, m - r),
                reinterpret_cast<std::byte*>(out + (r / kSide * steps + i / kDepth) * kTileElements), kDepth * 2,
                a.data + i * a.row_step + r * 2, a.row_step);
  return out;
}

// Right tiles [column block][depth step][16 pairs][16 columns][2].
const uint16_t* pack_right(int64_t k, int64_t n, const MatrixView& b, int64_t steps) {
  const int64_t columns = up(n, 2 * kSide);
  uint16_t* out = workspace<uint16_t>(1, columns * steps * kDepth);
  if (n != columns || k != steps * kDepth) std::memset(out, 0, columns * steps * kDepth * 2);
  for (int64_t i = 0; i < k; i += 2) {
    const auto* first = reinterpret_cast<const uint16_t*>(b.data + i * b.row_step);
    const auto* second = reinterpret_cast<const uint16_t*>(b.data + (i + 1) * b.row_step);
    const ptrdiff_t step = steps * kTileElements / 2;
    auto* pairs = reinterpret_cast<uint32_t*>(out + i / kDepth * kTileElements + i % kDepth * kSide);
    const int64_t whole = i + 1 < k ? n / kSide * kSide : 0;
    interleave(first, second, whole, pairs, step);
    for (int64_t c = whole; c < n; ++c)  // ragged columns, and a last row without a partner
      pairs[c / kSide * step + c % kSide] = first[c] | (i + 1 < k ? uint32_t{second[c]} << 16 : 0);
  }
  return out;
}

void product(const TileUnit& unit, int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b,
             float* dst, ptrdiff_t dst_step, bool accumulate) {
  const int64_t steps = up(k, kDepth) / kDepth, side = 2 * kSide;
  const uint16_t *left = pack_left(k, m, a, steps), *right = pack_right(k, n, b, steps);
  alignas(64) float edge[4 * kSide * kSide];
  constexpr ptrdiff_t kEdgeStep = 2 * kSide * sizeof(float);
  unit.begin();
  for (int64_t c = 0; c < n; c += side)
    for (int64_t r = 0; r < m; r += side) {
      auto* out = reinterpret_cast<float*>(reinterpret_cast<std::byte*>(dst) + r * dst_step) + c;
      const uint16_t *from_left = left + r * steps * kDepth, *from_right = right + c * steps * kDepth;
      const int64_t rows = std::min(side, m - r), columns = std::min(side, n - c);
      if (rows == side && columns == side) {
        unit.block(steps, from_left, from_right, out, dst_step, accumulate);
        continue;
      }
      const auto row = [&](int64_t i) {
        return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(out) + i * dst_step);
      };
      if (accumulate)
        for (int64_t i = 0; i < rows; ++i) std::copy_n(row(i), columns, edge + i * side);
      unit.block(steps, from_left, from_right, edge, kEdgeStep, accumulate);
      for (int64_t i = 0; i < rows; ++i) std::copy_n(edge + i * side, columns, row(i));
    }
  unit.end();
}

#ifdef TRN_HAS_AMX_CODE
// One product against the emulation: a system that only pretends to have tiles must not change a model's numbers.
bool trial() {
  constexpr int64_t kK = 70, kM = 33, kN = 47;
  std::vector<uint16_t> a(kK * kM), b(kK * kN);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint16_t>(0x3F80 + i * 37 % 128);  // 1 to 2
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint16_t>((i % 3 ? 0x3F80 : 0xBF80) + i * 53 % 128);
  const MatrixView left{reinterpret_cast<const std::byte*>(a.data()), kM * 2, 2, Dtype::bfloat16};
  const MatrixView right{reinterpret_cast<const std::byte*>(b.data()), kN * 2, 2, Dtype::bfloat16};
  std::vector<float> want(kM * kN, 1), got(kM * kN, 1);
  for (const bool accumulate : {false, true}) {
    product(kEmulated, kK, kM, kN, left, right, want.data(), kN * 4, accumulate);
    product(kAmx, kK, kM, kN, left, right, got.data(), kN * 4, accumulate);
    for (size_t i = 0; i < want.size(); ++i)
      if (!(std::fabs(want[i] - got[i]) < 1e-3f)) return false;
  }
  return true;
}
#endif

}  // namespace

#ifdef TRN_HAS_AMX_CODE
bool has_tiles() {
  static const bool has = allowed_to_use_amx() && trial();
  return has;
}

void tile_matmul(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst,
                 ptrdiff_t dst_step, bool accumulate) {
  product(kAmx, k, m, n, a, b, dst, dst_step, accumulate);
}
#else
bool has_tiles() { return false; }

void tile_matmul(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst,
                 ptrdiff_t dst_step, bool accumulate) {
  product(kEmulated, k, m, n, a, b, dst, dst_step, accumulate);
}
#endif

void tile_matmul_emulated(int64_t k, int64_t m, int64_t n, const MatrixView& a, const MatrixView& b, float* dst,
                          ptrdiff_t dst_step, bool accumulate) {
  product(kEmulated, k, m, n, a, b, dst, dst_step, accumulate);
}

}  // namespace trn
