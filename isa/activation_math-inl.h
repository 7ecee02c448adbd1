// Vector functions in fp64 for one Highway target; included once per target (Highway's "-inl.h" idiom), hence the
// toggled guard. Arguments are fp32 values, results are rounded to fp32 by the caller, so a relative error of 2^-34
// here is half an ulp and a hair there. No fused multiply-add: the same bits on every CPU. Polynomials: Chebyshev
// interpolation at 60 digits; each names its relative error.
#if defined(TRN_ACTIVATION_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_ACTIVATION_MATH_INL_H
#undef TRN_ACTIVATION_MATH_INL_H
#else
#define TRN_ACTIVATION_MATH_INL_H
#endif

#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D64 = hn::ScalableTag<double>;
using I64 = hn::RebindToSigned<D64>;
using U64 = hn::RebindToUnsigned<D64>;
using V64 = hn::Vec<D64>;
using M64 = hn::Mask<D64>;

HWY_INLINE V64 k(double value) { return hn::Set(D64(), value); }

// c[I] + c[I + 2] x + c[I + 4] x^2 + ..., unrolled.
template <size_t I, size_t N>
HWY_INLINE V64 every_other(const double (&c)[N], V64 x) {
  if constexpr (I + 2 >= N) {
    return k(c[I]);
  } else {
    return hn::Add(k(c[I]), hn::Mul(x, every_other<I + 2>(c, x)));
  }
}
// c[0] + c[1] x + c[2] x^2 + ...: even and odd powers apart, so that two chains run at once.
template <size_t N>
HWY_INLINE V64 polynomial(const double (&c)[N], V64 x) {
  const V64 z = hn::Mul(x, x);
  return hn::Add(every_other<0>(c, z), hn::Mul(x, every_other<1>(c, z)));
}

// x inside [-limit, limit]; NaN stays.
HWY_INLINE V64 clamped(V64 x, double limit) {
  x = hn::IfThenElse(hn::Gt(x, k(limit)), k(limit), x);
  return hn::IfThenElse(hn::Lt(x, k(-limit)), k(-limit), x);
}

// e^x = scale * (1 + rest) with scale a power of two and |rest| < 0.42.
struct ScaledExp {
  V64 scale, rest;
};
constexpr double kExpLimit = 708;

HWY_INLINE ScaledExp scaled_exp(V64 x) {
  // (e^r - 1 - r) / r^2 on |r| <= ln(2)/2: 2^-36 of e^r - 1.
  constexpr double q[] = {0.5,
                          0.16666666719312481,
                          0.041666666719295685,
                          0.008333298344023092,
                          0.0013888853909945039,
                          0.00019899390183679231,
                          2.4859694394752072e-5};
  constexpr double kMagic = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  x = clamped(x, kExpLimit);
  const V64 shifted = hn::Add(hn::Mul(x, k(1.4426950408889634)), k(kMagic));
  const V64 n = hn::Sub(shifted, k(kMagic));
  const V64 r = hn::Sub(x, hn::Mul(n, k(0.69314718055994531)));
  const auto bits = hn::ShiftLeft<52>(hn::Add(hn::BitCast(I64(), shifted), hn::Set(I64(), 1023)));
  return {hn::BitCast(D64(), bits), hn::Mul(r, hn::Add(k(1), hn::Mul(r, polynomial(q, r))))};
}

// e^x, saturating near the ends of fp64 instead of reaching 0 and infinity.
HWY_INLINE V64 exp_finite(V64 x) {
  const ScaledExp e = scaled_exp(x);
  return hn::Add(e.scale, hn::Mul(e.scale, e.rest));
}
HWY_INLINE V64 exp(V64 x) {
  const V64 e = hn::IfThenElse(hn::Gt(x, k(kExpLimit)), k(std::numeric_limits<double>::infinity()), exp_finite(x));
  return hn::IfThenElse(hn::Lt(x, k(-kExpLimit)), k(0), e);
}
HWY_INLINE V64 expm1(V64 x) {
  const ScaledExp e = scaled_exp(x);
  return hn::CopySign(hn::Add(hn::Sub(e.scale, k(1)), hn::Mul(e.scale, e.rest)), x);
}

// log of positive finite x.
HWY_INLINE V64 log_positive(V64 x) {
  // (2 atanh(s) - 2 s) / s^3 in s^2, for x in [sqrt(1/2), sqrt(2)]: 2^-43.
  constexpr double p[] = {0.66666666667378686, 0.39999998792441689, 0.28571755535032942, 0.22191337428065784,
                          0.19363884986633199};
  constexpr uint64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  const U64 du;
  const auto offset = hn::Add(hn::BitCast(du, x), hn::Set(du, 0x3FF0000000000000 - kSqrtHalf));
  const auto biased = hn::ShiftRight<52>(offset);
  const V64 e = hn::Sub(hn::BitCast(D64(), hn::Or(biased, hn::Set(du, 0x4330000000000000))), k(0x1p52 + 1023));
  const auto mantissa = hn::And(offset, hn::Set(du, 0x000FFFFFFFFFFFFF));
  const V64 m = hn::BitCast(D64(), hn::Add(mantissa, hn::Set(du, kSqrtHalf)));
  const V64 s = hn::Div(hn::Sub(m, k(1)), hn::Add(m, k(1)));
  const V64 z = hn::Mul(s, s);
  const V64 log_m = hn::Mul(s, hn::Add(k(2), hn::Mul(z, polynomial(p, z))));
  return hn::Add(hn::Mul(e, k(0.69314718055994531)), log_m);
}
HWY_INLINE V64 log(V64 x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const V64 nan = k(std::numeric_limits<double>::quiet_NaN());
  const V64 special = hn::IfThenElse(hn::Eq(x, k(kInfinity)), x, hn::IfThenElse(hn::Eq(x, k(0)), k(-kInfinity), nan));
  return hn::IfThenElse(hn::And(hn::Gt(x, k(0)), hn::Lt(x, k(kInfinity))), log_positive(x), special);
}
HWY_INLINE V64 log1p(V64 x) {
  const V64 u = hn::Add(k(1), x);
  const V64 lost = hn::Div(hn::Sub(x, hn::Sub(u, k(1))), u);  // what rounding took from u
  const V64 main = log(u);
  const M64 finite = hn::And(hn::Gt(u, k(0)), hn::Lt(u, k(std::numeric_limits<double>::infinity())));
  return hn::CopySign(hn::IfThenElse(finite, hn::Add(main, lost), main), x);
}

HWY_INLINE V64 sigmoid(V64 x) { return hn::Div(k(1), hn::Add(k(1), exp(hn::Neg(x)))); }

HWY_INLINE V64 tanh(V64 x) {
  const V64 e = expm1(hn::Mul(k(-2), hn::Abs(x)));
  return hn::CopySign(hn::Div(e, hn::Add(k(2), e)), x);
}

// erfc(a) for a >= 0, and e^(-a^2) on the way.
struct Erfc {
  V64 erfc, gauss;
};
HWY_INLINE Erfc erfc_positive(V64 a) {
  // e^(a^2) erfc(a) (1 + 2 a) in t = (a - 3) / (a + 3): 2^-35 for a <= 12, beyond which fp32 sees 0.
  constexpr double c[] = {1.2530080582933044,      -0.13562110630674791,    -0.047562298207120861,
                          0.12964516775634465,     -0.11927355722633141,    0.068307927135963203,
                          -0.023771629395546941,   0.0025295621997623845,   0.0018941565893343904,
                          -0.00077770258993408059, -0.00011778008738964423, 0.00011483629359359906,
                          1.5798355189191665e-5,   -5.936193350960739e-6};
  const V64 near = hn::IfThenElse(hn::Gt(a, k(40)), k(40), a);
  const V64 t = hn::Div(hn::Sub(near, k(3)), hn::Add(near, k(3)));
  const V64 gauss = exp(hn::Neg(hn::Mul(a, a)));
  return {hn::Mul(gauss, hn::Div(polynomial(c, t), hn::Add(k(1), hn::Add(near, near)))), gauss};
}
HWY_INLINE V64 erfc(V64 x) {
  const V64 e = erfc_positive(hn::Abs(x)).erfc;
  return hn::IfThenElse(hn::Lt(x, k(0)), hn::Sub(k(2), e), e);
}
HWY_INLINE V64 erf(V64 x) {
  // erf(x) / x in x^2, |x| <= 1: 2^-40.
  constexpr double c[] = {1.1283791670946767,    -0.37612638889635307,   0.11283791308604581,
                          -0.026866133235095592, 0.0052237834771892481,  -0.00085426379970872296,
                          0.0001195656256820733, -1.3909340021874599e-5, 1.0589380641075019e-6};
  const V64 a = hn::Abs(x);
  const V64 near = hn::Mul(a, polynomial(c, hn::Mul(a, a)));
  const V64 far = hn::Sub(k(1), erfc_positive(a).erfc);
  return hn::CopySign(hn::IfThenElse(hn::Lt(a, k(1)), near, far), x);
}

// Distribution function of the standard normal, and its density.
struct Normal {
  V64 below, density;
};
HWY_INLINE Normal normal(V64 x) {
  const Erfc e = erfc_positive(hn::Mul(hn::Abs(x), k(0.70710678118654752)));
  const V64 tail = hn::Mul(k(0.5), e.erfc);
  return {hn::IfThenElse(hn::Lt(x, k(0)), tail, hn::Sub(k(1), tail)), hn::Mul(e.gauss, k(0.39894228040143268))};
}

// sin and cos for |x| <= kTrigLimit: pi/2 in three parts, whose products with the quotient (22 bits) are exact.
constexpr double kTrigLimit = 0x1p22;
struct SinCos {
  V64 sin, cos;
};
HWY_INLINE SinCos sin_cos(V64 x) {
  // (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 in r^2, |r| <= pi/4: 2^-35 and 2^-39.
  constexpr double s[] = {-0.16666666663832764, 0.008333331865959414, -0.00019840082012765537, 2.7249314054698805e-6};
  constexpr double c[] = {0.041666666664302406, -0.001388888766471362, 2.4800596435621997e-5, -2.7300448619488355e-7};
  constexpr double kMagic = 0x1.8p52;
  const V64 shifted = hn::Add(hn::Mul(x, k(0.63661977236758134)), k(kMagic));
  const V64 n = hn::Sub(shifted, k(kMagic));
  V64 r = hn::Sub(x, hn::Mul(n, k(0x1.921fb54400000p+0)));
  r = hn::Sub(r, hn::Mul(n, k(0x1.0b4611a400000p-34)));
  r = hn::Sub(r, hn::Mul(n, k(0x1.13198a2e03707p-65)));
  const V64 z = hn::Mul(r, r);
  const V64 sin_r = hn::Mul(r, hn::Add(k(1), hn::Mul(z, polynomial(s, z))));
  const V64 cos_r = hn::Add(k(1), hn::Mul(z, hn::Add(k(-0.5), hn::Mul(z, polynomial(c, z)))));
  const auto quadrant = hn::BitCast(I64(), shifted);
  const auto one = hn::Set(I64(), 1), two = hn::Set(I64(), 2);
  const M64 odd = hn::RebindMask(D64(), hn::Eq(hn::And(quadrant, one), one));
  const auto flipped = [](V64 v, auto bit) HWY_ATTR { return hn::Xor(v, hn::BitCast(D64(), hn::ShiftLeft<62>(bit))); };
  return {flipped(hn::IfThenElse(odd, cos_r, sin_r), hn::And(quadrant, two)),
          flipped(hn::IfThenElse(odd, sin_r, cos_r), hn::And(hn::Add(quadrant, one), two))};
}

HWY_INLINE V64 arctan(V64 x) {
  // (atan(t) - t) / t^3 in t^2, |t| <= tan(pi/8): 2^-43.
  constexpr double c[] = {-0.33333333333265192,  0.1999999994920436,   -0.1428570804267612,   0.1111081710428024,
                          -0.090840543082162837, 0.076043584088573222, -0.060252879685142877, 0.032920714310788078};
  const V64 a = hn::Abs(x);
  const M64 large = hn::Gt(a, k(2.4142135623730950)), medium = hn::Gt(a, k(0.41421356237309505));
  const V64 above = hn::IfThenElse(large, k(-1), hn::IfThenElse(medium, hn::Sub(a, k(1)), a));
  const V64 below = hn::IfThenElse(large, a, hn::IfThenElse(medium, hn::Add(a, k(1)), k(1)));
  const V64 base = hn::IfThenElse(large, k(1.5707963267948966), hn::IfThenElse(medium, k(0.78539816339744831), k(0)));
  const V64 t = hn::Div(above, below);
  const V64 z = hn::Mul(t, t);
  return hn::CopySign(hn::Add(base, hn::Mul(t, hn::Add(k(1), hn::Mul(z, polynomial(c, z))))), x);
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
