#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "backend/torch/lowerings/complex.h"

// aten ops of two or three tensors or numbers, element by element.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An integer in dtype `d`, which may be narrower than what it is computed in: PyTorch converts operands to the common
// dtype first, so an int32 0-dim 300 meets uint8 tensors as 44.
Value wrapped_to(Value x, Dtype d) {
  return is_integer(d) && size_of(d) < 4 && is_integer(x.dtype()) ? convert(x, d) : x;
}

// Operand `i` (a tensor or a number) in the dtype that result 0 is computed in.
Value operand(Call& c, int i) { return convert(wrapped_to(c.in(i), c.dtype(0)), compute_dtype(c.dtype(0))); }
Value operand_number(Call& c, int i) {
  const Dtype work = compute_dtype(c.dtype(0));
  return convert(wrapped_to(c.number(i, work), c.dtype(0)), work);
}

// x * number, or x itself if the number is known to be 1 or the op has none.
Value scaled(Call& c, Value x, int number) {
  if (number >= c.arguments()) return x;
  if (c.known(number) && c.constant(number) == 1) return x;
  const Value factor = c.number(number, x.dtype());
  return x.dtype() == Dtype::boolean ? logical_and(x, factor) : x * factor;
}

Value sum_of(Value a, Value b) { return a.dtype() == Dtype::boolean ? logical_or(a, b) : a + b; }
Complex scaled_complex(Call& c, int i) { return complex_arg(c, i) * c.number(2, Dtype::float32); }
void add(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 0) + scaled_complex(c, 1));
  c.out(0, sum_of(operand(c, 0), scaled(c, operand(c, 1), 2)));
}
void add_scalar(Call& c) { c.out(0, sum_of(operand(c, 0), scaled(c, operand_number(c, 1), 2))); }
void sub(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 0) - scaled_complex(c, 1));
  c.out(0, operand(c, 0) - scaled(c, operand(c, 1), 2));
}
void sub_scalar(Call& c) { c.out(0, operand(c, 0) - scaled(c, operand_number(c, 1), 2)); }
void rsub(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 1) - scaled_complex(c, 0));
  c.out(0, operand(c, 1) - scaled(c, operand(c, 0), 2));
}
void rsub_scalar(Call& c) { c.out(0, operand_number(c, 1) - scaled(c, operand(c, 0), 2)); }

Value product_of(Value a, Value b) { return a.dtype() == Dtype::boolean ? logical_and(a, b) : a * b; }

void mul(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 0) * complex_arg(c, 1));
  c.out(0, product_of(operand(c, 0), operand(c, 1)));
}
void mul_scalar(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 0) * c.number(1, Dtype::float32));
  c.out(0, product_of(operand(c, 0), operand_number(c, 1)));
}

// c10::div_floor_floating: the quotient of an exact multiple, so that floor(a / b) * b <= a holds.
Value float_floor_quotient(Value a, Value b) {
  const Value mod = apply(AluOp::fmod, a, b);
  Value div = (a - mod) / b;
  div = where(logical_and(not_equal(mod, 0), not_equal(b < 0, mod < 0)), div - 1, div);
  Value down = floor(div);
  down = where(div - down > 0.5, down + 1, down);
  down = where(equal(div, 0), to_float(like(div, 0)), down);
  return where(equal(b, 0), a / b, down);
}

Value quotient(Value a, Value b, std::string_view mode) {
  if (mode.empty()) return to_float(a) / to_float(b);
  const bool to_floor = mode == "floor";
  if (!a.is_float() && !b.is_float())
    return integer_quotient(to_int(a), to_int(b), to_floor ? Rounding::down : Rounding::to_zero);
  a = to_float(a);
  b = to_float(b);
  return to_floor ? float_floor_quotient(a, b) : apply(Activation::trunc, a / b);
}

void div(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 0) / complex_arg(c, 1));
  c.out(0, operand(c, 0) / operand(c, 1));
}
void div_scalar(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_arg(c, 0) * (1.0 / c.number(1, Dtype::float32)));
  c.out(0, operand(c, 0) / operand_number(c, 1));
}
void div_mode(Call& c) { c.out(0, quotient(operand(c, 0), operand(c, 1), c.text(2))); }
void div_scalar_mode(Call& c) { c.out(0, quotient(operand(c, 0), operand_number(c, 1), c.text(2))); }
void floor_divide(Call& c) { c.out(0, quotient(operand(c, 0), operand(c, 1), "floor")); }
void floor_divide_scalar(Call& c) { c.out(0, quotient(operand(c, 0), operand_number(c, 1), "floor")); }

template <AluOp Op>
void arithmetic(Call& c) {
  c.out(0, apply(Op, operand(c, 0), operand(c, 1)));
}
template <AluOp Op>
void arithmetic_scalar(Call& c) {
  c.out(0, apply(Op, operand(c, 0), operand_number(c, 1)));
}
template <AluOp Op>
void arithmetic_scalar_first(Call& c) {
  c.out(0, apply(Op, operand_number(c, 0), operand(c, 1)));
}
template <AluOp Op>
void logical(Call& c) {
  c.out(0, apply(Op, to_bool(c.in(0)), to_bool(c.in(1))));
}

// A number compared with a low-precision tensor is first rounded to the tensor's dtype, as PyTorch's type promotion
// does.
Value rounded_number(Call& c, int i, Value like_tensor) {
  if (!c.integral(i) && !like_tensor.is_float()) return c.number(i, Dtype::float32);
  if (!like_tensor.is_float()) return to_int(wrapped_to(c.number(i, Dtype::int32), like_tensor.dtype()));
  return to_float(convert(c.number(i, Dtype::float32), like_tensor.dtype()));
}

// Whether a 0-dim operand takes the other's dtype: it does not widen inside its kind.
bool follows(Value a, Value b) {
  return a.rank() == 0 && b.rank() > 0 && a.is_float() == b.is_float() &&
         is_integer(a.dtype()) == is_integer(b.dtype());
}

template <AluOp Op>
void compare(Call& c) {
  if (c.complex(0) || c.complex(1)) {
    const Complex x = complex_arg(c, 0), y = complex_arg(c, 1);
    const Value re = apply(Op, x.re, y.re), im = apply(Op, x.im, y.im);
    return c.out(0, Op == AluOp::equal ? logical_and(re, im) : logical_or(re, im));
  }
  Value a = c.in(0), b = c.in(1);
  if (follows(b, a)) b = convert(b, a.dtype());
  if (follows(a, b)) a = convert(a, b.dtype());
  c.out(0, apply(Op, to_compute(a), to_compute(b)));
}
template <AluOp Op>
void compare_scalar(Call& c) {
  const Value a = c.in(0);
  c.out(0, apply(Op, to_compute(a), rounded_number(c, 1, a)));
}

void bitwise_or_logical(Call& c, AluOp op, Value b) {
  const Value a = operand(c, 0);
  constexpr AluOp boolean[] = {AluOp::logical_and, AluOp::logical_or, AluOp::logical_xor};
  if (a.dtype() == Dtype::boolean) op = boolean[static_cast<int>(op) - static_cast<int>(AluOp::bitwise_and)];
  c.out(0, apply(op, a, b));
}
template <AluOp Op>
void bitwise(Call& c) {
  bitwise_or_logical(c, Op, operand(c, 1));
}
template <AluOp Op>
void bitwise_scalar(Call& c) {
  bitwise_or_logical(c, Op, operand_number(c, 1));
}

void shift_left(Call& c) { c.out(0, apply(AluOp::left_shift, operand(c, 0), operand(c, 1))); }
void shift_left_scalar(Call& c) { c.out(0, apply(AluOp::left_shift, operand(c, 0), operand_number(c, 1))); }
void shift_right(Call& c) { c.out(0, shift_right_arithmetic(operand(c, 0), operand(c, 1))); }
void shift_right_scalar(Call& c) { c.out(0, shift_right_arithmetic(operand(c, 0), operand_number(c, 1))); }

// Exponents that need no logarithm; the rest is the power operator.
void pow_scalar(Call& c) {
  const Value x = operand(c, 0);
  const double e = c.known(1) ? c.constant(1) : kNan;
  if (e == 0) return c.out(0, like(x, 1));
  if (e == 1) return c.out(0, x);
  if (e == 2) return c.out(0, x * x);
  if (e == 3) return c.out(0, x * x * x);
  if (x.is_float() && e == 0.5) return c.out(0, sqrt(x));
  if (x.is_float() && e == -0.5) return c.out(0, rsqrt(x));
  if (x.is_float() && e == -1) return c.out(0, 1.0 / x);
  if (x.is_float() && e == -2) return c.out(0, 1.0 / (x * x));
  c.out(0, apply(AluOp::power, x, operand_number(c, 1)));
}

void atan2(Call& c) { c.out(0, angle_of(c.arg_float(0), c.arg_float(1))); }

void hypot(Call& c) {
  const Value a = absolute(c.arg_float(0)), b = absolute(c.arg_float(1));
  const Value high = maximum(a, b), low = minimum(a, b);
  const Value ratio = where(equal(high, 0), 0, low / high);
  c.out(0, where(equal(high, kInf), kInf, high * sqrt(ratio * ratio + 1)));
}

void copysign_of(Call& c, Value a, Value b) {
  const Value negative = logical_or(b < 0, logical_and(equal(b, 0), 1.0 / b < 0));
  c.out(0, where(negative, -absolute(a), absolute(a)));
}
void copysign(Call& c) { copysign_of(c, c.arg_float(0), c.arg_float(1)); }
void copysign_scalar(Call& c) { copysign_of(c, c.arg_float(0), c.number(1, Dtype::float32)); }

void fmax(Call& c) {
  const Value a = operand(c, 0), b = operand(c, 1);
  c.out(0, where(not_equal(a, a), b, where(not_equal(b, b), a, maximum(a, b))));
}
void fmin(Call& c) {
  const Value a = operand(c, 0), b = operand(c, 1);
  c.out(0, where(not_equal(a, a), b, where(not_equal(b, b), a, minimum(a, b))));
}

void logaddexp(Call& c) {
  const Value a = c.arg_float(0), b = c.arg_float(1);
  const Value high = maximum(a, b), gap = -absolute(a - b);
  c.out(0, where(equal(a, b), a + std::numbers::ln2, high + apply(Activation::log1p, exp(gap))));
}
void logaddexp2(Call& c) {
  const Value a = c.arg_float(0), b = c.arg_float(1);
  const Value high = maximum(a, b), gap = -absolute(a - b);
  c.out(0,
        where(equal(a, b), a + 1, high + apply(Activation::log1p, apply(Activation::exp2, gap)) / std::numbers::ln2));
}

void xlogy_of(Call& c, Value a, Value b, Activation log) {
  const Value y = where(equal(a, 0), 0, a * apply(log, b));
  c.out(0, where(not_equal(b, b), kNan, y));
}
void xlogy(Call& c) { xlogy_of(c, c.arg_float(0), c.arg_float(1), Activation::log); }
void xlogy_self(Call& c) { xlogy_of(c, c.number(0, Dtype::float32), c.arg_float(1), Activation::log); }
void xlogy_other(Call& c) { xlogy_of(c, c.arg_float(0), c.number(1, Dtype::float32), Activation::log); }
void xlog1py(Call& c) { xlogy_of(c, c.arg_float(0), c.arg_float(1), Activation::log1p); }

// torch.lerp switches formula at 0.5, so that weight 1 gives `end` exactly.
Value lerped(Value start, Value end, Value weight) {
  const Value gap = end - start;
  return where(absolute(weight) < 0.5, start + weight * gap, end - gap * (1.0 - weight));
}
void lerp_scalar(Call& c) { c.out(0, lerped(c.arg_float(0), c.arg_float(1), c.number(2, Dtype::float32))); }
void lerp_tensor(Call& c) { c.out(0, lerped(c.arg_float(0), c.arg_float(1), c.arg_float(2))); }

void addcmul(Call& c) { c.out(0, operand(c, 0) + scaled(c, operand(c, 1) * operand(c, 2), 3)); }
void addcdiv(Call& c) { c.out(0, operand(c, 0) + scaled(c, operand(c, 1) / operand(c, 2), 3)); }

// A single int64 stands for "lowest" or "highest" where it is wider than 32 bits: then as the narrower kind has it.
Value saturated(Value x) {
  const compiler::Node n = (*x.g)[x.id];
  if (n.op != compiler::Op::input || n.dtype != Dtype::int64 || x.rank() > 0) return x;
  const Value low = to_int(x), high{x.g, x.g->input(n.slot, Dtype::int32, {}, {}, n.offset + 4)};
  const Value fits = equal(high, where(low < 0, like(low, -1), like(low, 0)));
  return where(fits, low, where(high < 0, like(low, -2147483648.0), like(low, 2147483647.0)));
}
void where_self(Call& c) {
  const Dtype d = c.dtype(0);
  c.out(0, where(to_bool(c.in(0)), convert(saturated(c.in(1)), d), convert(saturated(c.in(2)), d)));
}
void masked_fill(Call& c) {
  const Value x = c.in(0);
  c.out(0, where(c.in(1), convert(c.number(2, compute_dtype(x.dtype())), x.dtype()), x));
}
void masked_fill_tensor(Call& c) {
  const Value x = c.in(0);
  c.out(0, where(c.in(1), convert(saturated(c.in(2)), x.dtype()), x));
}

void clamp(Call& c) {
  Value x = operand(c, 0);
  if (c.present(1)) x = maximum(x, operand_number(c, 1));
  if (c.present(2)) x = minimum(x, operand_number(c, 2));
  c.out(0, x);
}
void clamp_tensor(Call& c) {
  Value x = operand(c, 0);
  if (c.present(1)) x = maximum(x, operand(c, 1));
  if (c.present(2)) x = minimum(x, operand(c, 2));
  c.out(0, x);
}

void clamp_min(Call& c) { c.out(0, maximum(operand(c, 0), operand_number(c, 1))); }
void clamp_min_tensor(Call& c) { c.out(0, maximum(operand(c, 0), operand(c, 1))); }
void clamp_max(Call& c) { c.out(0, minimum(operand(c, 0), operand_number(c, 1))); }
void clamp_max_tensor(Call& c) { c.out(0, minimum(operand(c, 0), operand(c, 1))); }

constexpr Row kRows[] = {
    {"add.Tensor", add, "=alpha", "complex64 too", Complex64::pairs},
    {"add.Scalar", add_scalar, "other =alpha"},
    {"sub.Tensor", sub, "=alpha", "complex64 too", Complex64::pairs},
    {"sub.Scalar", sub_scalar, "other =alpha"},
    {"rsub.Tensor", rsub, "=alpha", "complex64 too", Complex64::pairs},
    {"rsub.Scalar", rsub_scalar, "other =alpha"},
    {"mul.Tensor", mul, "", "complex64 too", Complex64::pairs},
    {"mul.Scalar", mul_scalar, "other", "complex64 too", Complex64::pairs},
    {"div.Tensor", div, "", "complex64 too", Complex64::pairs},
    {"div.Scalar", div_scalar, "other", "complex64 too", Complex64::pairs},
    {"div.Tensor_mode", div_mode},
    {"div.Scalar_mode", div_scalar_mode, "other"},
    {"floor_divide", floor_divide},
    {"floor_divide.Scalar", floor_divide_scalar, "other"},
    {"remainder.Tensor", arithmetic<AluOp::mod>},
    {"remainder.Scalar", arithmetic_scalar<AluOp::mod>, "other"},
    {"remainder.Scalar_Tensor", arithmetic_scalar_first<AluOp::mod>, "self"},
    {"fmod.Tensor", arithmetic<AluOp::fmod>},
    {"fmod.Scalar", arithmetic_scalar<AluOp::fmod>, "other"},
    {"pow.Tensor_Tensor", arithmetic<AluOp::power>},
    {"pow.Tensor_Scalar", pow_scalar},
    {"pow.Scalar", arithmetic_scalar_first<AluOp::power>, "self"},
    {"maximum", arithmetic<AluOp::maximum>},
    {"minimum", arithmetic<AluOp::minimum>},
    {"fmax", fmax},
    {"fmin", fmin},
    {"eq.Tensor", compare<AluOp::equal>, "", "complex64 too", Complex64::pairs},
    {"eq.Scalar", compare_scalar<AluOp::equal>, "other"},
    {"ne.Tensor", compare<AluOp::not_equal>, "", "complex64 too", Complex64::pairs},
    {"ne.Scalar", compare_scalar<AluOp::not_equal>, "other"},
    {"lt.Tensor", compare<AluOp::less>},
    {"lt.Scalar", compare_scalar<AluOp::less>, "other"},
    {"le.Tensor", compare<AluOp::less_equal>},
    {"le.Scalar", compare_scalar<AluOp::less_equal>, "other"},
    {"gt.Tensor", compare<AluOp::greater>},
    {"gt.Scalar", compare_scalar<AluOp::greater>, "other"},
    {"ge.Tensor", compare<AluOp::greater_equal>},
    {"ge.Scalar", compare_scalar<AluOp::greater_equal>, "other"},
    {"logical_and", logical<AluOp::logical_and>},
    {"logical_or", logical<AluOp::logical_or>},
    {"logical_xor", logical<AluOp::logical_xor>},
    {"bitwise_and.Tensor", bitwise<AluOp::bitwise_and>},
    {"bitwise_and.Scalar", bitwise_scalar<AluOp::bitwise_and>, "other"},
    {"bitwise_or.Tensor", bitwise<AluOp::bitwise_or>},
    {"bitwise_or.Scalar", bitwise_scalar<AluOp::bitwise_or>, "other"},
    {"bitwise_xor.Tensor", bitwise<AluOp::bitwise_xor>},
    {"bitwise_xor.Scalar", bitwise_scalar<AluOp::bitwise_xor>, "other"},
    {"bitwise_left_shift.Tensor", shift_left},
    {"bitwise_left_shift.Tensor_Scalar", shift_left_scalar},
    {"bitwise_right_shift.Tensor", shift_right},
    {"bitwise_right_shift.Tensor_Scalar", shift_right_scalar},
    {"__lshift__.Tensor", shift_left},
    {"__lshift__.Scalar", shift_left_scalar},
    {"__rshift__.Tensor", shift_right},
    {"__rshift__.Scalar", shift_right_scalar},
    {"atan2", atan2},
    {"hypot", hypot},
    {"copysign.Tensor", copysign},
    {"copysign.Scalar", copysign_scalar, "other"},
    {"logaddexp", logaddexp},
    {"logaddexp2", logaddexp2},
    {"xlogy.Tensor", xlogy},
    {"xlogy.Scalar_Self", xlogy_self, "self"},
    {"xlogy.Scalar_Other", xlogy_other, "other"},
    {"special_xlog1py", xlog1py},
    {"lerp.Scalar", lerp_scalar, "weight"},
    {"lerp.Tensor", lerp_tensor},
    {"addcmul", addcmul, "=value"},
    {"addcdiv", addcdiv, "=value"},
    {"where.self", where_self, "", "complex64 too", Complex64::parts},
    {"masked_fill.Scalar", masked_fill, "value", "complex64 too", Complex64::parts},
    {"masked_fill.Tensor", masked_fill_tensor, "", "complex64 too", Complex64::parts},
    {"clamp", clamp, "min max"},
    {"clamp.Tensor", clamp_tensor},
    {"clamp_min", clamp_min, "min"},
    {"clamp_min.Tensor", clamp_min_tensor},
    {"clamp_max", clamp_max, "max"},
    {"clamp_max.Tensor", clamp_max_tensor},
};

}  // namespace

std::span<const Row> binary_rows() { return kRows; }

}  // namespace trn::torch_backend
