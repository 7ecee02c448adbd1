#include "isa/select_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "isa/elementwise.h"
#include "isa/rows.h"
#include "isa/rules.h"
#include "isa/strided_copy.h"
#include "isa/vector_kernels.h"

namespace trn {

namespace {

constexpr int64_t kChunk = Rows::kChunk;

struct Buffers {
  alignas(64) float a[kChunk], out[kChunk];
  alignas(64) int32_t predicate[kChunk];
  alignas(64) std::byte src[kChunk * 4], dst[kChunk * 4];
};
Buffers& buffers() {
  static thread_local Buffers b;
  return b;
}

template <class T>
T* scratch(int which, size_t n) {
  static thread_local std::vector<T> buffers[3];
  if (buffers[which].size() < n) buffers[which].resize(n);
  return buffers[which].data();
}

// One element of dtype `d`: whole numbers into integers exactly, everything else through fp32.
void fill_scalar(Dtype d, double value, std::byte* element) {
  const bool fits = value == std::floor(value) && value >= -2147483648.0 && value <= 4294967295.0;
  if (!is_float(d) && fits) {
    const auto whole = static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(value)));
    return write_int(d, element, size_of(d), &whole, 1);
  }
  const auto real = static_cast<float>(value);
  write_float(d, element, size_of(d), &real, 1);
}

[[noreturn]] void outside(int64_t index, int64_t n) {
  throw Error(Fault::undefined, std::string(kIndexOutOfBounds) + ": " + std::to_string(index) + " of " +
                                    std::to_string(n) + " elements of its partition");
}

template <class T>
void pick(T* out, const T* data, const int32_t* index, int64_t n, int64_t most, int width) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = static_cast<uint32_t>(index[i]);
    if (at + width > most) outside(at, most);
    std::copy_n(data + at, width, out + i * width);
  }
}

void pick_bytes(int size, std::byte* out, const std::byte* data, const int32_t* index, int64_t n, int64_t most,
                int width) {
  switch (size) {
    case 1: return pick(reinterpret_cast<uint8_t*>(out), reinterpret_cast<const uint8_t*>(data), index, n, most, width);
    case 2:
      return pick(reinterpret_cast<uint16_t*>(out), reinterpret_cast<const uint16_t*>(data), index, n, most, width);
    default:
      return pick(reinterpret_cast<uint32_t*>(out), reinterpret_cast<const uint32_t*>(data), index, n, most, width);
  }
}

}  // namespace

Verdict rules::predicate(std::string_view field, const Access& a, std::string_view other_field, const Access& other,
                         const Spec& s) {
  if (auto bad = tile(field, a, s)) return bad;
  if (is_float(a.dtype))
    return breaks(RuleKind::dtype, field, " must be of an integer or bool dtype, not ", name(a.dtype));
  return same_size(field, a, other_field, other);
}

void run_copy_predicated(const Access& dst, const Operand& src, const Access& predicate, bool reverse,
                         const CoreMemory& m) {
  const Rows d(dst, m), w(predicate, m);
  std::optional<Rows> x;
  if (src.is_tile()) x.emplace(src.tile, m);
  const int size = size_of(dst.dtype);
  std::byte scalar[8];
  fill_scalar(dst.dtype, src.immediate, scalar);

  for_chunks({{&d}, {&w, x ? &*x : nullptr}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    const std::byte* from = x ? x->raw(p, at, n, b.src) : scalar;
    const std::byte* old = d.raw(p, at, n, b.dst);
    auto* out = const_cast<std::byte*>(old);  // dst itself, or the buffer
    choose_elements(size, out, from, x ? 1 : 0, w.ints(p, at, n, b.predicate), reverse, n);
    d.store_raw(p, at, n, out);
  });
}

void run_select(const Access& dst, const Access& predicate, const Access& on_true, const Operand& on_false,
                bool reverse, const Accumulation& maxima, const CoreMemory& m) {
  const Rows d(dst, m), w(predicate, m), x(on_true, m);
  std::optional<Rows> other;
  if (on_false.is_tile()) other.emplace(on_false.tile, m);
  Accumulator most(maxima, vector_registers(m), on_true, m);
  for_chunks({{&d, most.result()}, {&w, &x, other ? &*other : nullptr}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    const float value = other ? other->scalar(p) : static_cast<float>(on_false.immediate);
    select_floats(b.out, x.floats(p, at, n, b.a), value, w.ints(p, at, n, b.predicate), reverse, n);
    most.add(p, b.out, n, at == 0, at + n == d.elements());
    d.store(p, at, n, b.out);
  });
}

void run_range_select(const Access& dst, const Access& on_true, const IndexBound& low, const IndexBound& high,
                      int32_t first, const Accumulation& maxima, const CoreMemory& m) {
  const Rows d(dst, m), x(on_true, m), b0(low.bound, m), b1(high.bound, m);
  Accumulator most(maxima, vector_registers(m), on_true, m);
  const int64_t n = d.elements();
  float *in = scratch<float>(0, n), *out = scratch<float>(1, n), *index = scratch<float>(2, n);
  int32_t* inside = scratch<int32_t>(0, n);
  for (int64_t i = 0; i < n; ++i) index[i] = static_cast<float>(first + i);
  const auto above = info(low.compare).on_float, below = info(high.compare).on_float;
  for (int p = 0; p < d.partitions(); ++p) {
    const float l = b0.scalar(p), h = b1.scalar(p);
    for (int64_t i = 0; i < n; ++i) inside[i] = above(index[i], l) != 0 && below(index[i], h) != 0;
    select_floats(out, x.floats(p, 0, n, in), std::numeric_limits<float>::lowest(), inside, false, n);
    most.add(p, out, n, true, true);
    d.store(p, 0, n, out);
  }
}

void run_shuffle(const Access& dst, const Access& src, const ShuffleMask& mask, const CoreMemory& m) {
  constexpr int kGroup = 32;
  const Rows d(dst, m), x(src, m);
  const int64_t n = d.elements(), row = n * size_of(dst.dtype);
  std::byte* held = scratch<std::byte>(0, kGroup * row);
  for (int first = 0; first < d.partitions(); first += kGroup) {
    const int sources = std::min(kGroup, x.partitions() - first), targets = std::min(kGroup, d.partitions() - first);
    for (int p = 0; p < sources; ++p) {
      std::byte* copy = held + p * row;
      const std::byte* from = x.raw(first + p, 0, n, copy);
      if (from != copy) std::memcpy(copy, from, row);
    }
    for (int p = 0; p < targets; ++p)
      if (mask[p] < sources) d.store_raw(first + p, 0, n, held + mask[p] * row);
  }
}

void run_gather(const Access& dst, const Access& data, const Access& indices, const CoreMemory& m) {
  const Rows d(dst, m), x(data, m), at(indices, m);
  const int size = size_of(dst.dtype);
  const int64_t n = d.elements(), most = x.elements();
  std::byte *in = scratch<std::byte>(0, most * size), *out = scratch<std::byte>(1, n * size);
  int32_t* index = scratch<int32_t>(0, n);
  for (int p = 0; p < d.partitions(); ++p) {
    pick_bytes(size, out, x.raw(p, 0, most, in), at.ints(p, 0, n, index), n, most, 1);
    d.store_raw(p, 0, n, out);
  }
}

void run_indirect(const Access& dst, const Access& src, const Access& index, int64_t count, bool selects_dst,
                  const CoreMemory& m) {
  constexpr int kGroup = 16;
  std::vector<int32_t> offsets;
  read_indices(index, m, offsets);
  const Rows d(dst, m), s(src, m);
  const int64_t columns = index.free_elements(), most = selects_dst ? d.elements() : s.elements();
  std::byte element[8];
  for (int p = 0; p < d.partitions(); ++p)
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = p / kGroup * kGroup + i % kGroup;
      const int64_t at = static_cast<uint32_t>(offsets[static_cast<size_t>(row * columns + i / kGroup)]);
      if (at >= most) outside(at, most);
      d.store_raw(p, selects_dst ? at : i, 1, s.raw(p, selects_dst ? i : at, 1, element));
    }
}

void run_local_gather(const Access& dst, const Access& src, const Access& index, int elements_per_index, int64_t valid,
                      const CoreMemory& m) {
  constexpr int kGroup = 16;
  const Rows d(dst, m), x(src, m), at(index, m);
  const int size = size_of(dst.dtype);
  const int64_t columns = at.elements(), most = x.elements();
  std::byte *in = scratch<std::byte>(0, most * size), *out = scratch<std::byte>(1, valid * elements_per_index * size);
  int32_t *row = scratch<int32_t>(0, columns), *all = scratch<int32_t>(1, columns * kGroup);
  for (int first = 0; first < d.partitions(); first += kGroup) {
    for (int p = 0; p < kGroup; ++p) {
      const int32_t* values = at.ints(first + p, 0, columns, row);
      for (int64_t i = 0; i < columns; ++i) all[i * kGroup + p] = values[i];
    }
    for (int p = 0; p < kGroup; ++p) {
      pick_bytes(size, out, x.raw(first + p, 0, most, in), all, valid, most, elements_per_index);
      d.store_raw(first + p, 0, valid * elements_per_index, out);
    }
  }
}

void run_partition_reduce(const Access& dst, AluOp op, const Access& data, const CoreMemory& m) {
  Rows d(dst, m), x(data, m);
  const int64_t n = d.elements();
  if (is_exact_integer(op, dst.dtype, {data.dtype})) {
    if (info(op).is_bitvec) d.as_bits(bit_pattern(dst.dtype)), x.as_bits(bit_pattern(data.dtype));
    int32_t *in = scratch<int32_t>(0, n), *sum = scratch<int32_t>(1, n);
    std::copy_n(x.ints(0, 0, n, in), n, sum);
    for (int p = 1; p < x.partitions(); ++p)
      apply_int(op, data.dtype == Dtype::uint32, sum, sum, x.ints(p, 0, n, in), n);
    return d.store(0, 0, n, sum);
  }
  float *in = scratch<float>(0, n), *sum = scratch<float>(1, n);
  std::copy_n(x.floats(0, 0, n, in), n, sum);
  for (int p = 1; p < x.partitions(); ++p) apply_float(op, sum, sum, x.floats(p, 0, n, in), n);
  d.store(0, 0, n, sum);
}

}  // namespace trn
