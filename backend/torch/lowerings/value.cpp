#include "backend/torch/lowerings/value.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <numeric>

#include "memory/error.h"

namespace trn::torch_backend {
namespace {

Value wrap_node(Value like, NodeId id) { return {like.g, id}; }

// The identity of a reduction, for an empty axis.
double identity(AluOp op, Dtype d) {
  if (is_float(d) || (op != AluOp::maximum && op != AluOp::minimum)) return info(op).identity;
  return op == AluOp::maximum ? -2147483648.0 : 2147483647.0;
}

}  // namespace

int64_t Value::numel() const { return product(shape()); }

int64_t Value::size(int dim) const {
  const Dims& dims = (*g)[id].shape;
  const int axis = wrap(dim, rank());
  if (dims.empty() && axis == 0) return 1;
  if (axis < 0 || axis >= rank())
    throw Error(Fault::internal, "a lowering asked for a dim that its operand has not", g->name);
  return dims[axis];
}

int64_t product(const Dims& d) { return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>()); }

int wrap(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + std::max(rank, 1) : dim); }

Dims wrapped(Dims dims, int rank) {
  if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
    return dims;
  }
  for (int64_t& d : dims) d = wrap(d, rank);
  if (rank == 0) return {};
  return dims;
}

Dims broadcast(const Dims& a, const Dims& b) {
  Dims d = a.size() >= b.size() ? a : b;
  const Dims& other = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& x = d[d.size() - 1 - i];
    if (x == 1) x = other[other.size() - 1 - i];
  }
  return d;
}

Dtype compute_dtype(Dtype d) {
  if (is_float(d)) return Dtype::float32;
  return is_integer(d) ? Dtype::int32 : d;
}

Value number(Graph& g, double value, Dtype dtype) { return {&g, g.constant(value, dtype)}; }

Value convert(Value a, Dtype to) {
  const Dtype from = a.dtype();
  if (from == to) return a;
  if (to == Dtype::boolean) return not_equal(a, 0);
  if (is_float(from) && is_integer(to)) {
    Value whole = apply(Activation::trunc, to_float(a));
    return {a.g, a.g->cast(a.g->cast(whole.id, Dtype::int32), to)};
  }
  return {a.g, a.g->cast(a.id, to)};
}

Value apply(Activation fn, Value a) {
  a = to_float(a);
  return wrap_node(a, a.g->map(fn, a.id));
}

Value apply(AluOp op, Value a, Value b) {
  if (a.dtype() != b.dtype()) {
    const Dtype common = a.is_float() || b.is_float() ? Dtype::float32 : Dtype::int32;
    a = convert(a, common);
    b = convert(b, common);
  }
  return wrap_node(a, a.g->map(op, a.id, b.id));
}

Value logical_not(Value a) { return equal(a, 0); }
Value exp(Value a) { return apply(Activation::exp, a); }
Value log(Value a) { return apply(Activation::log, a); }
Value sqrt(Value a) { return apply(Activation::sqrt, a); }
Value rsqrt(Value a) { return apply(Activation::rsqrt, a); }
Value sigmoid(Value a) { return apply(Activation::sigmoid, a); }
Value tanh(Value a) { return apply(Activation::tanh, a); }
Value trunc(Value a) { return a.is_float() ? apply(Activation::trunc, a) : a; }
Value floor(Value a) { return a.is_float() ? apply(Activation::floor, a) : a; }
Value absolute(Value a) { return a.is_float() ? apply(Activation::abs, a) : maximum(a, -a); }
Value sign(Value a) { return a.is_float() ? apply(Activation::sign, a) : to_int(a > 0) - to_int(a < 0); }

Value where(Value predicate, Value a, Value b) {
  if (a.dtype() != b.dtype()) {
    const Dtype common = a.is_float() || b.is_float() ? Dtype::float32 : Dtype::int32;
    a = convert(a, common);
    b = convert(b, common);
  }
  return wrap_node(a, a.g->select(to_bool(predicate).id, a.id, b.id));
}
Value where(Value predicate, Value a, double b) { return where(predicate, a, like(a, b)); }
Value where(Value predicate, double a, Value b) { return where(predicate, like(b, a), b); }

Value reshape(Value a, Dims shape) { return wrap_node(a, a.g->reshape(a.id, std::move(shape))); }
Value expand(Value a, Dims shape) { return wrap_node(a, a.g->expand(a.id, std::move(shape))); }
Value permute(Value a, Dims axes) { return wrap_node(a, a.g->permute(a.id, std::move(axes))); }

Value transpose(Value a, int x, int y) {
  Dims axes = wrapped({}, a.rank());
  std::swap(axes[wrap(x, a.rank())], axes[wrap(y, a.rank())]);
  return permute(a, axes);
}

Value unsqueeze(Value a, int dim) {
  Dims shape = a.shape();
  shape.insert(shape.begin() + wrap(dim, a.rank() + 1), 1);
  return reshape(a, shape);
}

Value squeeze(Value a, int dim) {
  if (a.rank() == 0) return a;
  Dims shape = a.shape();
  shape.erase(shape.begin() + wrap(dim, a.rank()));
  return reshape(a, shape);
}

Value slice(Value a, int dim, int64_t start, int64_t stop, int64_t step) {
  return wrap_node(a, a.g->slice(a.id, wrap(dim, a.rank()), start, stop, step));
}
Value flip(Value a, int dim) { return wrap_node(a, a.g->flip(a.id, wrap(dim, a.rank()))); }
Value pad(Value a, int dim, int64_t low, int64_t high, double value) {
  return wrap_node(a, a.g->pad(a.id, wrap(dim, a.rank()), low, high, value));
}

Value spread(Value a, int dim, int64_t step) {
  if (step == 1) return a;
  Dims shape = a.shape();
  const int64_t n = shape[dim];
  shape[dim] = n * step;
  return slice(reshape(pad(unsqueeze(a, dim + 1), dim + 1, 0, step - 1), shape), dim, 0, (n - 1) * step + 1);
}

Value concat(const std::vector<Value>& parts, int dim) {
  std::vector<NodeId> ids;
  for (const Value& p : parts)
    if (p.numel() != 0) ids.push_back(p.id);
  if (ids.empty()) return parts.at(0);
  const Value first{parts[0].g, ids[0]};
  return wrap_node(first, first.g->concat(ids, wrap(dim, first.rank())));
}

Value iota(Graph& g, Dims shape, int dim) {
  const int rank = static_cast<int>(shape.size());
  return {&g, g.iota(std::move(shape), wrap(dim, rank))};
}
Value iota(Graph& g, int64_t n) { return iota(g, Dims{n}, 0); }

Value move_dim(Value a, int from, int to) {
  if (a.rank() == 0) return a;
  Dims axes = wrapped({}, a.rank());
  const int64_t axis = axes[wrap(from, a.rank())];
  axes.erase(axes.begin() + wrap(from, a.rank()));
  axes.insert(axes.begin() + wrap(to, a.rank()), axis);
  return permute(a, axes);
}

Value flatten(Value a) { return reshape(a, {a.numel()}); }

Value reduce(AluOp op, Value a, Dims axes) {
  axes = wrapped(std::move(axes), a.rank());
  if (axes.empty()) return a;
  if (a.numel() == 0) {
    Dims shape = a.shape();
    for (int64_t axis : axes) shape[axis] = 1;
    return expand(like(a, identity(op, a.dtype())), shape);
  }
  return wrap_node(a, a.g->reduce(op, a.id, std::move(axes)));
}

Value sum(Value a, Dims axes) {
  if (a.dtype() == Dtype::boolean) a = to_int(a);
  return reduce(AluOp::add, a, std::move(axes));
}

Value mean(Value a, Dims axes) {
  axes = wrapped(std::move(axes), a.rank());
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(a.shape()[axis]);
  return sum(to_float(a), axes) / count;
}

Value unbroadcast(Value grad, const Dims& shape) {
  Dims axes;
  const int extra = grad.rank() - static_cast<int>(shape.size());
  for (int i = 0; i < grad.rank(); ++i)
    if (i < extra || (shape[i - extra] == 1 && grad.shape()[i] != 1)) axes.push_back(i);
  return axes.empty() ? grad : sum(grad, axes);
}

Value max(Value a, Dims axes) { return reduce(AluOp::maximum, a, std::move(axes)); }
Value min(Value a, Dims axes) { return reduce(AluOp::minimum, a, std::move(axes)); }

Value scan(AluOp op, Value a, int dim) {
  if (a.rank() == 0) return a;
  return wrap_node(a, a.g->scan(op, a.id, wrap(dim, a.rank())));
}

Value arg_reduce(AluOp op, Value a, int dim) { return wrap_node(a, a.g->arg_reduce(op, a.id, wrap(dim, a.rank()))); }

Dims all_axes(Value a) { return wrapped({}, a.rank()); }

Value matmul(Value a, Value b, Dtype dtype) {
  if (a.dtype() != b.dtype()) {
    a = to_float(a);
    b = to_float(b);
  }
  return wrap_node(a, a.g->matmul(a.id, b.id, dtype));
}

Value to_index(Value index) {
  const compiler::Node n = (*index.g)[index.id];
  const Value low = to_int(index);
  if (n.op != compiler::Op::input || n.dtype != Dtype::int64) return low;
  // int64 in memory is the low word, then the high one, which must be the low one's sign.
  Dims strides = n.strides;
  for (int64_t& s : strides) s *= 2;
  const Value high{index.g, index.g->input(n.slot, Dtype::int32, n.shape, std::move(strides), n.offset + 4)};
  const Value fits = equal(high, where(low < 0, like(low, -1), like(low, 0)));
  return where(fits, low, like(low, std::numeric_limits<int32_t>::min()));
}

Value from_front(Value index, int64_t size) {
  index = to_index(index);
  return where(index < 0, index + static_cast<double>(size), index);
}

Value gather_rows(Value table, Value index) { return wrap_node(table, table.g->gather(table.id, to_index(index).id)); }
Value take_along(Value a, Value index, int dim) {
  return wrap_node(a, a.g->take(a.id, to_index(index).id, wrap(dim, a.rank())));
}

// Through fp32, which has 24 bits, in two steps: the exact dividend is a multiple of b, and what the first step leaves
// of it is a small one.
Value integer_quotient(Value a, Value b, Rounding rounding) {
  const Value rest = apply(AluOp::fmod, a, b), whole = a - rest;
  const Value guess = to_int(apply(Activation::trunc, to_float(whole) / to_float(b)));
  const Value left = whole - guess * b;
  const Value q = guess + to_int(apply(Activation::round, to_float(left) / to_float(b)));
  if (rounding == Rounding::to_zero) return q;
  return q - to_int(logical_and(not_equal(rest, 0), not_equal(rest < 0, b < 0)));
}

// The engines shift logically; an arithmetic shift is the complement's shift for negative numbers.
Value shift_right_arithmetic(Value a, Value b) {
  const Value inverted{a.g, a.g->map(AluOp::invert, a.id)};
  const Value logical = apply(AluOp::right_shift, a, b);
  const Value back = apply(AluOp::right_shift, inverted, b);
  const Value negative{a.g, a.g->map(AluOp::invert, back.id)};
  return where(a < 0, negative, logical);
}

Value angle_of(Value y, Value x) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Value ay = absolute(y), ax = absolute(x);
  // arctan on [0, 1] only, then the octants.
  const Value high = maximum(ax, ay), low = minimum(ax, ay);
  Value ratio = where(equal(high, 0), 0, low / high);
  ratio = where(logical_and(equal(low, inf), equal(high, inf)), 1, ratio);
  Value angle = apply(Activation::arctan, ratio);
  angle = where(ay > ax, std::numbers::pi / 2 - angle, angle);
  const Value minus_x = logical_or(x < 0, logical_and(equal(x, 0), 1.0 / x < 0));
  const Value minus_y = logical_or(y < 0, logical_and(equal(y, 0), 1.0 / y < 0));
  angle = where(minus_x, std::numbers::pi - angle, angle);
  angle = where(minus_y, -angle, angle);
  return where(logical_or(not_equal(x, x), not_equal(y, y)), std::numeric_limits<double>::quiet_NaN(), angle);
}

}  // namespace trn::torch_backend
