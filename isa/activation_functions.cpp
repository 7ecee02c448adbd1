#include "isa/activation_functions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "isa/activation_scalar.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "isa/activation_functions.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "isa/activation_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace trn::HWY_NAMESPACE {

using D32 = hn::ScalableTag<float>;
using V32 = hn::Vec<D32>;
using H32 = hn::Rebind<float, D64>;  // as many fp32 lanes as a vector has fp64 lanes

// Calls body(src, dst) for whole vectors of `d`; the tail goes through a padded vector, so that every element takes the
// same path.
template <class D, class Body>
HWY_INLINE void in_vectors(D d, float* dst, const float* src, size_t n, Body body) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(src + i, dst + i);
  if (i == n) return;
  HWY_ALIGN float in[hn::MaxLanes(d)], out[hn::MaxLanes(d)];
  std::fill_n(in, lanes, 0.5f);
  std::memcpy(in, src + i, (n - i) * sizeof(float));
  body(in, out);
  std::memcpy(dst + i, out, (n - i) * sizeof(float));
}

template <class F>
HWY_INLINE void map32(float* dst, const float* src, size_t n, F f) {
  const D32 d;
  in_vectors(d, dst, src, n, [=](const float* s, float* t) HWY_ATTR { hn::StoreU(f(hn::LoadU(d, s)), d, t); });
}

template <class F>
HWY_INLINE void map64(float* dst, const float* src, size_t n, F f) {
  const H32 h;
  in_vectors(h, dst, src, n, [=](const float* s, float* t) HWY_ATTR {
    hn::StoreU(hn::DemoteTo(h, f(hn::PromoteTo(D64(), hn::LoadU(h, s)))), h, t);
  });
}

// Large arguments of the trigonometric functions go to the C library, whose reduction has enough digits of pi.
template <class F>
HWY_INLINE void map_trig(float* dst, const float* src, size_t n, F f, double (*library)(double)) {
  const H32 h;
  in_vectors(h, dst, src, n, [=](const float* s, float* t) HWY_ATTR {
    const V64 x = hn::PromoteTo(D64(), hn::LoadU(h, s));
    if (HWY_LIKELY(hn::AllFalse(D64(), hn::Gt(hn::Abs(x), k(kTrigLimit))))) {
      hn::StoreU(hn::DemoteTo(h, f(sin_cos(x))), h, t);
      return;
    }
    for (size_t i = 0; i < hn::Lanes(h); ++i) t[i] = static_cast<float>(library(s[i]));
  });
}

void Evaluate(Activation function, float* dst, const float* src, size_t n, float slope) {
  const D32 d;
  const V32 zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  switch (function) {
    case Activation::copy: return void(std::memmove(dst, src, n * sizeof(float)));
    case Activation::square: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::Mul(x, x); });
    case Activation::relu:
      return map32(dst, src, n, [=](V32 x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, zero), zero, x); });
    case Activation::prelu:
      return map32(dst, src, n,
                   [=](V32 x) HWY_ATTR { return hn::IfThenElse(hn::Gt(x, zero), x, hn::Mul(x, hn::Set(d, slope))); });
    case Activation::sqrt: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::Sqrt(x); });
    case Activation::reciprocal: return map32(dst, src, n, [=](V32 x) HWY_ATTR { return hn::Div(one, x); });
    case Activation::sign:
      return map32(dst, src, n, [=](V32 x) HWY_ATTR {
        return hn::Sub(hn::IfThenElseZero(hn::Gt(x, zero), one), hn::IfThenElseZero(hn::Lt(x, zero), one));
      });
    case Activation::abs: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::Abs(x); });
    // The sign of a zero result is lost where a CPU has no such instruction.
    case Activation::floor: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::CopySign(hn::Floor(x), x); });
    case Activation::ceil: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::CopySign(hn::Ceil(x), x); });
    case Activation::trunc: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::CopySign(hn::Trunc(x), x); });
    case Activation::round: return map32(dst, src, n, [](V32 x) HWY_ATTR { return hn::CopySign(hn::Round(x), x); });

    case Activation::exp: return map64(dst, src, n, [](V64 x) HWY_ATTR { return exp_finite(x); });
    case Activation::exp2:
      return map64(dst, src, n, [](V64 x) HWY_ATTR { return exp_finite(hn::Mul(x, k(0.69314718055994531))); });
    case Activation::expm1: return map64(dst, src, n, [](V64 x) HWY_ATTR { return expm1(x); });
    case Activation::log: return map64(dst, src, n, [](V64 x) HWY_ATTR { return log(x); });
    case Activation::log2:
      return map64(dst, src, n, [](V64 x) HWY_ATTR { return hn::Mul(log(x), k(1.4426950408889634)); });
    case Activation::log10:
      return map64(dst, src, n, [](V64 x) HWY_ATTR { return hn::Mul(log(x), k(0.43429448190325183)); });
    case Activation::log1p: return map64(dst, src, n, [](V64 x) HWY_ATTR { return log1p(x); });
    case Activation::rsqrt: return map64(dst, src, n, [](V64 x) HWY_ATTR { return hn::Div(k(1), hn::Sqrt(x)); });

    case Activation::sigmoid: return map64(dst, src, n, [](V64 x) HWY_ATTR { return sigmoid(x); });
    case Activation::silu:
      return map64(dst, src, n, [](V64 x) HWY_ATTR { return hn::Div(x, hn::Add(k(1), exp(hn::Neg(x)))); });
    case Activation::silu_dx:
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 s = sigmoid(x);
        return hn::Mul(s, hn::Add(k(1), hn::Mul(x, hn::Sub(k(1), s))));
      });
    case Activation::tanh: return map64(dst, src, n, [](V64 x) HWY_ATTR { return tanh(x); });
    case Activation::softplus:
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 positive = hn::IfThenElse(hn::Lt(x, k(0)), k(0), x);
        return hn::Add(positive, log1p(exp(hn::Neg(hn::Abs(x)))));
      });
    case Activation::mish:
      // tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2).
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 e = exp(hn::IfThenElse(hn::Gt(x, k(40)), k(40), x));
        const V64 m = hn::Mul(e, hn::Add(e, k(2)));
        return hn::Mul(x, hn::Div(m, hn::Add(m, k(2))));
      });
    case Activation::sinh:
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 e = expm1(hn::Abs(x));
        return hn::CopySign(hn::Mul(k(0.5), hn::Add(e, hn::Div(e, hn::Add(e, k(1))))), x);
      });
    case Activation::cosh:
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 e = exp_finite(hn::Abs(x));
        return hn::Mul(k(0.5), hn::Add(e, hn::Div(k(1), e)));
      });

    case Activation::erf: return map64(dst, src, n, [](V64 x) HWY_ATTR { return erf(x); });
    case Activation::erfc: return map64(dst, src, n, [](V64 x) HWY_ATTR { return erfc(x); });
    case Activation::erf_dx:
      return map64(dst, src, n,
                   [](V64 x) HWY_ATTR { return hn::Mul(k(1.1283791670955126), exp_finite(hn::Neg(hn::Mul(x, x)))); });
    case Activation::gelu: return map64(dst, src, n, [](V64 x) HWY_ATTR { return hn::Mul(x, normal(x).below); });
    case Activation::gelu_dx:
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const Normal p = normal(x);
        return hn::Add(p.below, hn::Mul(x, p.density));
      });
    case Activation::gelu_apprx_tanh:
      // (1 + tanh(u)) / 2 is the sigmoid of 2 u, here with u = sqrt(2/pi) (x + 0.044715 x^3).
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 cubic = hn::Mul(x, hn::Add(k(1), hn::Mul(k(0.044715), hn::Mul(x, x))));
        return hn::Div(x, hn::Add(k(1), exp(hn::Mul(k(-1.5957691216057308), cubic))));
      });
    case Activation::gelu_apprx_sigmoid:
      return map64(dst, src, n, [](V64 x) HWY_ATTR { return hn::Div(x, hn::Add(k(1), exp(hn::Mul(k(-1.702), x)))); });
    case Activation::gelu_apprx_sigmoid_dx:
      return map64(dst, src, n, [](V64 x) HWY_ATTR {
        const V64 scaled = hn::Mul(k(1.702), x), s = sigmoid(scaled);
        return hn::Mul(s, hn::Add(k(1), hn::Mul(scaled, hn::Sub(k(1), s))));
      });

    case Activation::sin:
      return map_trig(
          dst, src, n, [](SinCos v) HWY_ATTR { return v.sin; }, std::sin);
    case Activation::cos:
      return map_trig(
          dst, src, n, [](SinCos v) HWY_ATTR { return v.cos; }, std::cos);
    case Activation::tan:
      return map_trig(
          dst, src, n, [](SinCos v) HWY_ATTR { return hn::Div(v.sin, v.cos); }, std::tan);
    case Activation::arctan: return map64(dst, src, n, [](V64 x) HWY_ATTR { return arctan(x); });
    default: return;
  }
}

}  // namespace trn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn {
HWY_EXPORT(Evaluate);

namespace {

double (*scalar_function(Activation f))(double) {
  switch (f) {
    case Activation::arcsin: return std::asin;
    case Activation::arccos: return std::acos;
    case Activation::arcsinh: return std::asinh;
    case Activation::arccosh: return std::acosh;
    case Activation::arctanh: return std::atanh;
    case Activation::erfinv: return erfinv;
    case Activation::lgamma: return lgamma_of;
    case Activation::digamma: return digamma;
    default: return nullptr;
  }
}

}  // namespace

void apply_activation(Activation f, float* dst, const float* src, size_t n, float slope) {
  if (const auto scalar = scalar_function(f)) {
    for (size_t i = 0; i < n; ++i) dst[i] = static_cast<float>(scalar(src[i]));
    return;
  }
  HWY_DYNAMIC_DISPATCH(Evaluate)(f, dst, src, n, slope);
}

}  // namespace trn
#endif
