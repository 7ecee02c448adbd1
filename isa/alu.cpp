#include "isa/alu.h"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/alu.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using DI = hn::ScalableTag<int32_t>;
using VI = hn::Vec<DI>;

// Where an operand's elements come from.
template <class T>
struct Array {
  const T* data;
  HWY_INLINE auto at(hn::ScalableTag<T> d, size_t i) const { return hn::LoadU(d, data + i); }
  HWY_INLINE T one(size_t i) const { return data[i]; }
};
template <class T>
struct Same {
  T value;
  HWY_INLINE auto at(hn::ScalableTag<T> d, size_t) const { return hn::Set(d, value); }
  HWY_INLINE T one(size_t) const { return value; }
};

// dst[i] = f(a[i], b[i]) in whole vectors; the tail goes through a padded vector, so that every element takes the same
// path.
template <class T, class A, class B, class F>
HWY_INLINE void zip(T* dst, A a, B b, size_t n, F f) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(d, a.at(d, i), b.at(d, i)), d, dst + i);
  if (i == n) return;
  HWY_ALIGN T x[hn::MaxLanes(d)], y[hn::MaxLanes(d)], z[hn::MaxLanes(d)];
  std::fill_n(x, lanes, T{1});
  std::fill_n(y, lanes, T{1});
  for (size_t k = 0; i + k < n; ++k) {
    x[k] = a.one(i + k);
    y[k] = b.one(i + k);
  }
  hn::Store(f(d, hn::Load(d, x), hn::Load(d, y)), d, z);
  std::memcpy(dst + i, z, (n - i) * sizeof(T));
}

template <class M>
HWY_INLINE V truth(D d, M mask) {
  return hn::IfThenElseZero(mask, hn::Set(d, 1.0f));
}
template <class M>
HWY_INLINE VI truth(DI d, M mask) {
  return hn::IfThenElseZero(mask, hn::Set(d, 1));
}
// Not(Eq), because Highway's Ne of two NaNs is false on some CPUs.
template <class Tag, class Vec>
HWY_INLINE auto is_true(Tag d, Vec a) {
  return hn::Not(hn::Eq(a, hn::Zero(d)));
}
HWY_INLINE auto is_nan(V a) { return hn::Not(hn::Eq(a, a)); }

// 1/sqrt through fp64, rounded once to fp32.
HWY_INLINE V rsqrt(D d, V a) {
  const hn::Repartition<double, D> dd;
  const hn::Half<D> half;
  const auto part = [&](auto h) HWY_ATTR {
    return hn::DemoteTo(half, hn::Div(hn::Set(dd, 1.0), hn::Sqrt(hn::PromoteTo(dd, h))));
  };
  return hn::Combine(d, part(hn::UpperHalf(half, a)), part(hn::LowerHalf(half, a)));
}

// Calls use(vector form of `op`); false if it has none. maximum and minimum are spelled out, because the native
// instructions treat NaN differently from CPU to CPU.
template <class Use>
HWY_INLINE bool with_form(AluOp op, bool, float, Use use) {
  // clang-format off
  switch (op) {
    case AluOp::bypass: use([](D, V a, V) HWY_ATTR { return a; }); return true;
    case AluOp::add: use([](D, V a, V b) HWY_ATTR { return hn::Add(a, b); }); return true;
    case AluOp::subtract: use([](D, V a, V b) HWY_ATTR { return hn::Sub(a, b); }); return true;
    case AluOp::multiply: use([](D, V a, V b) HWY_ATTR { return hn::Mul(a, b); }); return true;
    case AluOp::divide: use([](D, V a, V b) HWY_ATTR { return hn::Div(a, b); }); return true;
    case AluOp::maximum: use([](D, V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Or(is_nan(a), hn::Gt(a, b)), a, b); }); return true;
    case AluOp::minimum: use([](D, V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Or(is_nan(a), hn::Lt(a, b)), a, b); }); return true;
    case AluOp::equal: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Eq(a, b)); }); return true;
    case AluOp::not_equal: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Not(hn::Eq(a, b))); }); return true;
    case AluOp::greater_equal: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Ge(a, b)); }); return true;
    case AluOp::greater: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Gt(a, b)); }); return true;
    case AluOp::less_equal: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Le(a, b)); }); return true;
    case AluOp::less: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Lt(a, b)); }); return true;
    case AluOp::logical_and: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::And(is_true(d, a), is_true(d, b))); }); return true;
    case AluOp::logical_or: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Or(is_true(d, a), is_true(d, b))); }); return true;
    case AluOp::logical_xor: use([](D d, V a, V b) HWY_ATTR { return truth(d, hn::Xor(is_true(d, a), is_true(d, b))); }); return true;
    case AluOp::abs_max: use([](D, V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Or(is_nan(a), hn::Gt(hn::Abs(a), hn::Abs(b))), a, b); }); return true;
    case AluOp::abs_min: use([](D, V a, V b) HWY_ATTR { return hn::IfThenElse(hn::Or(is_nan(a), hn::Lt(hn::Abs(a), hn::Abs(b))), a, b); }); return true;
    case AluOp::abs: use([](D, V a, V) HWY_ATTR { return hn::Abs(a); }); return true;
    case AluOp::square: use([](D, V a, V) HWY_ATTR { return hn::Mul(a, a); }); return true;
    case AluOp::relu: use([](D d, V a, V) HWY_ATTR { return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Zero(d), a); }); return true;
    case AluOp::rsqrt: use([](D d, V a, V) HWY_ATTR { return rsqrt(d, a); }); return true;
    case AluOp::reciprocal: use([](D d, V a, V) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), a); }); return true;
    default: return false;
  }
  // clang-format on
}

template <class Use>
HWY_INLINE bool with_form(AluOp op, bool is_unsigned, int32_t, Use use) {
  // Flipping the sign bit turns an unsigned comparison into a signed one.
  const int32_t flip = is_unsigned ? std::numeric_limits<int32_t>::min() : 0;
  const auto above = [flip](DI d, VI a, VI b)
                         HWY_ATTR { return hn::Gt(hn::Xor(a, hn::Set(d, flip)), hn::Xor(b, hn::Set(d, flip))); };
  // clang-format off
  switch (op) {
    case AluOp::bypass: use([](DI, VI a, VI) HWY_ATTR { return a; }); return true;
    case AluOp::invert: use([](DI, VI a, VI) HWY_ATTR { return hn::Not(a); }); return true;
    case AluOp::bitwise_and: use([](DI, VI a, VI b) HWY_ATTR { return hn::And(a, b); }); return true;
    case AluOp::bitwise_or: use([](DI, VI a, VI b) HWY_ATTR { return hn::Or(a, b); }); return true;
    case AluOp::bitwise_xor: use([](DI, VI a, VI b) HWY_ATTR { return hn::Xor(a, b); }); return true;
    case AluOp::add: use([](DI, VI a, VI b) HWY_ATTR { return hn::Add(a, b); }); return true;
    case AluOp::subtract: use([](DI, VI a, VI b) HWY_ATTR { return hn::Sub(a, b); }); return true;
    case AluOp::multiply: use([](DI, VI a, VI b) HWY_ATTR { return hn::Mul(a, b); }); return true;
    case AluOp::maximum: use([=](DI d, VI a, VI b) HWY_ATTR { return hn::IfThenElse(above(d, a, b), a, b); }); return true;
    case AluOp::minimum: use([=](DI d, VI a, VI b) HWY_ATTR { return hn::IfThenElse(above(d, b, a), a, b); }); return true;
    case AluOp::equal: use([](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::Eq(a, b)); }); return true;
    case AluOp::not_equal: use([](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::Not(hn::Eq(a, b))); }); return true;
    case AluOp::greater_equal: use([=](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::Not(above(d, b, a))); }); return true;
    case AluOp::greater: use([=](DI d, VI a, VI b) HWY_ATTR { return truth(d, above(d, a, b)); }); return true;
    case AluOp::less_equal: use([=](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::Not(above(d, a, b))); }); return true;
    case AluOp::less: use([=](DI d, VI a, VI b) HWY_ATTR { return truth(d, above(d, b, a)); }); return true;
    case AluOp::logical_and: use([](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::And(is_true(d, a), is_true(d, b))); }); return true;
    case AluOp::logical_or: use([](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::Or(is_true(d, a), is_true(d, b))); }); return true;
    case AluOp::logical_xor: use([](DI d, VI a, VI b) HWY_ATTR { return truth(d, hn::Xor(is_true(d, a), is_true(d, b))); }); return true;
    case AluOp::square: use([](DI, VI a, VI) HWY_ATTR { return hn::Mul(a, a); }); return true;
    default: return false;
  }
  // clang-format on
}

HWY_INLINE float scalar_form(AluOp op, bool, float a, float b) { return info(op).on_float(a, b); }
HWY_INLINE int32_t scalar_form(AluOp op, bool is_unsigned, int32_t a, int32_t b) {
  return info(op).on_int(a, b, is_unsigned);
}

template <class T, class A, class B>
HWY_INLINE void apply(AluOp op, bool is_unsigned, T* dst, A a, B b, size_t n) {
  if (with_form(op, is_unsigned, T{}, [&](auto f) HWY_ATTR { zip(dst, a, b, n, f); })) return;
  for (size_t i = 0; i < n; ++i) dst[i] = scalar_form(op, is_unsigned, a.one(i), b.one(i));
}

constexpr size_t kPartials = 16;

// partial[i mod 16] of the whole groups of 16 elements; n >= 16. False if `op` has no vector form.
template <class T>
HWY_INLINE bool reduce_groups(AluOp op, bool is_unsigned, const T* a, size_t n, T* partial) {
  const hn::ScalableTag<T> d;
  constexpr size_t kLanes = hn::MaxLanes(d) < kPartials ? hn::MaxLanes(d) : kPartials;
  static_assert(hn::MaxLanes(d) <= kPartials, "wider vectors need a capped tag");
  constexpr size_t kVectors = kPartials / kLanes;
  return with_form(op, is_unsigned, T{}, [&](auto f) HWY_ATTR {
    hn::Vec<decltype(d)> p[kVectors];
#pragma GCC unroll 4
    for (size_t k = 0; k < kVectors; ++k) p[k] = hn::LoadU(d, a + k * kLanes);
    for (size_t i = kPartials; i + kPartials <= n; i += kPartials) {
#pragma GCC unroll 4
      for (size_t k = 0; k < kVectors; ++k) p[k] = f(d, p[k], hn::LoadU(d, a + i + k * kLanes));
    }
#pragma GCC unroll 4
    for (size_t k = 0; k < kVectors; ++k) hn::StoreU(p[k], d, partial + k * kLanes);
  });
}

template <class T>
HWY_INLINE T reduce(AluOp op, bool is_unsigned, const T* a, size_t n) {
  T partial[kPartials];
  const size_t count = std::min(n, kPartials);
  std::memcpy(partial, a, count * sizeof(T));
  size_t i = count;
  if (n >= 2 * kPartials && reduce_groups(op, is_unsigned, a, n, partial)) i = n / kPartials * kPartials;
  for (; i < n; ++i) partial[i % kPartials] = scalar_form(op, is_unsigned, partial[i % kPartials], a[i]);
  for (size_t half = kPartials / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half && k + half < count; ++k)
      partial[k] = scalar_form(op, is_unsigned, partial[k], partial[k + half]);
  return partial[0];
}

// clang-format off
void FloatArrays(AluOp op, float* dst, const float* a, const float* b, size_t n) { apply(op, false, dst, Array<float>{a}, Array<float>{b}, n); }
void FloatScalar(AluOp op, float* dst, const float* a, float b, size_t n) { apply(op, false, dst, Array<float>{a}, Same<float>{b}, n); }
void FloatReversed(AluOp op, float* dst, float a, const float* b, size_t n) { apply(op, false, dst, Same<float>{a}, Array<float>{b}, n); }
void IntArrays(AluOp op, bool u, int32_t* dst, const int32_t* a, const int32_t* b, size_t n) { apply(op, u, dst, Array<int32_t>{a}, Array<int32_t>{b}, n); }
void IntScalar(AluOp op, bool u, int32_t* dst, const int32_t* a, int32_t b, size_t n) { apply(op, u, dst, Array<int32_t>{a}, Same<int32_t>{b}, n); }
void IntReversed(AluOp op, bool u, int32_t* dst, int32_t a, const int32_t* b, size_t n) { apply(op, u, dst, Same<int32_t>{a}, Array<int32_t>{b}, n); }
float FloatReduce(AluOp op, const float* a, size_t n) { return reduce(op, false, a, n); }
int32_t IntReduce(AluOp op, bool u, const int32_t* a, size_t n) { return reduce(op, u, a, n); }
// clang-format on

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {
HWY_EXPORT(FloatArrays);
HWY_EXPORT(FloatScalar);
HWY_EXPORT(FloatReversed);
HWY_EXPORT(IntArrays);
HWY_EXPORT(IntScalar);
HWY_EXPORT(IntReversed);
HWY_EXPORT(FloatReduce);
HWY_EXPORT(IntReduce);

namespace {
bool is_logical(AluOp op) { return op >= AluOp::logical_and && op <= AluOp::logical_xor; }
}  // namespace

void apply_float(AluOp op, float* dst, const float* a, const float* b, size_t n) {
  HWY_DYNAMIC_DISPATCH(FloatArrays)(op, dst, a, info(op).arity == 1 ? a : b, n);
}
void apply_float(AluOp op, float* dst, const float* a, float b, size_t n) {
  HWY_DYNAMIC_DISPATCH(FloatScalar)(op, dst, a, b, n);
}
void apply_float(AluOp op, float* dst, float a, const float* b, size_t n) {
  if (info(op).arity == 1) return apply_float(op, dst, b, a, n);
  HWY_DYNAMIC_DISPATCH(FloatReversed)(op, dst, a, b, n);
}
void apply_int(AluOp op, bool is_unsigned, int32_t* dst, const int32_t* a, const int32_t* b, size_t n) {
  HWY_DYNAMIC_DISPATCH(IntArrays)(op, is_unsigned, dst, a, info(op).arity == 1 ? a : b, n);
}
void apply_int(AluOp op, bool is_unsigned, int32_t* dst, const int32_t* a, int32_t b, size_t n) {
  HWY_DYNAMIC_DISPATCH(IntScalar)(op, is_unsigned, dst, a, b, n);
}
void apply_int(AluOp op, bool is_unsigned, int32_t* dst, int32_t a, const int32_t* b, size_t n) {
  if (info(op).arity == 1) return apply_int(op, is_unsigned, dst, b, a, n);
  HWY_DYNAMIC_DISPATCH(IntReversed)(op, is_unsigned, dst, a, b, n);
}

float reduce_float(AluOp op, const float* a, size_t n) {
  if (op == AluOp::subtract) return n == 1 ? a[0] : a[0] - HWY_DYNAMIC_DISPATCH(FloatReduce)(AluOp::add, a + 1, n - 1);
  const float r = HWY_DYNAMIC_DISPATCH(FloatReduce)(op, a, n);
  return is_logical(op) ? info(op).on_float(r, info(op).identity) : r;
}
int32_t reduce_int(AluOp op, bool is_unsigned, const int32_t* a, size_t n) {
  if (op == AluOp::subtract)
    return n == 1 ? a[0]
                  : info(op).on_int(a[0], HWY_DYNAMIC_DISPATCH(IntReduce)(AluOp::add, is_unsigned, a + 1, n - 1),
                                    is_unsigned);
  const int32_t r = HWY_DYNAMIC_DISPATCH(IntReduce)(op, is_unsigned, a, n);
  return is_logical(op) ? info(op).on_int(r, static_cast<int32_t>(info(op).identity), is_unsigned) : r;
}

}  // namespace trn
#endif
