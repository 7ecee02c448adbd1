#include <array>
#include <cmath>
#include <vector>

#include "isa/elementwise.h"
#include "isa/rows.h"

namespace trn {

namespace {

constexpr int kMostPartitions = 128;

template <class T>
T* scratch(int which, size_t n) {
  static thread_local std::vector<T> buffers[3];
  if (buffers[which].size() < n) buffers[which].resize(n);
  return buffers[which].data();
}

bool is_whole(const Operand& o) {
  return o.is_tile() ? !is_float(o.tile.dtype)
                     : o.immediate == std::floor(o.immediate) && std::fabs(o.immediate) < 2147483648.0;
}

// fp32 or exact 32-bit arithmetic under one name.
struct FloatMath {
  using T = float;
  static const T* load(const Rows& r, int p, int64_t at, int64_t n, T* buffer) { return r.floats(p, at, n, buffer); }
  void apply(AluOp op, T* dst, const T* a, const T* b, size_t n) const { apply_float(op, dst, a, b, n); }
  T reduce(AluOp op, const T* a, size_t n) const { return reduce_float(op, a, n); }
  void negate(T* a, size_t n) const { apply_float(AluOp::multiply, a, a, -1.f, n); }
};
struct IntMath {
  using T = int32_t;
  bool is_unsigned;
  static const T* load(const Rows& r, int p, int64_t at, int64_t n, T* buffer) { return r.ints(p, at, n, buffer); }
  void apply(AluOp op, T* dst, const T* a, const T* b, size_t n) const { apply_int(op, is_unsigned, dst, a, b, n); }
  T reduce(AluOp op, const T* a, size_t n) const { return reduce_int(op, is_unsigned, a, n); }
  void negate(T* a, size_t n) const { apply_int(AluOp::subtract, is_unsigned, a, 0, a, n); }
};

// Each group's elements stand together: several small groups at a time, or one long one.
template <class Math>
void reduce_along(const Math& math, const Rows& d, const Rows& x, AluOp op, bool negate) {
  using T = typename Math::T;
  const int64_t group = x.elements() / d.elements();
  const int64_t groups = std::clamp<int64_t>(Rows::kChunk / group, 1, d.elements());
  for_partitions({{&d}, {&x}}, x.partitions() * x.elements(), [&](int64_t first, int64_t last) {
    T *in = scratch<T>(0, groups * group), *out = scratch<T>(1, groups);
    for (auto p = static_cast<int>(first); p < last; ++p)
      for (int64_t g = 0; g < d.elements(); g += groups) {
        const int64_t n = std::min(groups, d.elements() - g);
        const T* values = Math::load(x, p, g * group, n * group, in);
        for (int64_t i = 0; i < n; ++i) out[i] = math.reduce(op, values + i * group, group);
        if (negate) math.negate(out, n);
        d.store(p, g, n, out);
      }
  });
}

// Element i of every group at once, then element i + 1: many short groups, or groups that lie across memory. Sums run
// in order. `x` is the whole operand.
template <class Math>
void reduce_across(const Math& math, const Rows& d, const Rows& x, const std::vector<Rows>& elements, AluOp op,
                   bool negate) {
  using T = typename Math::T;
  for_partitions({{&d}, {&x}}, x.partitions() * x.elements(), [&](int64_t first, int64_t last) {
    T *in = scratch<T>(0, Rows::kChunk), *sum = scratch<T>(1, Rows::kChunk);
    for (auto p = static_cast<int>(first); p < last; ++p)
      for (int64_t g = 0; g < d.elements(); g += Rows::kChunk) {
        const int64_t n = std::min(Rows::kChunk, d.elements() - g);
        std::copy_n(Math::load(elements[0], p, g, n, in), n, sum);
        for (size_t i = 1; i < elements.size(); ++i) math.apply(op, sum, sum, Math::load(elements[i], p, g, n, in), n);
        if (negate) math.negate(sum, n);
        d.store(p, g, n, sum);
      }
  });
}

// Splits the free dims where `groups` elements lie outside: `inner` gets the reduced dims. A dim that spans both is cut
// in two. False if it cannot.
bool split_groups(const Access& data, int64_t groups, Access& outer, std::vector<Dim>& inner) {
  outer = data;
  int64_t left = groups;
  int i = 1;
  for (; i < data.ndim && left % data.dims[i].count == 0; ++i) left /= data.dims[i].count;
  outer.ndim = static_cast<uint8_t>(i);
  if (left > 1) {
    if (i == data.ndim || data.dims[i].count % left != 0) return false;
    const int32_t rest = data.dims[i].count / static_cast<int32_t>(left);
    outer.dims[i] = {data.dims[i].step * rest, static_cast<int32_t>(left)};
    outer.ndim = static_cast<uint8_t>(i + 1);
    inner.push_back({data.dims[i].step, rest});
    ++i;
  }
  inner.insert(inner.end(), data.dims.begin() + i, data.dims.begin() + data.ndim);
  return true;
}

// The i-th elements of all groups as one pattern each, if that is the better walk; else empty.
std::vector<Rows> across(const Access& data, int64_t groups, AluOp op, const CoreMemory& m) {
  constexpr int64_t kLeastGroups = 8, kShort = 32;
  const int64_t group = data.free_elements() / groups;
  if (groups < kLeastGroups || group < 2 || op == AluOp::subtract) return {};
  Access outer;
  std::vector<Dim> inner;
  if (!split_groups(simplified(data), groups, outer, inner)) return {};
  if (group >= kShort && std::abs(inner.back().step) <= std::abs(outer.dims[outer.ndim - 1].step)) return {};

  const Rows base(outer, m);
  std::vector<Rows> elements;
  elements.reserve(group);
  for (int64_t i = 0; i < group; ++i) {
    int64_t place = 0, rest = i;
    for (auto d = inner.rbegin(); d != inner.rend(); ++d) {
      place += rest % d->count * d->step;
      rest /= d->count;
    }
    elements.push_back(base.shifted(place * size_of(data.dtype)));
  }
  return elements;
}

template <class Math>
void reduce(const Math& math, const Access& dst, AluOp op, const Access& data, bool negate, bool bits,
            const CoreMemory& m) {
  Rows d(dst, m), x(data, m);
  if (bits) d.as_bits(bit_pattern(dst.dtype)), x.as_bits(bit_pattern(data.dtype));
  auto elements = across(data, d.elements(), op, m);
  if (elements.empty()) return reduce_along(math, d, x, op, negate);
  if (bits)
    for (Rows& r : elements) r.as_bits(bit_pattern(data.dtype));
  reduce_across(math, d, x, elements, op, negate);
}

int32_t scan_ints(const ScanOps& ops, bool uns, int32_t* out, const int32_t* x, const int32_t* y, int32_t state,
                  int64_t n) {
  const auto op0 = info(ops.op0).on_int, op1 = info(ops.op1).on_int;
  for (int64_t i = 0; i < n; ++i) {
    const int32_t step = ops.reverse0 ? op0(state, x[i], uns) : op0(x[i], state, uns);
    out[i] = state = ops.reverse1 ? op1(y[i], step, uns) : op1(step, y[i], uns);
  }
  return state;
}

}  // namespace

void run_reduce(const Access& dst, AluOp op, const Access& data, bool negate, const CoreMemory& m) {
  if (is_exact_integer(op, dst.dtype, {data.dtype}))
    reduce(IntMath{data.dtype == Dtype::uint32}, dst, op, data, negate, info(op).is_bitvec, m);
  else
    reduce(FloatMath{}, dst, op, data, negate, false, m);
}

void run_scan(const Access& dst, const Access& data0, const Access& data1, const Operand& initial, const ScanOps& ops,
              const CoreMemory& m) {
  const Rows d(dst, m), x(data0, m), y(data1, m);
  std::optional<Rows> start;
  if (initial.is_tile()) start.emplace(initial.tile, m);
  const RowOperands operands{{&d}, {&x, &y, start ? &*start : nullptr}};
  const auto inputs = {data0.dtype, data1.dtype};
  if (!is_float(dst.dtype) && is_exact_integer(ops.op0, dst.dtype, inputs) &&
      is_exact_integer(ops.op1, dst.dtype, inputs) && is_whole(initial)) {
    const bool uns = data0.dtype == Dtype::uint32;
    std::array<int32_t, kMostPartitions> states{};
    return for_chunks(operands, [&](int p, int64_t at, int64_t n) {
      int32_t *a = scratch<int32_t>(0, n), *b = scratch<int32_t>(1, n), *c = scratch<int32_t>(2, n);
      if (at == 0) states[p] = start ? start->int_scalar(p) : static_cast<int32_t>(initial.immediate);
      states[p] = scan_ints(ops, uns, c, x.ints(p, at, n, a), y.ints(p, at, n, b), states[p], n);
      d.store(p, at, n, c);
    });
  }
  std::array<float, kMostPartitions> states{};
  for_chunks(operands, [&](int p, int64_t at, int64_t n) {
    float *a = scratch<float>(0, n), *b = scratch<float>(1, n), *c = scratch<float>(2, n);
    if (at == 0) states[p] = start ? start->scalar(p) : static_cast<float>(initial.immediate);
    scan_float(ops, c, x.floats(p, at, n, a), y.floats(p, at, n, b), states[p], n);
    states[p] = c[n - 1];
    d.store(p, at, n, c);
  });
}

}  // namespace trn
