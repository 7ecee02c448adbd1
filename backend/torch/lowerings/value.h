#pragma once
#include <initializer_list>

#include "backend/compiler/graph.h"

namespace trn::torch_backend {

using compiler::Dims;
using compiler::Graph;
using compiler::NodeId;
using compiler::Op;

// A graph node that reads like arithmetic. Operands of different dtypes meet in float32 if either is floating, else in
// int32; lowerings compute in those two and boolean, and the result is cast once, at the end.
struct Value {
  Graph* g = nullptr;
  NodeId id = -1;

  Dims shape() const { return (*g)[id].shape; }  // a copy: nodes move as the graph grows
  Dtype dtype() const { return (*g)[id].dtype; }
  int rank() const { return static_cast<int>(shape().size()); }
  int64_t size(int dim) const;  // a 0-dim tensor has one element along dims -1 and 0
  int64_t numel() const;
  bool is_float() const { return trn::is_float(dtype()); }
};

// float32 for floating dtypes, int32 for integers, boolean as is.
Dtype compute_dtype(Dtype d);

// PyTorch's conversion: floats truncate towards zero to integers, anything non-zero is true.
Value convert(Value a, Dtype to);
Value number(Graph& g, double value, Dtype dtype);
inline Value like(Value a, double value) { return number(*a.g, value, a.dtype()); }
inline Value to_float(Value a) { return convert(a, Dtype::float32); }
inline Value to_int(Value a) { return convert(a, Dtype::int32); }
inline Value to_bool(Value a) { return convert(a, Dtype::boolean); }
inline Value to_compute(Value a) { return convert(a, compute_dtype(a.dtype())); }

Value apply(Activation fn, Value a);
Value apply(AluOp op, Value a, Value b);
inline Value apply(AluOp op, Value a, double b) { return apply(op, a, like(a, b)); }

inline Value operator+(Value a, Value b) { return apply(AluOp::add, a, b); }
inline Value operator-(Value a, Value b) { return apply(AluOp::subtract, a, b); }
inline Value operator*(Value a, Value b) { return apply(AluOp::multiply, a, b); }
inline Value operator/(Value a, Value b) { return apply(AluOp::divide, a, b); }
inline Value operator<(Value a, Value b) { return apply(AluOp::less, a, b); }
inline Value operator<=(Value a, Value b) { return apply(AluOp::less_equal, a, b); }
inline Value operator>(Value a, Value b) { return apply(AluOp::greater, a, b); }
inline Value operator>=(Value a, Value b) { return apply(AluOp::greater_equal, a, b); }
inline Value operator+(Value a, double b) { return apply(AluOp::add, a, b); }
inline Value operator-(Value a, double b) { return apply(AluOp::subtract, a, b); }
inline Value operator*(Value a, double b) { return apply(AluOp::multiply, a, b); }
inline Value operator/(Value a, double b) { return apply(AluOp::divide, a, b); }
inline Value operator<(Value a, double b) { return apply(AluOp::less, a, b); }
inline Value operator<=(Value a, double b) { return apply(AluOp::less_equal, a, b); }
inline Value operator>(Value a, double b) { return apply(AluOp::greater, a, b); }
inline Value operator>=(Value a, double b) { return apply(AluOp::greater_equal, a, b); }
inline Value operator-(double a, Value b) { return apply(AluOp::subtract, like(b, a), b); }
inline Value operator/(double a, Value b) { return apply(AluOp::divide, like(b, a), b); }
inline Value operator-(Value a) { return apply(AluOp::multiply, a, -1); }
inline Value equal(Value a, Value b) { return apply(AluOp::equal, a, b); }
inline Value equal(Value a, double b) { return apply(AluOp::equal, a, b); }
inline Value not_equal(Value a, Value b) { return apply(AluOp::not_equal, a, b); }
inline Value not_equal(Value a, double b) { return apply(AluOp::not_equal, a, b); }
inline Value maximum(Value a, Value b) { return apply(AluOp::maximum, a, b); }
inline Value minimum(Value a, Value b) { return apply(AluOp::minimum, a, b); }
inline Value maximum(Value a, double b) { return apply(AluOp::maximum, a, b); }
inline Value minimum(Value a, double b) { return apply(AluOp::minimum, a, b); }
inline Value square(Value a) { return a * a; }
inline Value logical_and(Value a, Value b) { return apply(AluOp::logical_and, to_bool(a), to_bool(b)); }
inline Value logical_or(Value a, Value b) { return apply(AluOp::logical_or, to_bool(a), to_bool(b)); }
Value logical_not(Value a);
Value exp(Value a);
Value log(Value a);
Value sqrt(Value a);
Value rsqrt(Value a);
Value absolute(Value a);
Value sign(Value a);
Value sigmoid(Value a);
Value tanh(Value a);
Value trunc(Value a);
Value floor(Value a);

Value where(Value predicate, Value a, Value b);
Value where(Value predicate, Value a, double b);
Value where(Value predicate, double a, Value b);

// Shape. Negative dims count from the end.
Value reshape(Value a, Dims shape);
Value expand(Value a, Dims shape);
Value permute(Value a, Dims axes);
Value transpose(Value a, int x = -1, int y = -2);
Value unsqueeze(Value a, int dim);
Value squeeze(Value a, int dim);
Value slice(Value a, int dim, int64_t start, int64_t stop, int64_t step = 1);
Value flip(Value a, int dim);
Value pad(Value a, int dim, int64_t low, int64_t high, double value = 0);
Value spread(Value a, int dim, int64_t step);  // step - 1 zeros between elements
Value concat(const std::vector<Value>& parts, int dim);
Value iota(Graph& g, Dims shape, int dim);
Value iota(Graph& g, int64_t n);
Value move_dim(Value a, int from, int to);
Value flatten(Value a);

// Reductions keep reduced dims as 1.
Value reduce(AluOp op, Value a, Dims axes);
Value sum(Value a, Dims axes);
Value mean(Value a, Dims axes);
Value max(Value a, Dims axes);
Value min(Value a, Dims axes);
Value scan(AluOp op, Value a, int dim);
Value arg_reduce(AluOp op, Value a, int dim);
Dims all_axes(Value a);
Value unbroadcast(Value grad, const Dims& shape);  // sums what broadcasting from `shape` spread

Value matmul(Value a, Value b, Dtype dtype = Dtype::float32);
// Indices. What int32 cannot hold becomes an index that is outside of everything, which ends in NRT 1006.
Value to_index(Value index);
Value from_front(Value index, int64_t size);  // the same with negative indices counted from the end
Value gather_rows(Value table, Value index);
Value take_along(Value a, Value index, int dim);

// Integers, exact to 32 bits. The quotient is rounded towards zero or down; by 0 it is no defined number.
enum class Rounding : uint8_t { to_zero, down };
Value integer_quotient(Value a, Value b, Rounding rounding);
Value shift_right_arithmetic(Value a, Value b);

Value angle_of(Value y, Value x);  // atan2

int64_t product(const Dims& d);
int wrap(int64_t dim, int rank);    // negative dims; a 0-dim tensor has dims -1 and 0
Dims wrapped(Dims dims, int rank);  // empty means all
Dims broadcast(const Dims& a, const Dims& b);

}  // namespace trn::torch_backend
