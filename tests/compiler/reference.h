#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>

#include "backend/compiler/graph.h"

// A second, plain implementation of every graph primitive on dense arrays of doubles: what the compiler's tests compare
// with.
namespace trn::test {

using compiler::Dims;
using compiler::Graph;
using compiler::Node;
using compiler::NodeId;
using compiler::Op;

struct Array {
  Dtype dtype = Dtype::float32;
  Dims shape;
  std::vector<double> v;
};

inline int64_t count(const Dims& d) { return std::accumulate(d.begin(), d.end(), int64_t{1}, std::multiplies<>()); }

// Nearest value of `d`, ties to even; integers wrap.
inline double stored(double x, Dtype d) {
  if (d == Dtype::boolean) return x != 0;
  if (is_integer(d)) {
    const auto i = static_cast<int64_t>(x);
    switch (size_of(d)) {
      case 1:
        return info(d).is_signed ? static_cast<double>(static_cast<int8_t>(i))
                                 : static_cast<double>(static_cast<uint8_t>(i));
      case 2:
        return info(d).is_signed ? static_cast<double>(static_cast<int16_t>(i))
                                 : static_cast<double>(static_cast<uint16_t>(i));
      default:
        return info(d).is_signed ? static_cast<double>(static_cast<int32_t>(i))
                                 : static_cast<double>(static_cast<uint32_t>(i));
    }
  }
  const auto f = static_cast<float>(x);
  if (d == Dtype::float32 || d == Dtype::float64 || std::isnan(f) || std::isinf(f) || f == 0) return f;
  const int mantissa = d == Dtype::bfloat16 ? 8 : 11;
  int e;
  std::frexp(f, &e);
  if (d == Dtype::float16) e = std::max(e, -13);
  const double unit = std::ldexp(1.0, e - mantissa);
  const double r = std::nearbyint(f / unit) * unit;
  return d == Dtype::float16 && std::fabs(r) > 65504 ? std::copysign(INFINITY, r) : r;
}

inline double alu(AluOp op, double a, double b, Dtype d) {
  const bool nan = std::isnan(a) || std::isnan(b);
  const auto ia = static_cast<int64_t>(nan ? 0 : a), ib = static_cast<int64_t>(nan ? 0 : b);
  const bool whole = !is_float(d);
  switch (op) {
    case AluOp::add: return a + b;
    case AluOp::subtract: return a - b;
    case AluOp::multiply: return whole ? static_cast<double>(ia * ib) : a * b;
    case AluOp::divide: return a / b;
    case AluOp::maximum: return nan ? NAN : std::max(a, b);
    case AluOp::minimum: return nan ? NAN : std::min(a, b);
    case AluOp::equal: return a == b;
    case AluOp::not_equal: return a != b;
    case AluOp::greater: return a > b;
    case AluOp::greater_equal: return a >= b;
    case AluOp::less: return a < b;
    case AluOp::less_equal: return a <= b;
    case AluOp::logical_and: return a != 0 && b != 0;
    case AluOp::logical_or: return a != 0 || b != 0;
    case AluOp::logical_xor: return (a != 0) != (b != 0);
    case AluOp::bitwise_and: return static_cast<double>(ia & ib);
    case AluOp::bitwise_or: return static_cast<double>(ia | ib);
    case AluOp::bitwise_xor: return static_cast<double>(ia ^ ib);
    case AluOp::power: return std::pow(a, b);
    case AluOp::abs: return std::fabs(a);
    case AluOp::square: return a * a;
    case AluOp::invert: return d == Dtype::boolean ? a == 0 : static_cast<double>(~ia);
    case AluOp::bypass: return b;
    default: throw Error(Fault::internal, "no reference for this operator");
  }
}

inline double function(Activation f, double x) {
  switch (f) {
    case Activation::copy: return x;
    case Activation::square: return x * x;
    case Activation::sigmoid: return 1 / (1 + std::exp(-x));
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::tanh: return std::tanh(x);
    case Activation::exp: return std::exp(x);
    case Activation::log: return std::log(x);
    case Activation::sqrt: return std::sqrt(x);
    case Activation::rsqrt: return 1 / std::sqrt(x);
    case Activation::reciprocal: return 1 / x;
    case Activation::abs: return std::fabs(x);
    case Activation::sin: return std::sin(x);
    case Activation::trunc: return std::trunc(x);
    case Activation::floor: return std::floor(x);
    case Activation::gelu: return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    default: throw Error(Fault::internal, "no reference for this function");
  }
}

// Calls visit(index) for every index of `shape`, row-major.
template <class Visit>
void for_each_index(const Dims& shape, Visit visit) {
  if (count(shape) == 0) return;
  Dims at(shape.size(), 0);
  for (;;) {
    visit(at);
    size_t i = shape.size();
    while (i-- > 0) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
    if (i == static_cast<size_t>(-1)) return;
  }
}

inline int64_t flat(const Dims& shape, const Dims& at) {
  int64_t n = 0;
  for (size_t i = 0; i < shape.size(); ++i) n = n * shape[i] + at[i];
  return n;
}

// Element `at` (index of a broadcast result) of `a`.
inline double& element(Array& a, const Dims& at) {
  Dims own(a.shape.size());
  for (size_t i = 0; i < own.size(); ++i) own[i] = a.shape[i] == 1 ? 0 : at[at.size() - own.size() + i];
  return a.v[flat(a.shape, own)];
}

class Reference {
 public:
  Reference(const Graph& g, const std::vector<std::vector<std::byte>>& slots)
      : g_(g), slots_(slots), done_(g.nodes.size()) {}

  Array& operator()(NodeId id) {
    if (done_[id].shape.empty() && done_[id].v.empty()) {
      done_[id] = compute(g_[id]);
      for (double& x : done_[id].v) x = stored(x, done_[id].dtype);
    }
    return done_[id];
  }

 private:
  Array compute(const Node& n) {
    Array r{n.dtype, n.shape, std::vector<double>(count(n.shape))};
    const auto each = [&](auto value) {
      size_t i = 0;
      for_each_index(n.shape, [&](const Dims& at) { r.v[i++] = value(at); });
    };
    const auto in = [&](size_t i) -> Array& { return (*this)(n.inputs[i]); };
    const auto moved = [](Dims at, int dim, int64_t to) {
      at[dim] = to;
      return at;
    };
    switch (n.op) {
      case Op::input: each([&](const Dims& at) { return read(n, at); }); break;
      case Op::constant: r.v = {n.value}; break;
      case Op::iota: each([&](const Dims& at) { return static_cast<double>(at[n.dim]); }); break;
      case Op::map1: each([&](const Dims& at) { return function(n.fn, element(in(0), at)); }); break;
      case Op::map2:
        each([&](const Dims& at) {
          return alu(n.alu, element(in(0), at), n.inputs.size() > 1 ? element(in(1), at) : 0, in(0).dtype);
        });
        break;
      case Op::select:
        each([&](const Dims& at) { return element(in(0), at) != 0 ? element(in(1), at) : element(in(2), at); });
        break;
      case Op::cast:
        each([&](const Dims& at) { return is_integer(n.dtype) ? std::trunc(element(in(0), at)) : element(in(0), at); });
        break;
      case Op::expand: each([&](const Dims& at) { return element(in(0), at); }); break;
      case Op::reshape: r.v = in(0).v; break;
      case Op::permute:
        each([&](const Dims& at) {
          Dims from(at.size());
          for (size_t i = 0; i < at.size(); ++i) from[n.axes[i]] = at[i];
          return element(in(0), from);
        });
        break;
      case Op::slice:
        each([&](const Dims& at) { return element(in(0), moved(at, n.dim, n.start + at[n.dim] * n.step)); });
        break;
      case Op::flip:
        each([&](const Dims& at) { return element(in(0), moved(at, n.dim, n.shape[n.dim] - 1 - at[n.dim])); });
        break;
      case Op::concat:
        each([&](const Dims& at) {
          size_t part = 0;
          int64_t i = at[n.dim];
          while (i >= in(part).shape[n.dim]) i -= in(part++).shape[n.dim];
          return element(in(part), moved(at, n.dim, i));
        });
        break;
      case Op::pad:
        each([&](const Dims& at) {
          const int64_t i = at[n.dim] - n.start;
          return i < 0 || i >= in(0).shape[n.dim] ? n.value : element(in(0), moved(at, n.dim, i));
        });
        break;
      case Op::reduce: {
        std::vector<char> begun(r.v.size());
        for_each_index(in(0).shape, [&](const Dims& at) {
          Dims to = at;
          for (int64_t axis : n.axes) to[axis] = 0;
          const int64_t i = flat(n.shape, to);
          r.v[i] = begun[i] ? alu(n.alu, r.v[i], element(in(0), at), n.dtype) : element(in(0), at);
          begun[i] = true;
        });
        if (count(in(0).shape) == 0 && n.alu == AluOp::multiply) std::fill(r.v.begin(), r.v.end(), 1);
        break;
      }
      case Op::arg_reduce:
        each([&](const Dims& at) {
          int64_t best = 0;
          const auto at_best = [&] { return element(in(0), moved(at, n.dim, best)); };
          for (int64_t i = 1; i < in(0).shape[n.dim]; ++i) {
            const double x = element(in(0), moved(at, n.dim, i));
            if (std::isnan(at_best())) break;
            if (std::isnan(x) || (n.alu == AluOp::maximum ? x > at_best() : x < at_best())) best = i;
          }
          return static_cast<double>(best);
        });
        break;
      case Op::scan:
        each([&](const Dims& at) {
          const double x = element(in(0), at);
          return at[n.dim] == 0 ? x : alu(n.alu, r.v[flat(n.shape, moved(at, n.dim, at[n.dim] - 1))], x, n.dtype);
        });
        break;
      case Op::matmul:
        each([&](const Dims& at) {
          const int64_t k = in(0).shape.back(), columns = in(1).shape.back();
          if (k == 0) return 0.0;  // an empty sum has no first element to point at
          Dims a = at, b = at;
          a.back() = 0;
          b[at.size() - 2] = 0;
          const double *x = &element(in(0), a), *y = &element(in(1), b);
          double sum = 0;
          for (int64_t i = 0; i < k; ++i) sum += x[i] * y[i * columns];
          return sum;
        });
        break;
      case Op::roll:
        each([&](const Dims& at) {
          const int64_t size = n.shape[n.dim], from = at[n.dim] + n.start;
          return (from < size ? n.value : 1.0) * element(in(0), moved(at, n.dim, from % size));
        });
        break;
      case Op::attention:
      case Op::attention_log_sum: {
        std::vector<double> weights;
        double high = 0, total = 0;
        each([&](const Dims& at) {
          const int64_t keys = in(1).shape[in(1).shape.size() - 2], width = in(0).shape.back();
          Dims q = at, k = at;
          q.back() = 0;
          k.back() = 0;
          if (at.back() == 0) {  // one row's weights
            weights.assign(keys, 0);
            high = -INFINITY;
            for (int64_t j = 0; j < keys; ++j) {
              k[at.size() - 2] = j;
              const double *x = &element(in(0), q), *y = &element(in(1), k);
              double& score = weights[j];
              for (int64_t i = 0; i < width; ++i) score += x[i] * y[i];
              score *= n.value;
              Dims b = at;
              b.back() = j;
              if (n.inputs.size() == 4) score += element(in(3), b);
              if (n.causal && j > at[at.size() - 2]) score = -INFINITY;
              high = std::max(high, score);
            }
            total = 0;
            for (double& w : weights) total += w = high == -INFINITY ? 0 : std::exp(w - high);
          }
          if (n.op == Op::attention_log_sum) return std::log(total) + high;
          double sum = 0;
          k.back() = at.back();
          for (int64_t j = 0; j < keys; ++j) {
            k[at.size() - 2] = j;
            sum += weights[j] * element(in(2), k);
          }
          return total == 0 ? 0 : sum / total;
        });
        break;
      }
      case Op::gather:
        each([&](const Dims& at) { return element(in(0), moved(at, 0, static_cast<int64_t>(in(1).v[at[0]]))); });
        break;
      case Op::scatter:
        r.v = in(0).v;
        for_each_index(in(2).shape, [&](const Dims& at) {
          double& to = r.v[flat(n.shape, moved(at, 0, static_cast<int64_t>(in(1).v[at[0]])))];
          to = stored(alu(n.alu, to, element(in(2), at), n.dtype), n.dtype);
        });
        break;
      case Op::take:
        each([&](const Dims& at) {
          return in(0).v[flat(in(0).shape, moved(at, n.dim, static_cast<int64_t>(element(in(1), at))))];
        });
        break;
      case Op::put:
        r.v = in(0).v;
        for_each_index(in(1).shape, [&](const Dims& at) {
          double& to = r.v[flat(n.shape, moved(at, n.dim, static_cast<int64_t>(element(in(1), at))))];
          to = stored(alu(n.alu, to, in(2).v[flat(in(2).shape, at)], n.dtype), n.dtype);
        });
        break;
      case Op::sort:
      case Op::arg_sort: {
        Dims lines = n.shape;
        lines[n.dim] = 1;
        for_each_index(lines, [&](const Dims& at) {
          std::vector<double> x(n.shape[n.dim]);
          for (size_t i = 0; i < x.size(); ++i) x[i] = element(in(0), moved(at, n.dim, static_cast<int64_t>(i)));
          std::vector<int64_t> order(x.size());
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            if (std::isnan(x[a]) || std::isnan(x[b]))
              return std::isnan(x[n.descending ? a : b]) && !std::isnan(x[n.descending ? b : a]);
            return n.descending ? x[a] > x[b] : x[a] < x[b];
          });
          for (size_t i = 0; i < x.size(); ++i)
            r.v[flat(n.shape, moved(at, n.dim, static_cast<int64_t>(i)))] =
                n.op == Op::sort ? x[order[i]] : static_cast<double>(order[i]);
        });
        break;
      }
      default: throw Error(Fault::internal, "no reference for this primitive", std::string(compiler::name(n.op)));
    }
    return r;
  }

  double read(const Node& n, const Dims& at) const {
    int64_t i = 0;
    for (size_t d = 0; d < at.size(); ++d) i += at[d] * n.strides[d];
    const std::byte* p = slots_[n.slot].data() + n.offset + i * size_of(n.dtype);
    if (is_float(n.dtype)) {
      float f;
      read_as_float(n.dtype, p, size_of(n.dtype), &f, 1);
      return f;
    }
    int32_t x;
    read_as_int(n.dtype, p, size_of(n.dtype), &x, 1);
    return info(n.dtype).is_signed || size_of(n.dtype) < 4 ? x : static_cast<double>(static_cast<uint32_t>(x));
  }

  const Graph& g_;
  const std::vector<std::vector<std::byte>>& slots_;
  std::vector<Array> done_;
};

}  // namespace trn::test
