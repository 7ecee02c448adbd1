#include "isa/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "isa/threads.h"
#include "isa/transpose_kernel.h"

namespace trn {

namespace {

constexpr int64_t kChunk = 2048;

struct Side {
  int ndim = 0;
  std::array<int64_t, Access::kMaxDims> count{};
  std::array<ptrdiff_t, Access::kMaxDims> step{};
};

Side side(const Access& a, int first, const CoreMemory& m) {
  Side s;
  for (int i = a.ndim - 1; i >= first; --i) {
    if (a.dims[i].count == 1) continue;
    s.count[s.ndim] = a.dims[i].count;
    s.step[s.ndim++] = host_step(a, i, m);
  }
  return s;
}

void remove(CopyNest& n, int i) {
  for (; i + 1 < n.ndim; ++i) n.count[i] = n.count[i + 1], n.dst[i] = n.dst[i + 1], n.src[i] = n.src[i + 1];
  --n.ndim;
}

// Calls body(dst, src) for every index of the nest, innermost dim fastest.
template <class Body>
void for_nest(const CopyNest& n, std::byte* dst, const std::byte* src, Body&& body) {
  if (n.ndim == 0) return body(dst, src);
  std::array<int64_t, CopyNest::kMaxDims> index{};
  while (true) {
    std::byte* d = dst;
    const std::byte* s = src;
    for (int64_t i = 0; i < n.count[0]; ++i, d += n.dst[0], s += n.src[0]) body(d, s);
    int i = 1;
    for (; i < n.ndim; ++i) {
      dst += n.dst[i], src += n.src[i];
      if (++index[i] < n.count[i]) break;
      dst -= n.dst[i] * n.count[i], src -= n.src[i] * n.count[i];
      index[i] = 0;
    }
    if (i == n.ndim) return;
  }
}

template <class T>
void copy_strided(int64_t count, std::byte* dst, ptrdiff_t dst_step, const std::byte* src, ptrdiff_t src_step) {
  if (src_step == 0) {
    T value;
    std::memcpy(&value, src, sizeof(T));
    for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * dst_step, &value, sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * dst_step, src + i * src_step, sizeof(T));
}

void copy_run(int size, int64_t count, std::byte* dst, ptrdiff_t dst_step, const std::byte* src, ptrdiff_t src_step) {
  if (dst_step == size && src_step == size) {
    std::memmove(dst, src, count * size);
    return;
  }
  switch (size) {
    case 1: return copy_strided<uint8_t>(count, dst, dst_step, src, src_step);
    case 2: return copy_strided<uint16_t>(count, dst, dst_step, src, src_step);
    case 4: return copy_strided<uint32_t>(count, dst, dst_step, src, src_step);
    default: return copy_strided<uint64_t>(count, dst, dst_step, src, src_step);
  }
}

int find(const CopyNest& n, ptrdiff_t dst, ptrdiff_t src) {  // a negative step matches any
  for (int i = 0; i < n.ndim; ++i)
    if ((dst < 0 || n.dst[i] == dst) && (src < 0 || n.src[i] == src)) return i;
  return -1;
}

// One run of `count` elements with arithmetic through small fp32 or int32 buffers.
struct Buffers {
  alignas(64) float a[kChunk], b[kChunk];
  alignas(64) int32_t ia[kChunk], ib[kChunk];
};
Buffers& buffers() {
  static thread_local Buffers b;
  return b;
}

void combine_run(int64_t count, AluOp op, Dtype to, std::byte* dst, ptrdiff_t dst_step, Dtype from,
                 const std::byte* src, ptrdiff_t src_step) {
  Buffers& b = buffers();
  const bool whole = !is_float(to) && !is_float(from) && info(op).on_int;
  for (int64_t i = 0; i < count; i += kChunk) {
    const int64_t n = std::min(kChunk, count - i);
    std::byte* d = dst + i * dst_step;
    const std::byte* s = src + i * src_step;
    if (whole) {
      read_as_int(to, d, dst_step, b.ia, n);
      read_as_int(from, s, src_step, b.ib, n);
      apply_int(op, !info(to).is_signed, b.ia, b.ia, b.ib, n);
      write_int(to, d, dst_step, b.ia, n);
    } else {
      read_as_float(to, d, dst_step, b.a, n);
      read_as_float(from, s, src_step, b.b, n);
      apply_float(op, b.a, b.a, b.b, n);
      write_float(to, d, dst_step, b.a, n);
    }
  }
}

// The dim to run along when elements must pass through a buffer: contiguous on both sides, else on the written side,
// else the innermost.
int run_dim(const CopyNest& n, int to_size, int from_size) {
  if (const int i = find(n, to_size, from_size); i >= 0) return i;
  if (const int i = find(n, to_size, -1); i >= 0) return i;
  return 0;
}

template <class Run>
void for_runs(CopyNest n, int to_size, int from_size, std::byte* dst, const std::byte* src, Run&& run) {
  if (n.ndim == 0) n.append(1, to_size, from_size);
  const int i = run_dim(n, to_size, from_size);
  const int64_t count = n.count[i];
  const ptrdiff_t dst_step = n.dst[i], src_step = n.src[i];
  remove(n, i);
  for_nest(n, dst, src, [&](std::byte* d, const std::byte* s) { run(count, d, dst_step, s, src_step); });
}

// Without a common nest: pieces that lie along the innermost dims of both sides.
template <class Run>
void for_pieces(const Side& d, const Side& s, std::byte* dst, const std::byte* src, Run&& run) {
  std::array<int64_t, Access::kMaxDims> di{}, si{};
  const auto advance = [](const Side& a, auto& index, auto*& at, int64_t n) {
    index[0] += n, at += n * a.step[0];
    for (int i = 0; i < a.ndim && index[i] == a.count[i]; ++i) {
      at -= a.step[i] * a.count[i];
      index[i] = 0;
      if (i + 1 == a.ndim) return false;
      at += a.step[i + 1], ++index[i + 1];
    }
    return true;
  };
  bool more = true;
  while (more) {
    const int64_t n = std::min(d.count[0] - di[0], s.count[0] - si[0]);
    run(n, dst, d.step[0], src, s.step[0]);
    more = advance(d, di, dst, n);
    more = advance(s, si, src, n) && more;
  }
}

bool join(Side d, Side s, CopyNest& n) {
  n.ndim = 0;
  int i = 0, j = 0;
  while (i < d.ndim && j < s.ndim) {
    const int64_t take = std::min(d.count[i], s.count[j]);
    if (d.count[i] % take != 0 || s.count[j] % take != 0) return false;
    n.append(take, d.step[i], s.step[j]);
    if ((d.count[i] /= take) == 1)
      ++i;
    else
      d.step[i] *= take;
    if ((s.count[j] /= take) == 1)
      ++j;
    else
      s.step[j] *= take;
  }
  return true;
}

// Elements below which a second thread costs more than it brings.
constexpr int64_t kElementsPerThread = 64 * 1024;

// Cuts the dim that lies furthest apart in dst, so that threads write to different rows.
template <class OnNest>
void cut(const CopyNest& n, int64_t pieces, std::byte* dst, const std::byte* src, OnNest&& on_nest) {
  if (pieces == 1 || n.ndim == 0) return on_nest(n, dst, src);
  const auto furthest = std::max_element(n.dst.begin(), n.dst.begin() + n.ndim,
                                         [](ptrdiff_t a, ptrdiff_t b) { return std::abs(a) < std::abs(b); });
  const auto i = static_cast<size_t>(furthest - n.dst.begin());
  split(n.count[i], std::min(pieces, n.count[i]), 1, [&](int64_t first, int64_t last) {
    CopyNest part = n;
    part.count[i] = last - first;
    on_nest(part, dst + first * n.dst[i], src + first * n.src[i]);
  });
}

template <class OnNest, class OnRun>
void walk(const Access& dst, const Access& src, const CoreMemory& m, OnNest&& on_nest, OnRun&& on_run) {
  const Side d = side(dst, 0, m), s = side(src, 0, m);
  CopyNest n;
  if (join(d, s, n)) {
    const int64_t pieces = dst.space == src.space ? 1 : pieces_of(dst.elements(), kElementsPerThread);
    return cut(n, pieces, address(dst, m), address(src, m), on_nest);
  }
  for_pieces(d, s, address(dst, m), address(src, m), on_run);
}

}  // namespace

void CopyNest::append(int64_t dim_count, ptrdiff_t dst_step, ptrdiff_t src_step) {
  if (ndim > 0) {
    const int i = ndim - 1;
    if (dst_step == dst[i] * count[i] && src_step == src[i] * count[i]) {
      count[i] *= dim_count;
      return;
    }
  }
  count[ndim] = dim_count;
  dst[ndim] = dst_step;
  src[ndim++] = src_step;
}

bool join(const Access& dst, int dst_first, const Access& src, int src_first, const CoreMemory& m, CopyNest& nest) {
  return join(side(dst, dst_first, m), side(src, src_first, m), nest);
}

void copy_nest(const CopyNest& nest, int size, std::byte* dst, const std::byte* src) {
  CopyNest n = nest;
  if (const int i = find(n, size, size); i >= 0) {
    const int64_t bytes = n.count[i] * size;
    remove(n, i);
    if (bytes > 8 || (bytes & (bytes - 1)) != 0)
      return for_nest(n, dst, src, [bytes](std::byte* d, const std::byte* s) { std::memmove(d, s, bytes); });
    size = static_cast<int>(bytes);  // short runs are elements of a wider type
  }
  const int i = find(n, size, -1), j = find(n, -1, size);
  if (i >= 0 && j >= 0 && i != j) {
    const int64_t columns = n.count[j], rows = n.count[i];  // src rows are contiguous along j, dst rows along i
    const ptrdiff_t dst_step = n.dst[j], src_step = n.src[i];
    remove(n, std::max(i, j));
    remove(n, std::min(i, j));
    return for_nest(n, dst, src, [&](std::byte* d, const std::byte* s) {
      transpose(size, rows, columns, d, dst_step, s, src_step);
    });
  }
  for_runs(n, size, size, dst, src,
           [size](int64_t count, std::byte* d, ptrdiff_t ds, const std::byte* s, ptrdiff_t ss) {
             copy_run(size, count, d, ds, s, ss);
           });
}

void convert_nest(const CopyNest& nest, Dtype to, std::byte* dst, Dtype from, const std::byte* src) {
  for_runs(nest, size_of(to), size_of(from), dst, src,
           [=](int64_t count, std::byte* d, ptrdiff_t ds, const std::byte* s, ptrdiff_t ss) {
             convert(from, s, ss, to, d, ds, static_cast<size_t>(count));
           });
}

void combine_nest(const CopyNest& nest, AluOp op, Dtype to, std::byte* dst, Dtype from, const std::byte* src) {
  for_runs(nest, size_of(to), size_of(from), dst, src,
           [=](int64_t count, std::byte* d, ptrdiff_t ds, const std::byte* s, ptrdiff_t ss) {
             combine_run(count, op, to, d, ds, from, s, ss);
           });
}

void copy_elements(const Access& dst, const Access& src, const CoreMemory& m) {
  const Dtype to = dst.dtype, from = src.dtype;
  const int size = size_of(to);
  if (to == from)
    return walk(
        dst, src, m, [=](const CopyNest& n, std::byte* d, const std::byte* s) { copy_nest(n, size, d, s); },
        [=](int64_t n, std::byte* d, ptrdiff_t ds, const std::byte* s, ptrdiff_t ss) {
          copy_run(size, n, d, ds, s, ss);
        });
  walk(
      dst, src, m, [=](const CopyNest& n, std::byte* d, const std::byte* s) { convert_nest(n, to, d, from, s); },
      [=](int64_t n, std::byte* d, ptrdiff_t ds, const std::byte* s, ptrdiff_t ss) {
        convert(from, s, ss, to, d, ds, static_cast<size_t>(n));
      });
}

void combine_elements(AluOp op, const Access& dst, const Access& src, const CoreMemory& m) {
  const Dtype to = dst.dtype, from = src.dtype;
  walk(
      dst, src, m, [=](const CopyNest& n, std::byte* d, const std::byte* s) { combine_nest(n, op, to, d, from, s); },
      [=](int64_t n, std::byte* d, ptrdiff_t ds, const std::byte* s, ptrdiff_t ss) {
        combine_run(n, op, to, d, ds, from, s, ss);
      });
}

namespace {

// `a` beside `elements` consecutive ones of 4 bytes; the packed side is the nest's source.
CopyNest packed_nest(const Access& a, const CoreMemory& m) {
  const Side s = side(a, 0, m);
  CopyNest n;
  ptrdiff_t dense = 4;
  for (int i = 0; i < s.ndim; ++i) {
    n.append(s.count[i], s.step[i], dense);
    dense *= s.count[i];
  }
  return n;
}

template <class T>
void read_as(Dtype to, const Access& a, const CoreMemory& m, std::vector<T>& values) {
  values.resize(static_cast<size_t>(a.elements()));
  CopyNest n = packed_nest(a, m);
  std::swap(n.dst, n.src);
  convert_nest(n, to, reinterpret_cast<std::byte*>(values.data()), a.dtype, address(a, m));
}
template <class T>
void write_from(Dtype from, const Access& a, const CoreMemory& m, const std::vector<T>& values) {
  convert_nest(packed_nest(a, m), a.dtype, address(a, m), from, reinterpret_cast<const std::byte*>(values.data()));
}

}  // namespace

void read_indices(const Access& a, const CoreMemory& m, std::vector<int32_t>& values) {
  read_as(Dtype::int32, a, m, values);
}
void read_floats(const Access& a, const CoreMemory& m, std::vector<float>& values) {
  read_as(Dtype::float32, a, m, values);
}
void write_indices(const Access& a, const CoreMemory& m, const std::vector<int32_t>& values) {
  write_from(Dtype::int32, a, m, values);
}
void write_floats(const Access& a, const CoreMemory& m, const std::vector<float>& values) {
  write_from(Dtype::float32, a, m, values);
}

}  // namespace trn
