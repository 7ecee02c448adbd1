#include "memory/half.h"

#include <cstring>

#include "memory/half_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "memory/half.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Whole vectors in place; the rest goes through a padded buffer, so that every element takes the same path.
template <class D, class From, class To, class Kernel>
void convert(D d, const From* src, To* dst, size_t n, Kernel kernel) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) kernel(src + i, dst + i);
  if (i == n) return;
  From tail[hn::MaxLanes(d)] = {};
  To done[hn::MaxLanes(d)];
  std::memcpy(tail, src + i, (n - i) * sizeof(From));
  kernel(tail, done);
  std::memcpy(dst + i, done, (n - i) * sizeof(To));
}

void Bfloat16ToFloat(const uint16_t* src, float* dst, size_t n) {
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<uint16_t, decltype(du)> dh;
  convert(du, src, dst, n, [=](const uint16_t* s, float* d) HWY_ATTR {
    hn::StoreU(hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(dh, s))), du, reinterpret_cast<uint32_t*>(d));
  });
}

void FloatToBfloat16(const float* src, uint16_t* dst, size_t n) {
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<int32_t, decltype(du)> di;
  const hn::Rebind<uint16_t, decltype(du)> dh;
  convert(du, src, dst, n, [=](const float* s, uint16_t* d) HWY_ATTR {
    const auto u = hn::LoadU(du, reinterpret_cast<const uint32_t*>(s));
    const auto high = hn::ShiftRight<16>(u);
    const auto rounded = hn::ShiftRight<16>(hn::Add(u, hn::Add(hn::Set(du, 0x7FFF), hn::And(high, hn::Set(du, 1)))));
    const auto magnitude = hn::BitCast(di, hn::And(u, hn::Set(du, 0x7FFFFFFF)));
    const auto nan = hn::RebindMask(du, hn::Gt(magnitude, hn::Set(di, 0x7F800000)));
    const auto out = hn::IfThenElse(nan, hn::Or(high, hn::Set(du, 0x40)), rounded);
    hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, out)), dh, d);
  });
}

void Float16ToFloat(const uint16_t* src, float* dst, size_t n) {
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<int32_t, decltype(du)> di;
  const hn::Rebind<float, decltype(du)> df;
  const hn::Rebind<uint16_t, decltype(du)> dh;
  convert(du, src, dst, n, [=](const uint16_t* s, float* d) HWY_ATTR {
    const auto h = hn::PromoteTo(du, hn::LoadU(dh, s));
    const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(du, 0x8000)));
    const auto rest = hn::ShiftLeft<13>(hn::And(h, hn::Set(du, 0x7FFF)));
    const auto signed_rest = hn::BitCast(di, rest);
    const auto normal = hn::Add(rest, hn::Set(du, 0x38000000));
    const auto offset = hn::Set(du, 0x38800000);
    const auto subnormal = hn::BitCast(du, hn::Sub(hn::BitCast(df, hn::Add(rest, offset)), hn::BitCast(df, offset)));
    const auto quiet =
        hn::IfThenElseZero(hn::RebindMask(du, hn::Gt(signed_rest, hn::Set(di, 0x0F800000))), hn::Set(du, 0x00400000));
    const auto special = hn::Or(hn::Or(rest, hn::Set(du, 0x70000000)), quiet);
    auto out = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_rest, hn::Set(di, 0x00800000))), subnormal, normal);
    out = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_rest, hn::Set(di, 0x0F800000))), out, special);
    hn::StoreU(hn::Or(out, sign), du, reinterpret_cast<uint32_t*>(d));
  });
}

void FloatToFloat16(const float* src, uint16_t* dst, size_t n) {
  const hn::ScalableTag<uint32_t> du;
  const hn::Rebind<int32_t, decltype(du)> di;
  const hn::Rebind<float, decltype(du)> df;
  const hn::Rebind<uint16_t, decltype(du)> dh;
  convert(du, src, dst, n, [=](const float* s, uint16_t* d) HWY_ATTR {
    const auto u = hn::LoadU(du, reinterpret_cast<const uint32_t*>(s));
    const auto rest = hn::And(u, hn::Set(du, 0x7FFFFFFF));
    const auto signed_rest = hn::BitCast(di, rest);
    const auto sign = hn::And(hn::ShiftRight<16>(u), hn::Set(du, 0x8000));
    const auto odd = hn::And(hn::ShiftRight<13>(rest), hn::Set(du, 1));
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Sub(rest, hn::Set(du, 0x38000000 - 0xFFF)), odd));
    const auto shifted = hn::Add(hn::BitCast(df, rest), hn::Set(df, 0.5f));
    const auto subnormal = hn::Sub(hn::BitCast(du, shifted), hn::Set(du, 0x3F000000));
    const auto payload = hn::Or(hn::Set(du, 0x7E00), hn::And(hn::ShiftRight<13>(rest), hn::Set(du, 0x3FF)));
    auto out = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_rest, hn::Set(di, 0x38800000))), subnormal, normal);
    out = hn::IfThenElse(hn::RebindMask(du, hn::Lt(signed_rest, hn::Set(di, 0x47800000))), out, hn::Set(du, 0x7C00));
    out = hn::IfThenElse(hn::RebindMask(du, hn::Gt(signed_rest, hn::Set(di, 0x7F800000))), payload, out);
    hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, hn::Or(out, sign))), dh, d);
  });
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {
HWY_EXPORT(Bfloat16ToFloat);
HWY_EXPORT(FloatToBfloat16);
HWY_EXPORT(Float16ToFloat);
HWY_EXPORT(FloatToFloat16);

void bfloat16_to_float(const uint16_t* src, float* dst, size_t n) {
  HWY_DYNAMIC_DISPATCH(Bfloat16ToFloat)(src, dst, n);
}
void float_to_bfloat16(const float* src, uint16_t* dst, size_t n) {
  HWY_DYNAMIC_DISPATCH(FloatToBfloat16)(src, dst, n);
}
void float16_to_float(const uint16_t* src, float* dst, size_t n) { HWY_DYNAMIC_DISPATCH(Float16ToFloat)(src, dst, n); }
void float_to_float16(const float* src, uint16_t* dst, size_t n) { HWY_DYNAMIC_DISPATCH(FloatToFloat16)(src, dst, n); }

}  // namespace trn
#endif
