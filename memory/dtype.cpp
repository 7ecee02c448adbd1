#include "memory/dtype.h"

#include <algorithm>
#include <cstring>

#include "memory/codec.h"
#include "memory/half.h"
#include "memory/integers.h"

namespace trn {

namespace {

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class T>
void store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

// dst[i] = f(element i of src), with the stride known to be the element's own size where it is: that loop is the hot
// one.
template <class Storage, class To, class F>
void gather(const std::byte* src, ptrdiff_t stride, To* dst, size_t n, F f) {
  if (stride == sizeof(Storage)) {
    for (size_t i = 0; i < n; ++i) dst[i] = f(load<Storage>(src + i * sizeof(Storage)));
    return;
  }
  for (size_t i = 0; i < n; ++i, src += stride) dst[i] = f(load<Storage>(src));
}

template <class Storage, class From, class F>
void scatter(std::byte* dst, ptrdiff_t stride, const From* src, size_t n, F f) {
  if (stride == sizeof(Storage)) {
    for (size_t i = 0; i < n; ++i) store<Storage>(dst + i * sizeof(Storage), f(src[i]));
    return;
  }
  for (size_t i = 0; i < n; ++i, dst += stride) store<Storage>(dst, f(src[i]));
}

bool is_half(Dtype d) { return d == Dtype::bfloat16 || d == Dtype::float16; }

// Vectorised conversions of contiguous integers; null where there is none.
using IntegerReader = void (*)(const std::byte*, float*, size_t);
using IntegerWriter = void (*)(const float*, std::byte*, size_t);

IntegerReader integer_reader(Dtype d) {
  switch (d) {
    case Dtype::int8: return int8_to_float;
    case Dtype::uint8: return uint8_to_float;
    case Dtype::int16: return int16_to_float;
    case Dtype::uint16: return uint16_to_float;
    case Dtype::int32: return int32_to_float;
    case Dtype::boolean: return boolean_to_float;
    default: return nullptr;
  }
}

IntegerWriter integer_writer(Dtype d) {
  switch (d) {
    case Dtype::int8: return float_to_int8;
    case Dtype::uint8: return float_to_uint8;
    case Dtype::int16: return float_to_int16;
    case Dtype::uint16: return float_to_uint16;
    case Dtype::int32: return float_to_int32;
    case Dtype::boolean: return float_to_boolean;
    default: return nullptr;
  }
}

// Copies n elements of Size bytes between strides, bits unchanged.
template <class Word>
void copy_words(const std::byte* src, ptrdiff_t src_stride, std::byte* dst, ptrdiff_t dst_stride, size_t n) {
  for (size_t i = 0; i < n; ++i, src += src_stride, dst += dst_stride) store(dst, load<Word>(src));
}

void copy_same(int size, const std::byte* src, ptrdiff_t src_stride, std::byte* dst, ptrdiff_t dst_stride, size_t n) {
  if (src_stride == size && dst_stride == size) return void(std::memmove(dst, src, n * size));
  switch (size) {
    case 1: return copy_words<uint8_t>(src, src_stride, dst, dst_stride, n);
    case 2: return copy_words<uint16_t>(src, src_stride, dst, dst_stride, n);
    case 4: return copy_words<uint32_t>(src, src_stride, dst, dst_stride, n);
    default: return copy_words<uint64_t>(src, src_stride, dst, dst_stride, n);
  }
}

// Elements converted at a time where a buffer on the stack stands between two formats.
constexpr size_t kBlock = 256;

}  // namespace

void read_as_float(Dtype from, const std::byte* src, ptrdiff_t stride, float* dst, size_t n) {
  if (from == Dtype::float32 && stride == 4) return void(std::memcpy(dst, src, n * 4));
  if (is_half(from)) {
    const auto bulk = from == Dtype::bfloat16 ? bfloat16_to_float : float16_to_float;
    if (stride == 2) return bulk(reinterpret_cast<const uint16_t*>(src), dst, n);
    uint16_t block[kBlock];
    for (size_t at = 0; at < n; at += kBlock) {
      const size_t count = std::min(kBlock, n - at);
      gather<uint16_t>(src + static_cast<ptrdiff_t>(at) * stride, stride, block, count, [](uint16_t h) { return h; });
      bulk(block, dst + at, count);
    }
    return;
  }
  if (const auto bulk = stride == size_of(from) ? integer_reader(from) : nullptr) return bulk(src, dst, n);
  with_codec(from, [&]<class C>(C) { gather<typename C::Storage>(src, stride, dst, n, C::to_float); });
}

void read_as_int(Dtype from, const std::byte* src, ptrdiff_t stride, int32_t* dst, size_t n) {
  if (stride == 4 && (from == Dtype::int32 || from == Dtype::uint32)) return void(std::memcpy(dst, src, n * 4));
  with_codec(from, [&]<class C>(C) {
    gather<typename C::Storage>(src, stride, dst, n,
                                [](typename C::Storage s) { return static_cast<int32_t>(C::to_int(s)); });
  });
}

void write_float(Dtype to, std::byte* dst, ptrdiff_t stride, const float* src, size_t n) {
  if (to == Dtype::float32 && stride == 4) return void(std::memcpy(dst, src, n * 4));
  if (is_half(to)) {
    const auto bulk = to == Dtype::bfloat16 ? float_to_bfloat16 : float_to_float16;
    if (stride == 2) return bulk(src, reinterpret_cast<uint16_t*>(dst), n);
    uint16_t block[kBlock];
    for (size_t at = 0; at < n; at += kBlock) {
      const size_t count = std::min(kBlock, n - at);
      bulk(src + at, block, count);
      scatter<uint16_t>(dst + static_cast<ptrdiff_t>(at) * stride, stride, block, count, [](uint16_t h) { return h; });
    }
    return;
  }
  if (const auto bulk = stride == size_of(to) ? integer_writer(to) : nullptr) return bulk(src, dst, n);
  with_codec(to, [&]<class C>(C) { scatter<typename C::Storage>(dst, stride, src, n, C::from_float); });
}

void write_int(Dtype to, std::byte* dst, ptrdiff_t stride, const int32_t* src, size_t n) {
  if (stride == 4 && (to == Dtype::int32 || to == Dtype::uint32)) return void(std::memcpy(dst, src, n * 4));
  with_codec(to, [&]<class C>(C) {
    scatter<typename C::Storage>(dst, stride, src, n, [](int32_t v) { return C::from_int(v); });
  });
}

void convert(Dtype from, const std::byte* src, ptrdiff_t src_stride, Dtype to, std::byte* dst, ptrdiff_t dst_stride,
             size_t n) {
  if (from == to) return copy_same(size_of(from), src, src_stride, dst, dst_stride, n);
  if (!is_float(from) && !is_float(to)) {
    int64_t block[kBlock];
    for (size_t at = 0; at < n; at += kBlock) {
      const size_t count = std::min(kBlock, n - at);
      const auto offset = static_cast<ptrdiff_t>(at);
      with_codec(from, [&]<class C>(C) {
        gather<typename C::Storage>(src + offset * src_stride, src_stride, block, count, C::to_int);
      });
      with_codec(to, [&]<class C>(C) {
        scatter<typename C::Storage>(dst + offset * dst_stride, dst_stride, block, count, C::from_int);
      });
    }
    return;
  }
  if (from == Dtype::float32 && src_stride == 4)
    return write_float(to, dst, dst_stride, reinterpret_cast<const float*>(src), n);
  if (to == Dtype::float32 && dst_stride == 4)
    return read_as_float(from, src, src_stride, reinterpret_cast<float*>(dst), n);
  float block[kBlock];
  for (size_t at = 0; at < n; at += kBlock) {
    const size_t count = std::min(kBlock, n - at);
    const auto offset = static_cast<ptrdiff_t>(at);
    read_as_float(from, src + offset * src_stride, src_stride, block, count);
    write_float(to, dst + offset * dst_stride, dst_stride, block, count);
  }
}

}  // namespace trn
