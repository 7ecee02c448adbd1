#include "memory/integers.h"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/integers.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::ScalableTag<int32_t>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
template <class T>
using Narrow = hn::Rebind<T, DI>;

template <class From, class To, class Kernel>
HWY_INLINE void in_vectors(const From* src, To* dst, size_t n, Kernel kernel) {
  const size_t lanes = hn::Lanes(DF());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) kernel(src + i, dst + i);
  if (i == n) return;
  From tail[hn::MaxLanes(DF())] = {};
  To done[hn::MaxLanes(DF())];
  std::memcpy(tail, src + i, (n - i) * sizeof(From));
  kernel(tail, done);
  std::memcpy(dst + i, done, (n - i) * sizeof(To));
}

template <class T>
HWY_INLINE VI load(const T* p) {
  if constexpr (sizeof(T) == 4) {
    return hn::LoadU(DI(), p);
  } else {
    return hn::PromoteTo(DI(), hn::LoadU(Narrow<T>(), p));
  }
}
template <class T>
HWY_INLINE void store(VI v, T* p) {
  if constexpr (sizeof(T) == 4) {
    hn::StoreU(v, DI(), p);
  } else {
    hn::StoreU(hn::DemoteTo(Narrow<T>(), v), Narrow<T>(), p);
  }
}

template <class T>
HWY_INLINE void read(const std::byte* src, float* dst, size_t n) {
  in_vectors(reinterpret_cast<const T*>(src), dst, n,
             [](const T* s, float* d) HWY_ATTR { hn::StoreU(hn::ConvertTo(DF(), load(s)), DF(), d); });
}

// Nearest even, saturated, NaN to 0. Where the largest value is no float (32 bits), 2^31 and above are put right
// afterwards.
template <class T>
HWY_INLINE void write(const float* src, std::byte* dst, size_t n) {
  constexpr bool kWide = sizeof(T) == 4;
  constexpr float kLeast = static_cast<float>(std::numeric_limits<T>::min());
  constexpr float kMost = kWide ? 2147483520.0f : static_cast<float>(std::numeric_limits<T>::max());
  in_vectors(src, reinterpret_cast<T*>(dst), n, [](const float* s, T* d) HWY_ATTR {
    const VF x = hn::LoadU(DF(), s);
    VF v = hn::IfThenElseZero(hn::Eq(x, x), x);
    v = hn::IfThenElse(hn::Lt(v, hn::Set(DF(), kLeast)), hn::Set(DF(), kLeast), v);
    v = hn::IfThenElse(hn::Gt(v, hn::Set(DF(), kMost)), hn::Set(DF(), kMost), v);
    VI i = hn::NearestInt(v);
    if constexpr (kWide) {
      const auto above = hn::RebindMask(DI(), hn::Gt(x, hn::Set(DF(), kMost)));
      i = hn::IfThenElse(above, hn::Set(DI(), std::numeric_limits<int32_t>::max()), i);
    }
    store(i, d);
  });
}

void ReadInt8(const std::byte* s, float* d, size_t n) { read<int8_t>(s, d, n); }
void ReadUint8(const std::byte* s, float* d, size_t n) { read<uint8_t>(s, d, n); }
void ReadInt16(const std::byte* s, float* d, size_t n) { read<int16_t>(s, d, n); }
void ReadUint16(const std::byte* s, float* d, size_t n) { read<uint16_t>(s, d, n); }
void ReadInt32(const std::byte* s, float* d, size_t n) { read<int32_t>(s, d, n); }
void WriteInt8(const float* s, std::byte* d, size_t n) { write<int8_t>(s, d, n); }
void WriteUint8(const float* s, std::byte* d, size_t n) { write<uint8_t>(s, d, n); }
void WriteInt16(const float* s, std::byte* d, size_t n) { write<int16_t>(s, d, n); }
void WriteUint16(const float* s, std::byte* d, size_t n) { write<uint16_t>(s, d, n); }
void WriteInt32(const float* s, std::byte* d, size_t n) { write<int32_t>(s, d, n); }

void ReadBoolean(const std::byte* src, float* dst, size_t n) {
  in_vectors(reinterpret_cast<const uint8_t*>(src), dst, n, [](const uint8_t* s, float* d) HWY_ATTR {
    const auto set = hn::Not(hn::Eq(load(s), hn::Zero(DI())));
    hn::StoreU(hn::IfThenElseZero(hn::RebindMask(DF(), set), hn::Set(DF(), 1.0f)), DF(), d);
  });
}
void WriteBoolean(const float* src, std::byte* dst, size_t n) {
  in_vectors(src, reinterpret_cast<uint8_t*>(dst), n, [](const float* s, uint8_t* d) HWY_ATTR {
    const auto set = hn::Not(hn::Eq(hn::LoadU(DF(), s), hn::Zero(DF())));
    store(hn::IfThenElseZero(hn::RebindMask(DI(), set), hn::Set(DI(), 1)), d);
  });
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {
HWY_EXPORT(ReadInt8);
HWY_EXPORT(ReadUint8);
HWY_EXPORT(ReadInt16);
HWY_EXPORT(ReadUint16);
HWY_EXPORT(ReadInt32);
HWY_EXPORT(ReadBoolean);
HWY_EXPORT(WriteInt8);
HWY_EXPORT(WriteUint8);
HWY_EXPORT(WriteInt16);
HWY_EXPORT(WriteUint16);
HWY_EXPORT(WriteInt32);
HWY_EXPORT(WriteBoolean);

void int8_to_float(const std::byte* s, float* d, size_t n) { HWY_DYNAMIC_DISPATCH(ReadInt8)(s, d, n); }
void uint8_to_float(const std::byte* s, float* d, size_t n) { HWY_DYNAMIC_DISPATCH(ReadUint8)(s, d, n); }
void int16_to_float(const std::byte* s, float* d, size_t n) { HWY_DYNAMIC_DISPATCH(ReadInt16)(s, d, n); }
void uint16_to_float(const std::byte* s, float* d, size_t n) { HWY_DYNAMIC_DISPATCH(ReadUint16)(s, d, n); }
void int32_to_float(const std::byte* s, float* d, size_t n) { HWY_DYNAMIC_DISPATCH(ReadInt32)(s, d, n); }
void boolean_to_float(const std::byte* s, float* d, size_t n) { HWY_DYNAMIC_DISPATCH(ReadBoolean)(s, d, n); }
void float_to_int8(const float* s, std::byte* d, size_t n) { HWY_DYNAMIC_DISPATCH(WriteInt8)(s, d, n); }
void float_to_uint8(const float* s, std::byte* d, size_t n) { HWY_DYNAMIC_DISPATCH(WriteUint8)(s, d, n); }
void float_to_int16(const float* s, std::byte* d, size_t n) { HWY_DYNAMIC_DISPATCH(WriteInt16)(s, d, n); }
void float_to_uint16(const float* s, std::byte* d, size_t n) { HWY_DYNAMIC_DISPATCH(WriteUint16)(s, d, n); }
void float_to_int32(const float* s, std::byte* d, size_t n) { HWY_DYNAMIC_DISPATCH(WriteInt32)(s, d, n); }
void float_to_boolean(const float* s, std::byte* d, size_t n) { HWY_DYNAMIC_DISPATCH(WriteBoolean)(s, d, n); }

}  // namespace trn
#endif
