#include <limits>
#include <numbers>

#include "backend/torch/lowerings/approximation.h"
#include "backend/torch/lowerings/lowering.h"

// Bessel functions by the polynomials of Abramowitz and Stegun, 9.4.1 to 9.4.6 and 9.8.1 to 9.8.8 (errors below 2e-7,
// relative for the modified functions, else absolute), and Airy's.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTwoOverPi = 2 * std::numbers::inv_pi;

Value sine(Value x) { return apply(Activation::sin, reduced_angle(x)); }
Value cosine(Value x) { return apply(Activation::cos, reduced_angle(x)); }

// J and Y share modulus and phase beyond 3; below, each has a polynomial in (x / 3)^2. `x` is not negative.
struct Wave {
  Value modulus, phase;
};
Wave wave0(Value x) {
  const Value far = maximum(x, 3), t = 3.0 / far;
  return {
      polynomial(t, {0.79788456, -0.00000077, -0.00552740, -0.00009512, 0.00137237, -0.00072805, 0.00014476}) *
          rsqrt(far),
      far + polynomial(t, {-0.78539816, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558})};
}
Wave wave1(Value x) {
  const Value far = maximum(x, 3), t = 3.0 / far;
  return {polynomial(t, {0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033}) *
              rsqrt(far),
          far + polynomial(t, {-2.35619449, 0.12499612, 0.00005650, -0.00637879, 0.00074348, 0.00079824, -0.00029166})};
}
Value near_square(Value x) { return square(minimum(x, 3) / 3); }
Value near_j0(Value x) {
  return polynomial(near_square(x), {1, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.0002100});
}
Value near_j1(Value x) {
  return minimum(x, 3) *
         polynomial(near_square(x), {0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109});
}

void bessel_j0(Call& c) {
  const Value x = absolute(c.arg_float(0));
  const Wave far = wave0(x);
  c.out(0, where(x < 3, near_j0(x), far.modulus * cosine(far.phase)));
}
void bessel_j1(Call& c) {
  const Value x = c.arg_float(0), size = absolute(x);
  const Wave far = wave1(size);
  const Value y = where(size < 3, near_j1(size), far.modulus * cosine(far.phase));
  c.out(0, where(x < 0, -y, y));
}

// Of the second kind there is nothing below 0, and -inf (K: inf) at 0.
Value from_zero_on(Value x, Value y, double at_zero) { return where(x < 0, kNan, where(equal(x, 0), at_zero, y)); }
Value positive(Value x) { return where(x <= 0, 1, x); }

void bessel_y0(Call& c) {
  const Value given = c.arg_float(0), x = positive(given);
  const Wave far = wave0(x);
  const Value near = log(minimum(x, 3) / 2) * near_j0(x) * kTwoOverPi +
                     polynomial(near_square(x), {0.36746691, 0.60559366, -0.74350384, 0.25300117, -0.04261214,
                                                 0.00427916, -0.00024846});
  c.out(0, from_zero_on(given, where(x < 3, near, far.modulus * sine(far.phase)), -kInf));
}
void bessel_y1(Call& c) {
  const Value given = c.arg_float(0), x = positive(given);
  const Wave far = wave1(x);
  const Value near =
      log(minimum(x, 3) / 2) * near_j1(x) * kTwoOverPi +
      polynomial(near_square(x), {-0.6366198, 0.2212091, 2.1682709, -1.3164827, 0.3123951, -0.0400976, 0.0027873}) /
          minimum(x, 3);
  c.out(0, from_zero_on(given, where(x < 3, near, far.modulus * sine(far.phase)), -kInf));
}

// Times exp(-|x|).
Value scaled_i0(Value x) {
  const Value far = absolute(x), near = minimum(far, 3.75) / 3.75;
  const Value small = polynomial(near * near, {1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813});
  const Value large = polynomial(
      3.75 / maximum(far, 3.75),
      {0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377});
  return where(far < 3.75, small * exp(-minimum(far, 3.75)), large * rsqrt(maximum(far, 3.75)));
}
Value scaled_i1(Value x) {
  const Value far = absolute(x), near = minimum(far, 3.75) / 3.75;
  const Value small =
      polynomial(near * near, {0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411});
  const Value large =
      polynomial(3.75 / maximum(far, 3.75), {0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967,
                                             -0.02895312, 0.01787654, -0.00420059});
  const Value y = where(far < 3.75, small * far * exp(-minimum(far, 3.75)), large * rsqrt(maximum(far, 3.75)));
  return where(x < 0, -y, y);
}
void i0(Call& c) { c.out(0, scaled_i0(c.arg_float(0)) * exp(absolute(c.arg_float(0)))); }
void i0e(Call& c) { c.out(0, scaled_i0(c.arg_float(0))); }
void i1(Call& c) { c.out(0, scaled_i1(c.arg_float(0)) * exp(absolute(c.arg_float(0)))); }
void i1e(Call& c) { c.out(0, scaled_i1(c.arg_float(0))); }

// Times exp(x), of a positive x.
Value scaled_k0(Value x) {
  const Value low = minimum(x, 2), high = maximum(x, 2), scale = exp(low);
  const Value near = polynomial(square(low / 2),
                                {-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740}) -
                     log(low / 2) * scaled_i0(low) * scale;
  const Value far =
      polynomial(2.0 / high, {1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208});
  return where(x < 2, near * scale, far * rsqrt(high));
}
Value scaled_k1(Value x) {
  const Value low = minimum(x, 2), high = maximum(x, 2), scale = exp(low);
  const Value near =
      polynomial(square(low / 2), {1, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686}) /
          low +
      log(low / 2) * scaled_i1(low) * scale;
  const Value far =
      polynomial(2.0 / high, {1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245});
  return where(x < 2, near * scale, far * rsqrt(high));
}
template <Value (*Scaled)(Value)>
void modified_k_scaled(Call& c) {
  const Value x = c.arg_float(0);
  c.out(0, from_zero_on(x, Scaled(positive(x)), kInf));
}
template <Value (*Scaled)(Value)>
void modified_k(Call& c) {
  const Value x = c.arg_float(0), some = positive(x);
  c.out(0, from_zero_on(x, Scaled(some) * exp(-some), kInf));
}

void spherical_bessel_j0(Call& c) {
  const Value x = c.arg_float(0), small = square(minimum(absolute(x), 0.5));
  const Value near = polynomial(small, {1, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880});
  const Value far = sine(x) / where(equal(x, 0), 1, x);
  c.out(0, where(equal(absolute(x), kInf), 0, where(absolute(x) < 0.5, near, far)));
}

// Ai: its power series between -2.09 and 2.09, beyond the rational functions of Cephes (Moshier, airy.c).
constexpr double kAiryEdge = 2.09;
Value airy_near(Value x) {
  x = minimum(maximum(x, -kAiryEdge), kAiryEdge);
  const Value cube = x * x * x;
  Value f = like(x, 1), g = x, f_term = f, g_term = x;
  for (int k = 3; k <= 30; k += 3) {
    f_term = f_term * cube / (k * (k - 1.0));
    g_term = g_term * cube / (k * (k + 1.0));
    f = f + f_term;
    g = g + g_term;
  }
  return f * 0.355028053887817239260 - g * 0.258819403792806798405;
}
Value airy_above(Value x) {
  x = minimum(maximum(x, kAiryEdge), 1000);
  const Value root = sqrt(x), zeta = x * root * (2.0 / 3), z = 1.0 / zeta;
  const Value up =
      polynomial(z, {1, 14.0264691163389668864, 70.5360906840444183113, 159.756391350164413639, 168.089224934630576269,
                     76.2796053615234516538, 12.0075952739645805542, 0.346538101525629032477});
  const Value down =
      polynomial(z, {1, 14.0959135607834029598, 71.4778400825575695274, 164.234692871529701831, 177.318088145400459522,
                     84.5138970141474626562, 14.7562562584847203173, 0.567594532638770212846});
  return up / down * exp(-zeta) * (0.5 * std::numbers::inv_sqrtpi) * rsqrt(root);
}
Value airy_below(Value x) {
  x = maximum(-x, kAiryEdge);
  const Value root = sqrt(x), zeta = x * root * (2.0 / 3), z = 1.0 / zeta, zz = z * z;
  const Value up_f = polynomial(zz, {-1.67787698489114633780e-8, -2.77649108155232920844e-6, -1.59276496239262096340e-4,
                                     -4.06265923594885404393e-3, -4.91900132609500318020e-2, -0.279779981545119124951,
                                     -0.693158036036933542233, -0.626456544431912369773, -0.131696323418331795333});
  const Value down_f = polynomial(zz, {4.51850092970580378464e-7, 7.54720348287414296618e-5, 4.40291641615211203805e-3,
                                       0.115687173795188044134, 1.47529146771666414581, 9.18707402907259625840,
                                       26.7367040941499554804, 32.6825032795224613948, 13.3560420706553243746});
  const Value up_g = polynomial(
      zz, {3.41551784765923618484e-10, 8.11789239554389293311e-8, 6.98793669997260967291e-6, 2.82851600836737019778e-4,
           5.85804113048388458567e-3, 6.33888919628925490927e-2, 0.351465656105547619242, 0.939169229816650230044,
           1.06579897599595591108, 0.391103029615688277255, 1.97339932091685679179e-2});
  const Value down_g =
      polynomial(zz, {4.91834570062930015649e-9, 1.17166733214413521882e-6, 1.01259085116509135510e-4,
                      4.12656523824222607191e-3, 8.64580826352392193095e-2, 0.954293611618961883998,
                      5.47686069422975497931, 15.5646628932864612953, 19.8352928718312140417, 9.30892908077441974853});
  const Value phase = zeta + std::numbers::pi / 4;
  const Value y = sine(phase) * (zz * up_f / down_f + 1) - cosine(phase) * (z * up_g / down_g);
  return y * std::numbers::inv_sqrtpi * rsqrt(root);
}
void airy_ai(Call& c) {
  const Value x = c.arg_float(0);
  const Value y = where(x < -kAiryEdge, airy_below(x), where(x < kAiryEdge, airy_near(x), airy_above(x)));
  c.out(0, where(x < kInf, where(x > -kInf, y, kNan), kNan));
}

constexpr Row kRows[] = {
    {"i0", i0},
    {"special_i0e", i0e},
    {"special_i1", i1},
    {"special_i1e", i1e},
    {"special_modified_bessel_i0", i0},
    {"special_modified_bessel_i1", i1},
    {"special_modified_bessel_k0", modified_k<scaled_k0>},
    {"special_modified_bessel_k1", modified_k<scaled_k1>},
    {"special_scaled_modified_bessel_k0", modified_k_scaled<scaled_k0>},
    {"special_scaled_modified_bessel_k1", modified_k_scaled<scaled_k1>},
    {"special_bessel_j0", bessel_j0},
    {"special_bessel_j1", bessel_j1},
    {"special_bessel_y0", bessel_y0},
    {"special_bessel_y1", bessel_y1},
    {"special_spherical_bessel_j0", spherical_bessel_j0},
    {"special_airy_ai", airy_ai},
};

}  // namespace

std::span<const Row> bessel_rows() { return kRows; }

}  // namespace trn::torch_backend
