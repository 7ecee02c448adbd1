#include <vector>

#include "isa/elementwise.h"
#include "isa/rows.h"

namespace trn {

namespace {

template <class T>
T* scratch(int which, size_t n) {
  static thread_local std::vector<T> buffers[4];
  if (buffers[which].size() < n) buffers[which].resize(n);
  return buffers[which].data();
}

bool is_whole(const Operand& o) { return o.is_tile() ? !is_float(o.tile.dtype) : o.immediate == static_cast<int32_t>(o.immediate); }

int32_t scan_ints(const ScanOps& ops, bool uns, int32_t* out, const int32_t* x, const int32_t* y, int32_t state, int64_t n) {
  const auto op0 = info(ops.op0).on_int, op1 = info(ops.op1).on_int;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t step = ops.reverse0 ? op0(state, x[i], uns) : op0(x[i], state, uns);
    out[i] = state = ops.reverse1 ? op1(y[i], step, uns) : op1(step, y[i], uns);
  }
  return state;
}

}  // namespace

void run_reduce(const Access& dst, AluOp op, const Access& data, bool negate, const CoreMemory& m) {
  Rows d(dst, m), x(data, m);
  const int64_t group = x.elements() / d.elements();
  // Several small groups at a time, or one long one.
  const int64_t groups = std::clamp<int64_t>(Rows::kChunk / group, 1, d.elements());
  if (is_exact_integer(op, dst.dtype, {data.dtype})) {
    const bool uns = data.dtype == Dtype::uint32 || data.dtype == Dtype::uint64;
    if (info(op).is_bitvec) d.as_bits(bit_pattern(dst.dtype)), x.as_bits(bit_pattern(data.dtype));
    int32_t *in = scratch<int32_t>(0, groups * group), *out = scratch<int32_t>(1, groups);
    for (int p = 0; p < d.partitions(); ++p)
      for (int64_t g = 0; g < d.elements(); g += groups) {
        const int64_t n = std::min(groups, d.elements() - g);
        const int32_t* values = x.ints(p, g * group, n * group, in);
        for (int64_t i = 0; i < n; ++i) out[i] = reduce_int(op, uns, values + i * group, group);
        if (negate) apply_int(AluOp::subtract, uns, out, 0, out, n);
        d.store(p, g, n, out);
      }
    return;
  }
  float *in = scratch<float>(0, groups * group), *out = scratch<float>(1, groups);
  for (int p = 0; p < d.partitions(); ++p)
    for (int64_t g = 0; g < d.elements(); g += groups) {
      const int64_t n = std::min(groups, d.elements() - g);
      const float* values = x.floats(p, g * group, n * group, in);
      for (int64_t i = 0; i < n; ++i) out[i] = reduce_float(op, values + i * group, group);
      if (negate) apply_float(AluOp::multiply, out, out, -1.f, n);
      d.store(p, g, n, out);
    }
}

void run_scan(const Access& dst, const Access& data0, const Access& data1, const Operand& initial, const ScanOps& ops, const CoreMemory& m) {
  const Rows d(dst, m), x(data0, m), y(data1, m);
  std::optional<Rows> start;
  if (initial.is_tile()) start.emplace(initial.tile, m);
  const auto inputs = {data0.dtype, data1.dtype};
  if (!is_float(dst.dtype) && is_exact_integer(ops.op0, dst.dtype, inputs) && is_exact_integer(ops.op1, dst.dtype, inputs) && is_whole(initial)) {
    const bool uns = data0.dtype == Dtype::uint32;
    int32_t *a = scratch<int32_t>(0, Rows::kChunk), *b = scratch<int32_t>(1, Rows::kChunk), *c = scratch<int32_t>(2, Rows::kChunk);
    int32_t state = 0;
    return for_chunks({&d, &x, &y}, [&](int p, int64_t at, int64_t n) {
      if (at == 0) state = start ? start->int_scalar(p) : static_cast<int32_t>(initial.immediate);
      state = scan_ints(ops, uns, c, x.ints(p, at, n, a), y.ints(p, at, n, b), state, n);
      d.store(p, at, n, c);
    });
  }
  float *a = scratch<float>(0, Rows::kChunk), *b = scratch<float>(1, Rows::kChunk), *c = scratch<float>(2, Rows::kChunk);
  float state = 0;
  for_chunks({&d, &x, &y}, [&](int p, int64_t at, int64_t n) {
    if (at == 0) state = start ? start->scalar(p) : static_cast<float>(initial.immediate);
    scan_float(ops, c, x.floats(p, at, n, a), y.floats(p, at, n, b), state, n);
    state = c[n - 1];
    d.store(p, at, n, c);
  });
}

}  // namespace trn
