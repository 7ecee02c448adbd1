#include "backend/compiler/copy_kernel.h"

#include <algorithm>

#include "backend/compiler/matmul_operands.h"
#include "backend/compiler/transfer.h"

namespace trn::compiler {
namespace {

constexpr int64_t kLeastSide = 16;    // below this the tensor engine turns mostly air
constexpr int64_t kMostOthers = 256;  // other dims are looped over
constexpr int64_t kColumns = 1024;    // source elements per row and load

struct Turn {
  size_t row = 0, column = 0;  // dims contiguous in the destination, in the source
  std::vector<size_t> others;
};

std::optional<Turn> find_turn(const View& to, const View& from) {
  const int size = size_of(to.dtype);
  if (to.dtype != from.dtype || (size != 2 && size != 4)) return {};
  Turn t;
  int found = 0;
  int64_t others = 1;
  for (size_t i = 0; i < to.shape.size(); ++i) {
    if (to.shape[i] == 1) continue;
    if (to.strides[i] == 1 && from.strides[i] == 1) return {};
    if (to.strides[i] == 1) {
      t.row = i;
      ++found;
    } else if (from.strides[i] == 1) {
      t.column = i;
      ++found;
    } else {
      t.others.push_back(i);
      others *= to.shape[i];
    }
  }
  if (found != 2 || others > kMostOthers || to.shape[t.row] < kLeastSide || to.shape[t.column] < kLeastSide) return {};
  return t;
}

// Up to 128 rows of the destination, from row `r` of the plane at the offsets.
void turn_rows(TileBuilder& t, const View& to, const View& from, const Turn& turn, int64_t r, int64_t to_offset,
               int64_t from_offset) {
  const Dtype d = size_of(to.dtype) == 4 ? Dtype::float32 : Dtype::bfloat16;  // bits are moved, not values
  const auto dim = [](int64_t step, int64_t n) { return Dim{static_cast<int32_t>(step), static_cast<int32_t>(n)}; };
  const auto bits = [d](Access a) {
    a.dtype = d;
    return a;
  };
  const int64_t nr = std::min(kTile, to.shape[turn.row] - r), columns = to.shape[turn.column];
  for (int64_t c = 0; c < columns; c += kColumns) {
    const int64_t nc = std::min(kColumns, columns - c), full = nc / kTile, rest = nc % kTile;
    const Tile natural = t.sbuf(static_cast<int>(nr), d, {nc});
    t.load(natural, bits(hbm_access(from, from_offset + r * from.strides[turn.row] + c,
                                    {dim(from.strides[turn.row], nr)}, {dim(1, nc)})));
    const auto place = [&](int64_t column) { return to_offset + r + (c + column) * to.strides[turn.column]; };
    const int64_t step = to.strides[turn.column];
    if (full) {
      const Tile turned = t.sbuf(static_cast<int>(kTile), d, {full, nr});
      turn_blocks(t, turned, natural.columns(0, full * kTile), full);
      t.store(bits(hbm_access(to, place(0), {dim(step, kTile), dim(step * kTile, full)}, {dim(1, nr)})), turned);
    }
    if (rest) {
      const Tile turned = t.sbuf(static_cast<int>(rest), d, {1, nr});
      turn_blocks(t, turned, natural.columns(full * kTile, rest), 1);
      t.store(bits(hbm_access(to, place(full * kTile), {dim(step, rest)}, {dim(1, nr)})), turned);
    }
  }
}

}  // namespace

void copy_kernel(TileBuilder& t, const View& to, const View& from) {
  const auto turn = find_turn(to, from);
  if (!turn) return copy_view(t, to, from);
  int64_t planes = 1;
  for (size_t i : turn->others) planes *= to.shape[i];
  const int64_t tiles = (to.shape[turn->row] + kTile - 1) / kTile;
  const auto mine = t.share(planes * tiles);
  for (int64_t i = mine.first; i < mine.last; ++i) {
    int64_t index = i / tiles, to_offset = 0, from_offset = 0;
    for (size_t i : turn->others) {
      to_offset += index % to.shape[i] * to.strides[i];
      from_offset += index % to.shape[i] * from.strides[i];
      index /= to.shape[i];
    }
    turn_rows(t, to, from, *turn, i % tiles * kTile, to_offset, from_offset);
  }
}

}  // namespace trn::compiler
