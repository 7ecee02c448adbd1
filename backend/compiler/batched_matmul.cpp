#include "backend/compiler/batched_matmul.h"

#include <algorithm>

#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

constexpr int64_t kBankElements = 512;
constexpr int64_t kGroupBytes = 8 * 1024;  // per partition of the widest tile of a group

}  // namespace

Tile load_group(TileBuilder& t, const Side& s, int64_t batch_step, int64_t first, int64_t count) {
  const int64_t pack = std::min(packed(s.k), count), packs = (count + pack - 1) / pack;
  const auto rows = static_cast<int32_t>(s.count), k = static_cast<int32_t>(s.k),
             step = static_cast<int32_t>(batch_step);
  const Dim row{s.rows.empty() ? 1 : s.rows.back().step, rows}, ks{static_cast<int32_t>(s.k_step), k};
  const int64_t start = s.offset + first * batch_step;
  const Tile panel = t.sbuf(static_cast<int>(pack * k), s.view.dtype, {packs, rows});
  if (s.turned()) {
    const Tile natural = t.sbuf(rows, s.view.dtype, {count * k});
    t.load(natural, hbm_access(s.view, start, {row, {step, static_cast<int32_t>(count)}, ks}));
    turn_columns(t, panel, natural, pack * k);
    return panel;
  }
  for (int64_t i = 0; i < pack; ++i) {
    const int64_t n = (count - i + pack - 1) / pack;
    t.load(slice(slice(panel, 0, i * k, k), 1, 0, n),
           hbm_access(s.view, start + i * batch_step,
                      {ks, {static_cast<int32_t>(step * pack), static_cast<int32_t>(n)}, row}));
  }
  return panel;
}

Access group_member(const Tile& group, int64_t k, int64_t count, int64_t i) {
  const int64_t together = std::min(packed(k), count);
  return slice(slice(group, 0, i % together * k, k), 1, i / together, 1);
}

bool fits_batched(const Product& p, const BatchDim& d) {
  const bool plain = p.a.rows.size() <= 1 && p.b.rows.size() <= 1;
  return plain && d.count > 1 && p.a.k <= kTile && p.a.count <= kTile &&
         p.b.count <= (p.b.turned() ? kTile : kBankElements);
}

void batched_matmul(TileBuilder& t, const Product& p, const BatchDim& d) {
  const int64_t m = p.a.count, n = p.b.count, k = p.a.k, pack = packed(k);
  const int64_t widest = std::max({m, n, k}) * 4;
  const int64_t group = std::min(d.count, std::max(kGroupBytes / widest / pack * pack, pack));
  const int64_t per_bank = std::max<int64_t>(kBankElements / n, 1);
  p.result->expect({0, m}, {0, n}, n);
  for (int64_t first = 0; first < d.count; first += group) {
    const int64_t count = std::min(group, d.count - first);
    const Tile a = load_group(t, p.a, d.a, first, count), b = load_group(t, p.b, d.b, first, count);
    const Tile out = t.sbuf(static_cast<int>(m), p.result->dtype(), {count, n});
    for (int64_t at = 0; at < count; at += per_bank) {
      const int64_t here = std::min(per_bank, count - at);
      const Tile bank = t.psum(static_cast<int>(m), Dtype::float32, {here, n});
      for (int64_t i = at; i < at + here; ++i)
        product(t, slice(bank, 1, i - at, 1), group_member(a, k, count, i), group_member(b, k, count, i), false);
      copy_tile(t, slice(out, 1, at, here), bank);
    }
    p.result->write_products(out, d.number, d.first + first, count);
  }
}

}  // namespace trn::compiler
