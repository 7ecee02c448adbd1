#include "backend/compiler/scan_kernel.h"

#include <algorithm>

#include "backend/compiler/lines.h"
#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

constexpr int64_t kChunk = 2048;

// r[i] = x[i] op r[i-1] from the column `before`, if there is one. The instruction applies two operators: the other one
// is multiplication with 1, or the same once more where repeating does nothing.
void scan_floats(TileBuilder& t, AluOp op, const Access& dst, const Access& x, const Access& before,
                 const Access& ones) {
  const bool sums = op == AluOp::add, products = op == AluOp::multiply;
  TensorTensorScan::Args a;
  a.dst = dst;
  a.data0 = sums ? ones : x;
  a.op0 = sums ? AluOp::multiply : op;
  a.data1 = products ? ones : x;
  a.op1 = op;
  a.initial.immediate = info(op).identity;
  if (before.present()) a.initial = {.tile = before, .immediate = 0};
  t.emit<TensorTensorScan>(Engine::vector, a);
}

// After the step with distance d every element holds the last 2 d of them.
Access scan_integers(TileBuilder& t, AluOp op, Access x, const Access& before) {
  const int64_t n = x.free_elements();
  for (int64_t d = 1; d < n; d *= 2) {
    const int64_t free[] = {n};
    const Tile next = t.sbuf(x.partitions(), x.dtype, free);
    copy_tile(t, next.columns(0, d), slice(x, 1, 0, d));
    tensor_step(t, next.columns(d, n - d), slice(x, 1, d, n - d), {}, op, slice(x, 1, 0, n - d), false);
    x = next;
  }
  if (before.present()) scalar_steps(t, x, x, {op, {before, 0}, false});
  return x;
}

}  // namespace

void scan_kernel(TileBuilder& t, const Plan& p, const Kernel& k) {
  const Node& n = p.graph[k.nodes[0]];
  const bool floats = is_float(n.dtype);
  const Dtype d = floats ? Dtype::float32 : Dtype::int32;
  const Tile one = t.sbuf(static_cast<int>(Lines::kPartitions), Dtype::float32, {1});
  if (floats) fill_tile(t, one, 1);
  const Lines from(p.view(n.inputs[0]), n.dim), to(k.results[0].to, n.dim);
  const auto mine = t.share(from.count(), Lines::kPartitions);
  for (int64_t row = mine.first; row < mine.last; row += Lines::kPartitions) {
    Access before{};
    for (int64_t at = 0; at < from.length(); at += kChunk) {
      const int64_t rows = std::min(Lines::kPartitions, from.count() - row),
                    length = std::min(kChunk, from.length() - at);
      const Tile x = t.sbuf(static_cast<int>(rows), d, {length});
      from.load(t, x, row, at);
      Access out = x;
      if (floats) {
        out = t.sbuf(static_cast<int>(rows), d, {length});
        Access ones = slice(one, 0, 0, rows);
        ones.dims[1] = {0, static_cast<int32_t>(length)};
        scan_floats(t, n.alu, out, x, before, ones);
      } else {
        out = scan_integers(t, n.alu, x, before);
      }
      to.store(t, out, row, at);
      before = slice(out, 1, length - 1, 1);
    }
  }
}

}  // namespace trn::compiler
