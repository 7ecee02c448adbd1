#include "isa/rows.h"

#include <cstring>
#include <vector>

namespace trn {

namespace {

struct Walk {
  int ndim;
  const int64_t* counts;
  const ptrdiff_t* steps;
};

// Calls run(host pointer, elements) for the pieces of [start, start+count) that lie along the innermost dim.
template <class Run>
void for_runs(const Walk& w, std::byte* base, int64_t start, int64_t count, Run&& run) {
  int64_t index[Access::kMaxDims] = {};
  std::byte* at = base;
  int64_t rest = start;
  for (int i = 0; i < w.ndim; ++i) {
    index[i] = rest % w.counts[i];
    rest /= w.counts[i];
    at += index[i] * w.steps[i];
  }
  while (count > 0) {
    const int64_t n = std::min(count, w.counts[0] - index[0]);
    run(at, n);
    count -= n;
    at -= index[0] * w.steps[0];
    index[0] = 0;
    for (int i = 1; i < w.ndim; ++i) {
      at += w.steps[i];
      if (++index[i] < w.counts[i]) break;
      at -= w.counts[i] * w.steps[i];
      index[i] = 0;
    }
  }
}

template <class T>
void gather_as(const Walk& w, std::byte* base, int64_t start, int64_t count, T* out) {
  const ptrdiff_t step = w.steps[0];
  for_runs(w, base, start, count, [&](const std::byte* at, int64_t n) {
    if (step == sizeof(T)) {
      std::memcpy(out, at, n * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) std::memcpy(out + i, at + i * step, sizeof(T));
    }
    out += n;
  });
}

template <class T>
void scatter_as(const Walk& w, std::byte* base, int64_t start, int64_t count, const T* in) {
  const ptrdiff_t step = w.steps[0];
  for_runs(w, base, start, count, [&](std::byte* at, int64_t n) {
    if (step == sizeof(T)) {
      std::memcpy(at, in, n * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) std::memcpy(at + i * step, in + i, sizeof(T));
    }
    in += n;
  });
}

// Raw elements of one operand between memory and conversion.
thread_local std::vector<std::byte> t_packed;
std::byte* packed(size_t bytes) {
  if (t_packed.size() < bytes) t_packed.resize(bytes);
  return t_packed.data();
}

}  // namespace

Rows::Rows(const Access& access, const CoreMemory& m) {
  const Access a = simplified(access);
  space_ = a.space;
  first_partition_ = a.partition;
  range_ = byte_range(a);
  base_ = address(a, m);
  partition_step_ = host_step(a, 0, m);
  partitions_ = a.partitions();
  elements_ = a.free_elements();
  dtype_ = a.dtype;
  size_ = size_of(dtype_);
  ndim_ = std::max(1, a.ndim - 1);
  counts_[0] = 1;
  steps_[0] = size_;
  for (int i = 1; i < a.ndim; ++i) {
    counts_[a.ndim - 1 - i] = a.dims[i].count;
    steps_[a.ndim - 1 - i] = host_step(a, i, m);
  }
  contiguous_ = steps_[0] == size_ || counts_[0] == 1;
}

bool Rows::keeps_apart(const Rows& dst) const {
  if (space_ != dst.space_ || range_.end <= dst.range_.begin || dst.range_.end <= range_.begin) return true;
  return first_partition_ == dst.first_partition_ && partition_step_ == dst.partition_step_;
}

bool rows_are_independent(const RowOperands& o) {
  for (const Rows* dst : o.written) {
    if (!dst) continue;
    const auto apart = [dst](const Rows* r) { return !r || r == dst || r->keeps_apart(*dst); };
    if (!std::all_of(o.written.begin(), o.written.end(), apart) || !std::all_of(o.read.begin(), o.read.end(), apart))
      return false;
  }
  return true;
}

std::byte* Rows::in_place(int p, int64_t start, int64_t count) const {
  if (!contiguous_) return nullptr;
  std::byte* row = base_ + p * partition_step_;
  if (ndim_ == 1) return row + start * size_;
  const int64_t inner = start % counts_[0];
  if (inner + count > counts_[0]) return nullptr;
  int64_t rest = start / counts_[0];
  for (int i = 1; i < ndim_; ++i) {
    row += rest % counts_[i] * steps_[i];
    rest /= counts_[i];
  }
  return row + inner * size_;
}

void Rows::gather(int p, int64_t start, int64_t count, std::byte* out) const {
  const Walk w{ndim_, counts_.data(), steps_.data()};
  std::byte* base = base_ + p * partition_step_;
  switch (size_) {
    case 1: gather_as(w, base, start, count, reinterpret_cast<uint8_t*>(out)); break;
    case 2: gather_as(w, base, start, count, reinterpret_cast<uint16_t*>(out)); break;
    case 4: gather_as(w, base, start, count, reinterpret_cast<uint32_t*>(out)); break;
    default: gather_as(w, base, start, count, reinterpret_cast<uint64_t*>(out)); break;
  }
}

void Rows::scatter(int p, int64_t start, int64_t count, const std::byte* in) const {
  const Walk w{ndim_, counts_.data(), steps_.data()};
  std::byte* base = base_ + p * partition_step_;
  switch (size_) {
    case 1: scatter_as(w, base, start, count, reinterpret_cast<const uint8_t*>(in)); break;
    case 2: scatter_as(w, base, start, count, reinterpret_cast<const uint16_t*>(in)); break;
    case 4: scatter_as(w, base, start, count, reinterpret_cast<const uint32_t*>(in)); break;
    default: scatter_as(w, base, start, count, reinterpret_cast<const uint64_t*>(in)); break;
  }
}

const std::byte* Rows::raw(int p, int64_t start, int64_t count, std::byte* buffer) const {
  if (const std::byte* at = in_place(p, start, count)) return at;
  gather(p, start, count, buffer);
  return buffer;
}

void Rows::store_raw(int p, int64_t start, int64_t count, const std::byte* in) const {
  std::byte* at = in_place(p, start, count);
  if (at == in) return;
  if (at)
    std::memcpy(at, in, count * size_);
  else
    scatter(p, start, count, in);
}

const float* Rows::floats(int p, int64_t start, int64_t count, float* buffer) const {
  const std::byte* at = in_place(p, start, count);
  if (at && dtype_ == Dtype::float32) return reinterpret_cast<const float*>(at);
  if (!at) gather(p, start, count, packed(count * size_)), at = t_packed.data();
  read_as_float(dtype_, at, size_, buffer, count);
  return buffer;
}

const int32_t* Rows::ints(int p, int64_t start, int64_t count, int32_t* buffer) const {
  const std::byte* at = in_place(p, start, count);
  if (at && (dtype_ == Dtype::int32 || dtype_ == Dtype::uint32)) return reinterpret_cast<const int32_t*>(at);
  if (!at) gather(p, start, count, packed(count * size_)), at = t_packed.data();
  read_as_int(dtype_, at, size_, buffer, count);
  return buffer;
}

float Rows::scalar(int p) const {
  float value;
  return *floats(p, 0, 1, &value);
}

int32_t Rows::int_scalar(int p) const {
  int32_t value;
  return *ints(p, 0, 1, &value);
}

float* Rows::float_target(int p, int64_t start, int64_t count, float* buffer) const {
  std::byte* at = dtype_ == Dtype::float32 ? in_place(p, start, count) : nullptr;
  return at ? reinterpret_cast<float*>(at) : buffer;
}

int32_t* Rows::int_target(int p, int64_t start, int64_t count, int32_t* buffer) const {
  std::byte* at = dtype_ == Dtype::int32 || dtype_ == Dtype::uint32 ? in_place(p, start, count) : nullptr;
  return at ? reinterpret_cast<int32_t*>(at) : buffer;
}

void Rows::store(int p, int64_t start, int64_t count, const float* values) const {
  std::byte* at = in_place(p, start, count);
  if (at == reinterpret_cast<const std::byte*>(values)) return;
  if (at) return write_float(dtype_, at, size_, values, count);
  std::byte* out = packed(count * size_);
  write_float(dtype_, out, size_, values, count);
  scatter(p, start, count, out);
}

void Rows::store(int p, int64_t start, int64_t count, const int32_t* values) const {
  std::byte* at = in_place(p, start, count);
  if (at == reinterpret_cast<const std::byte*>(values)) return;
  if (at) return write_int(dtype_, at, size_, values, count);
  std::byte* out = packed(count * size_);
  write_int(dtype_, out, size_, values, count);
  scatter(p, start, count, out);
}

}  // namespace trn
