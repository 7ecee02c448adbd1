#include <algorithm>

#include "backend/torch/lowerings/complex.h"

// Products of matrices and vectors. The tensor engine multiplies in the operands' dtype and sums in fp32.
namespace trn::torch_backend {
namespace {

// Operand as the tensor engine takes it: float64 as fp32. Integers stay, for integer_product.
Value factor(Call& c, int i) {
  const Value x = c.in(i);
  return is_integer(x.dtype()) || (x.is_float() && size_of(x.dtype()) <= 4) ? x : to_float(x);
}

// The dtype that the product leaves PSUM in: the result's own if nothing follows.
Dtype product_dtype(Call& c) { return is_float(c.dtype(0)) && size_of(c.dtype(0)) <= 4 ? c.dtype(0) : Dtype::float32; }

// The 8-bit digits of an integer, lowest first; the highest has the sign. bfloat16 holds them exactly.
std::vector<Value> digits(Value x) {
  const int64_t count = std::min<int64_t>(size_of(x.dtype()), 4);
  Value rest = to_int(x);
  std::vector<Value> d;
  for (int64_t i = 0; i < count; ++i) {
    const bool last = i == count - 1;
    const Value digit = last ? rest : apply(AluOp::bitwise_and, rest, 255);
    d.push_back(convert(digit, Dtype::bfloat16));
    if (!last) rest = shift_right_arithmetic(rest, like(rest, 8));
  }
  return d;
}

// Integers, to 32 bits: products of 8-bit digits, whose sums over 256 terms fp32 holds exactly.
Value integer_product(Value a, Value b) {
  constexpr int64_t kTerms = 256;
  const int64_t k = a.size(-1), groups = (k + kTerms - 1) / kTerms, terms = groups == 1 ? k : kTerms;
  const auto grouped = [&](Value x, int axis) {  // [groups, ..., terms, ...]
    x = pad(x, axis, 0, groups * terms - k);
    Dims shape = x.shape();
    const int at = wrap(axis, x.rank());
    shape[at] = terms;
    shape.insert(shape.begin() + at, groups);
    return move_dim(reshape(x, shape), at, 0);
  };
  const std::vector<Value> left = digits(grouped(a, -1)), right = digits(grouped(b, -2));
  Value total{};
  for (size_t i = 0; i < left.size(); ++i)
    for (size_t j = 0; j < right.size() && i + j < 4; ++j) {
      Value part = squeeze(sum(to_int(matmul(left[i], right[j])), {0}), 0);
      if (i + j > 0) part = apply(AluOp::left_shift, part, static_cast<double>(8 * (i + j)));
      total = total.g ? total + part : part;
    }
  return total;
}

Value product_of(Value a, Value b, Dtype d) {
  if (a.size(-1) == 0) {  // no terms: zeros
    Dims shape = a.shape();
    shape.back() = b.size(-1);
    return expand(number(*a.g, 0, d), shape);
  }
  if (is_integer(a.dtype()) && is_integer(b.dtype())) return integer_product(a, b);
  return matmul(a, b, d);
}

Complex complex_product(Call& c, int i, int j) {
  const Complex a = complex_arg(c, i), b = complex_arg(c, j);
  const auto product = [](Value x, Value y) { return product_of(x, y, Dtype::float32); };
  return {product(a.re, b.re) - product(a.im, b.im), product(a.re, b.im) + product(a.im, b.re)};
}

void mm(Call& c) {
  if (c.complex_result(0)) return give(c, 0, complex_product(c, 0, 1));
  c.out(0, product_of(factor(c, 0), factor(c, 1), product_dtype(c)));
}

// beta * self + alpha * product; beta 0 ignores self, NaN or not. Integers take whole factors.
void blend(Call& c, int self, Value product, int beta, int alpha) {
  const Dtype work = is_integer(c.dtype(0)) ? Dtype::int32 : Dtype::float32;
  product = convert(product, work);
  if (!(c.known(alpha) && c.constant(alpha) == 1)) product = product * c.number(alpha, work);
  if (c.known(beta) && c.constant(beta) == 0) return c.out(0, product);
  Value base = convert(c.in(self), work);
  if (!(c.known(beta) && c.constant(beta) == 1)) {
    const Value factor = c.number(beta, work);
    base = where(equal(factor, 0), 0, base * factor);
  }
  c.out(0, base + product);
}

void addmm(Call& c) { blend(c, 0, product_of(factor(c, 1), factor(c, 2), Dtype::float32), 3, 4); }

void addmm_activation(Call& c) {
  const Value y = c.arg_float(0) * c.number(3, Dtype::float32) +
                  product_of(factor(c, 1), factor(c, 2), Dtype::float32) * c.number(4, Dtype::float32);
  c.out(0, apply(c.flag(5) ? Activation::gelu_apprx_tanh : Activation::relu, y));
}

void addbmm(Call& c) { blend(c, 0, sum(product_of(factor(c, 1), factor(c, 2), Dtype::float32), {0}), 3, 4); }

Value column(Value v) { return unsqueeze(v, -1); }
void mv(Call& c) { c.out(0, product_of(factor(c, 0), column(factor(c, 1)), product_dtype(c))); }
void addmv(Call& c) { blend(c, 0, squeeze(product_of(factor(c, 1), column(factor(c, 2)), Dtype::float32), -1), 3, 4); }
void dot(Call& c) { c.out(0, sum(c.arg(0) * c.arg(1), {})); }
void addr(Call& c) {
  const Dtype work = is_integer(c.dtype(0)) ? Dtype::int32 : Dtype::float32;
  blend(c, 0, convert(column(c.in(1)), work) * convert(unsqueeze(c.in(2), 0), work), 3, 4);
}

// Rows of `a` belong to groups that end at `ends`; every group has its own matrix. One masked product per group: exact
// zeros add nothing.
void grouped_mm(Call& c) {
  const Value a = factor(c, 0), b = factor(c, 1);
  const Dtype d = product_dtype(c);
  if (!c.present(2)) return c.out(0, product_of(a, b, d));
  const Value ends = to_int(c.in(2));
  const int64_t groups = ends.numel();
  const Value starts = groups == 1 ? like(reshape(ends, {1}), 0) : pad(slice(ends, 0, 0, groups - 1), 0, 1, 0, 0);
  const auto member = [&](int64_t g, Value position) {
    const Value first = expand(slice(reshape(starts, {groups}), 0, g, g + 1), {1}), last = slice(ends, 0, g, g + 1);
    return logical_and(position >= reshape(first, {}), position < reshape(last, {}));
  };
  // 2d x 3d: groups of rows; 3d x 2d: groups of columns; 2d x 2d: groups of the summed dim, one result each.
  Value total{};
  std::vector<Value> parts;
  for (int64_t g = 0; g < groups; ++g) {
    if (a.rank() == 2 && b.rank() == 3) {
      const Value mine = member(g, iota(c.g, {a.size(0), 1}, 0));
      const Value part = product_of(where(mine, a, like(a, 0)), reshape(slice(b, 0, g, g + 1), {b.size(1), b.size(2)}),
                                    Dtype::float32);
      total = total.g ? total + part : part;
    } else if (a.rank() == 3) {
      const Value mine = member(g, iota(c.g, {1, b.size(1)}, 1));
      const Value part = product_of(reshape(slice(a, 0, g, g + 1), {a.size(1), a.size(2)}), where(mine, b, like(b, 0)),
                                    Dtype::float32);
      total = total.g ? total + part : part;
    } else {
      const Value mine = member(g, iota(c.g, {1, a.size(1)}, 1));
      parts.push_back(unsqueeze(product_of(where(mine, a, like(a, 0)), b, Dtype::float32), 0));
    }
  }
  c.out(0, total.g ? total : concat(parts, 0));
}

// (A, B, upper, left, unitriangular): A = D (I - N) with N strictly triangular, so its powers end: (I - N)^-1 = (I +
// N)(I + N^2)(I + N^4)...
void solve_triangular(Call& c) {
  Value a = c.arg_float(0), y = c.arg_float(1);
  bool upper = c.flag(2);
  const bool left = c.flag(3), unit = c.flag(4);
  if (!left) {
    a = transpose(a);
    y = transpose(y);
    upper = !upper;
  }
  const int64_t n = a.size(-1);
  const Value row = iota(c.g, Dims{n, n}, 0), column = iota(c.g, Dims{n, n}, 1);
  const Value strict = where(upper ? column > row : column < row, a, 0);
  Value power = -strict;
  if (!unit) {
    const Value diagonal = sum(where(equal(row, column), a, 0), {a.rank() - 1});
    power = power / diagonal;
    y = y / diagonal;
  }
  for (int64_t reach = 1; reach < n; reach *= 2) {
    y = y + matmul(power, y);
    if (2 * reach < n) power = matmul(power, power);
  }
  c.out(0, left ? y : transpose(y));
}

constexpr Row kRows[] = {
    {"mm", mm, "", "complex64 too", Complex64::pairs},
    {"bmm", mm, "", "complex64 too", Complex64::pairs},
    {"addmm", addmm, "=beta =alpha"},
    {"_addmm_activation", addmm_activation},
    {"baddbmm", addmm, "=beta =alpha"},
    {"addbmm", addbmm, "=beta =alpha"},
    {"mv", mv},
    {"addmv", addmv, "=beta =alpha"},
    {"dot", dot},
    {"vdot", dot},
    {"addr", addr, "=beta =alpha"},
    {"_grouped_mm", grouped_mm},
    {"linalg_solve_triangular", solve_triangular},
};

}  // namespace

std::span<const Row> matmul_rows() { return kRows; }

}  // namespace trn::torch_backend
