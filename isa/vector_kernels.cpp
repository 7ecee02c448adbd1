#include "isa/vector_kernels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/vector_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {

namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using I = hn::RebindToSigned<F>;
using Mask = hn::Mask<F>;

Mask chosen(const int32_t* predicate, bool reverse) {
  const I d;
  const auto p = hn::LoadU(d, predicate);
  const auto zero = hn::Eq(p, hn::Zero(d));
  return hn::RebindMask(F(), reverse ? zero : hn::Not(zero));
}

template <class T>
void choose_as(T* dst, const T* src, int src_step, const int32_t* predicate, bool reverse, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const auto mask = static_cast<T>(-static_cast<int>((predicate[i] != 0) != reverse));
    dst[i] = static_cast<T>((src[i * src_step] & mask) | (dst[i] & static_cast<T>(~mask)));
  }
}

// Bits, not values: loads and stores do not touch a NaN's payload.
void choose_words(float* dst, const float* src, int src_step, const int32_t* predicate, bool reverse, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = src_step == 0 ? hn::Set(d, *src) : hn::LoadU(d, src + i);
    hn::StoreU(hn::IfThenElse(chosen(predicate + i, reverse), value, hn::LoadU(d, dst + i)), d, dst + i);
  }
  choose_as(reinterpret_cast<uint32_t*>(dst) + i, reinterpret_cast<const uint32_t*>(src) + i * src_step, src_step,
            predicate + i, reverse, n - i);
}

}  // namespace

void ChooseElements(int size, std::byte* dst, const std::byte* src, int src_step, const int32_t* predicate,
                    bool reverse, size_t n) {
  switch (size) {
    case 1:
      return choose_as(reinterpret_cast<uint8_t*>(dst), reinterpret_cast<const uint8_t*>(src), src_step, predicate,
                       reverse, n);
    case 2:
      return choose_as(reinterpret_cast<uint16_t*>(dst), reinterpret_cast<const uint16_t*>(src), src_step, predicate,
                       reverse, n);
    default:
      return choose_words(reinterpret_cast<float*>(dst), reinterpret_cast<const float*>(src), src_step, predicate,
                          reverse, n);
  }
}

void SelectFloats(float* dst, const float* on_true, float on_false, const int32_t* predicate, bool reverse, size_t n) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  const auto other = hn::Set(d, on_false);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::IfThenElse(chosen(predicate + i, reverse), hn::LoadU(d, on_true + i), other), d, dst + i);
  for (; i < n; ++i) dst[i] = (predicate[i] != 0) != reverse ? on_true[i] : on_false;
}

size_t FindGreater(const float* values, size_t from, size_t n, float limit) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  const auto most = hn::Set(d, limit);
  for (; from + lanes <= n; from += lanes) {
    const auto hit = hn::Not(hn::Le(hn::LoadU(d, values + from), most));
    if (const auto at = hn::FindFirstTrue(d, hit); at >= 0) return from + static_cast<size_t>(at);
  }
  while (from < n && values[from] <= limit) ++from;
  return from;
}

size_t FindEqual(const float* values, size_t from, size_t n, float wanted) {
  if (std::isnan(wanted)) {
    while (from < n && !std::isnan(values[from])) ++from;
    return from;
  }
  const F d;
  const size_t lanes = hn::Lanes(d);
  const auto want = hn::Set(d, wanted);
  for (; from + lanes <= n; from += lanes)
    if (const auto at = hn::FindFirstTrue(d, hn::Eq(hn::LoadU(d, values + from), want)); at >= 0)
      return from + static_cast<size_t>(at);
  while (from < n && values[from] != wanted) ++from;
  return from;
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {

HWY_EXPORT(ChooseElements);
HWY_EXPORT(SelectFloats);
HWY_EXPORT(FindGreater);
HWY_EXPORT(FindEqual);

void choose_elements(int size, std::byte* dst, const std::byte* src, int src_step, const int32_t* predicate,
                     bool reverse, size_t n) {
  HWY_DYNAMIC_DISPATCH(ChooseElements)(size, dst, src, src_step, predicate, reverse, n);
}
void select_floats(float* dst, const float* on_true, float on_false, const int32_t* predicate, bool reverse, size_t n) {
  HWY_DYNAMIC_DISPATCH(SelectFloats)(dst, on_true, on_false, predicate, reverse, n);
}
size_t find_greater(const float* values, size_t from, size_t n, float limit) {
  return HWY_DYNAMIC_DISPATCH(FindGreater)(values, from, n, limit);
}
size_t find_equal(const float* values, size_t from, size_t n, float wanted) {
  return HWY_DYNAMIC_DISPATCH(FindEqual)(values, from, n, wanted);
}

}  // namespace trn
#endif
