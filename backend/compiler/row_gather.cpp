#include "backend/compiler/row_gather.h"

#include <algorithm>

#include "backend/compiler/transfer.h"

namespace trn::compiler {
namespace {

constexpr int64_t kRows = 128;

// [R, ...] as dims[0] = rows and the row's elements behind it.
Access table(const View& v) {
  Access a = hbm_access(v, 0, {});
  a.ndim = 1;
  a.dims[0] = {static_cast<int32_t>(v.strides[0]), static_cast<int32_t>(v.shape[0])};
  std::vector<Dim> inner;
  for (size_t i = 1; i < v.shape.size(); ++i) push_joined(inner, v.strides[i], v.shape[i]);
  if (inner.size() + 1 > static_cast<size_t>(Access::kMaxDims))
    throw Error(Fault::unsupported, "rows of a gather have too many dims for one DMA");
  for (const Dim& d : inner) a.dims[a.ndim++] = d;
  return a;
}

// Indices [0, n) as [128, ceil(n / 128)]: column c serves rows [128 c, 128 c + 128).
Tile load_indices(TileBuilder& t, const View& v, int64_t n) {
  const int64_t full = n / kRows, rest = n % kRows, step = v.strides[0];
  const Tile tile = t.sbuf(static_cast<int>(std::min(n, kRows)), Dtype::int32, {full + (rest > 0)});
  const auto dim = [](int64_t s, int64_t c) { return Dim{static_cast<int32_t>(s), static_cast<int32_t>(c)}; };
  if (full) t.load(tile.columns(0, full), hbm_access(v, 0, {dim(step, kRows), dim(step * kRows, full)}));
  if (rest) t.load(slice(tile.columns(full, 1), 0, 0, rest), hbm_access(v, full * kRows * step, {dim(step, rest)}));
  return tile;
}

template <class Move>
void for_each_group(TileBuilder& t, const View& index, Move move) {
  const int64_t n = index.shape[0];
  const Tile indices = load_indices(t, index, n);
  const auto mine = t.share(n, kRows);
  for (int64_t at = mine.first; at < mine.last; at += kRows) {
    const int64_t rows = std::min(kRows, n - at);
    move(at, rows, slice(indices.columns(at / kRows, 1), 0, 0, rows));
  }
}

}  // namespace

void gather_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  DmaCopy::Args a;
  a.src = table(p.view(n.inputs[0]));
  const Access to = table(k.results[0].to);
  for_each_group(t, p.view(n.inputs[1]), [&](int64_t at, int64_t rows, const Access& index) {
    a.dst = slice(to, 0, at, rows);
    a.index = index;
    t.emit<DmaCopy>(Engine::gpsimd, a);
  });
}

void scatter_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  const View& to = k.results[0].to;
  if (!(p.view(n.inputs[0]) == to)) copy_view(t, to, p.view(n.inputs[0]));
  const Access into = table(to), from = table(p.view(n.inputs[2]));
  for_each_group(t, p.view(n.inputs[1]), [&](int64_t at, int64_t rows, const Access& index) {
    const Access src = slice(from, 0, at, rows);
    if (n.alu == AluOp::bypass) {
      DmaCopy::Args a;
      a.dst = into;
      a.src = src;
      a.index = index;
      a.index_selects_dst = true;
      t.emit<DmaCopy>(Engine::gpsimd, a);
      return;
    }
    DmaCompute::Args a;
    a.dst = into;
    a.src0 = src;
    a.index = index;
    a.reduce_op = n.alu;
    a.unique_indices = false;
    t.emit<DmaCompute>(Engine::gpsimd, a);
  });
}

}  // namespace trn::compiler
