#include "backend/compiler/matmul_operands.h"

#include <algorithm>

#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

constexpr int64_t kBankBytes = 2048;
constexpr int64_t kNaturalBytes = 8192;  // per partition: rows as they stand in HBM, on their way to the tensor engine
constexpr int64_t kLoadBytes =
    4096;  // per partition and DMA: long enough for full bandwidth, short enough that products start early

// k tiles of `rows` rows that come in one DMA.
int64_t tiles_per_load(const Side& s, int64_t rows) {
  return std::max<int64_t>(kLoadBytes / (rows * size_of(s.view.dtype)), 1);
}

// k straight to partitions. Full k tiles come several to a DMA, the ragged last one alone.
void load_direct(TileBuilder& t, const Tile& panel, const Side& s, int64_t first, int64_t rows, int64_t k0, int64_t k) {
  const int64_t full = k / kTile, rest = k % kTile;
  const int64_t group = tiles_per_load(s, rows);
  for (const RowBox& box : cut_rows(s.rows, 3, first, rows)) {
    const Access columns = slice(panel, 2, box.at, box.count);
    const int64_t start = s.offset + box.offset + k0 * s.k_step;
    for (int64_t kt = 0; kt < full; kt += group) {
      const int64_t n = std::min(group, full - kt);
      const std::vector<Dim> ks{{static_cast<int32_t>(s.k_step), kTile},
                                {static_cast<int32_t>(s.k_step * kTile), static_cast<int32_t>(n)}};
      t.load(slice(columns, 1, kt, n), hbm_access(s.view, start + kt * kTile * s.k_step, ks, box.dims));
    }
    if (!rest) continue;
    const std::vector<Dim> ks{{static_cast<int32_t>(s.k_step), static_cast<int32_t>(rest)}};
    t.load(slice(slice(columns, 1, full, 1), 0, 0, rest),
           hbm_access(s.view, start + full * kTile * s.k_step, ks, box.dims));
  }
}

// The DMA engines turn what they read from HBM at nine tenths of their rate, where 128 partitions and a multiple of 16
// columns come out (nki-dge): a 128 x 128 tile takes them 9 ns longer and the tensor engine, which has at least as much
// to do, 56 ns less. What is computed before may still be on chip: no load at all.
bool can_be_turned_by_dma(const Side& s, const std::vector<RowBox>& rows, int64_t k, const Spec& machine) {
  const int64_t bytes = size_of(s.view.dtype);
  return machine.generation >= DmaTranspose::since && !s.computed && s.k_step == 1 && k % kTile == 0 &&
         (bytes == 2 || bytes == 4) && rows.size() == 1 && rows[0].dims.size() == 1 && rows[0].count % 16 == 0;
}

void load_turned_by_dma(TileBuilder& t, const Tile& panel, const Side& s, const RowBox& rows, int64_t k0, int64_t k) {
  const int64_t tiles = k / kTile, group = tiles_per_load(s, rows.count);
  for (int64_t kt = 0; kt < tiles; kt += group) {
    const int64_t n = std::min(group, tiles - kt);
    DmaTranspose::Args a;
    a.dst = slice(panel, 1, kt, n);
    a.src = hbm_access(s.view, s.offset + rows.offset + k0 + kt * kTile, rows.dims,
                       {{kTile, static_cast<int32_t>(n)}, {1, kTile}});
    a.axes = 210;
    t.emit<DmaTranspose>(Engine::sync, a);
  }
}

void load_turned(TileBuilder& t, const Tile& panel, const Side& s, int64_t first, int64_t rows, int64_t k0, int64_t k) {
  if (const auto boxes = cut_rows(s.rows, 1, first, rows); can_be_turned_by_dma(s, boxes, k, t.spec()))
    return load_turned_by_dma(t, panel, s, boxes[0], k0, k);
  const int64_t step = kNaturalBytes / size_of(s.view.dtype) / kTile * kTile;
  for (int64_t r = 0; r < rows; r += kTile)
    for (int64_t at = 0; at < k; at += step) {
      const int64_t n = std::min(kTile, rows - r), length = std::min(step, k - at);
      const Tile natural = t.sbuf(static_cast<int>(n), s.view.dtype, {length});
      const std::vector<Dim> ks{{static_cast<int32_t>(s.k_step), static_cast<int32_t>(length)}};
      for (const RowBox& box : cut_rows(s.rows, 4, first + r, n))
        t.load(slice(natural, 0, box.at, box.count),
               hbm_access(s.view, s.offset + box.offset + (k0 + at) * s.k_step, box.dims, ks));
      turn_columns(t, slice(slice(panel, 2, r, n), 1, at / kTile, (length + kTile - 1) / kTile), natural, kTile);
    }
}

}  // namespace

bool Side::turned() const {
  if (k == 1) return false;
  const int64_t inner = rows.empty() ? 0 : std::abs(int64_t{rows.back().step});
  return std::abs(k_step) < inner || rows.empty();
}

void product(TileBuilder& t, const Access& dst, const Access& stationary, const Access& moving, bool accumulate) {
  NcMatmul::Args a;
  a.dst = dst;
  a.stationary = stationary;
  a.moving = moving;
  a.accumulate = accumulate;
  t.emit<NcMatmul>(Engine::tensor, a);
}

void turn_blocks(TileBuilder& t, const Access& dst, const Access& data, int64_t blocks) {
  const int64_t r = data.partitions(), c = data.free_elements() / blocks;
  const int64_t group = std::max<int64_t>(kBankBytes / (r * size_of(data.dtype)), 1);
  for (int64_t b = 0; b < blocks; b += group) {
    const int64_t n = std::min(group, blocks - b);
    const Tile bank = t.psum(static_cast<int>(c), data.dtype, {n, r});
    for (int64_t i = 0; i < n; ++i) {
      NcTranspose::Args a;
      a.dst = slice(bank, 1, i, 1);
      a.data = slice(data, 1, (b + i) * c, c);
      t.emit<NcTranspose>(Engine::tensor, a);
    }
    copy_tile(t, slice(dst, 1, b, n), bank);
  }
}

void turn_columns(TileBuilder& t, const Access& dst, const Access& data, int64_t c) {
  const int64_t full = data.free_elements() / c, rest = data.free_elements() % c;
  if (full) turn_blocks(t, slice(dst, 1, 0, full), slice(data, 1, 0, full * c), full);
  if (rest) turn_blocks(t, slice(slice(dst, 1, full, 1), 0, 0, rest), slice(data, 1, full * c, rest), 1);
}

Tile load_panel(TileBuilder& t, const Side& s, int64_t first, int64_t rows, int64_t k0, int64_t k) {
  const Tile panel = t.sbuf(static_cast<int>(std::min(k, kTile)), s.view.dtype, {(k + kTile - 1) / kTile, rows});
  s.turned() ? load_turned(t, panel, s, first, rows, k0, k) : load_direct(t, panel, s, first, rows, k0, k);
  return panel;
}

Access panel_tile(const Tile& panel, int64_t k, int64_t kt, int64_t first, int64_t n) {
  return slice(slice(slice(panel, 1, kt, 1), 2, first, n), 0, 0, std::min(kTile, k - kt * kTile));
}

}  // namespace trn::compiler
