#include <cmath>
#include <limits>
#include <numbers>

#include "backend/torch/lowerings/lowering.h"

// Random numbers from Philox 4x32-10 bits; the generator's (seed, offset) is a run-time parameter.
namespace trn::torch_backend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Value bits(Call& c, Dims shape) {
  const int64_t n = product(shape);
  if (shape.empty()) shape = {1};
  return {&c.g, c.g.random(c.random_seed(n).id, std::move(shape))};
}

Value shift_right(Value b, int by) { return apply(AluOp::right_shift, b, number(*b.g, by, b.dtype())); }
Value whole(Value b) { return {b.g, b.g->cast(b.id, Dtype::int32)}; }

// 24 bits: every value is a float. [0, 1) and (0, 1].
Value unit(Value b) { return to_float(whole(shift_right(b, 8))) * 0x1p-24; }
Value unit_open_at_zero(Value b) { return (to_float(whole(shift_right(b, 8))) + 1) * 0x1p-24; }

Value uniforms(Call& c, Dims shape) { return unit(bits(c, std::move(shape))); }

// Box-Muller, one pair of uniforms for each number.
Value normals(Call& c, const Dims& shape) {
  Dims pair{2};
  pair.insert(pair.end(), shape.begin(), shape.end());
  const Value b = bits(c, pair);
  const Value first = reshape(slice(b, 0, 0, 1), shape), second = reshape(slice(b, 0, 1, 2), shape);
  const Value radius = sqrt(log(unit_open_at_zero(first)) * -2.0);
  return radius * apply(Activation::cos, (unit(second) - 0.5) * (2 * std::numbers::pi));
}
Value exponentials(Call& c, const Dims& shape) { return -log(unit_open_at_zero(bits(c, shape))); }

void uniform(Call& c) {
  const Value low = c.number(1, Dtype::float32), high = c.number(2, Dtype::float32);
  c.out(0, uniforms(c, c.shape(0)) * (high - low) + low);
}
void normal(Call& c) { c.out(0, normals(c, c.shape(0)) * c.number(2, Dtype::float32) + c.number(1, Dtype::float32)); }
void normal_tensor_float(Call& c) { c.out(0, normals(c, c.shape(0)) * c.number(1, Dtype::float32) + c.arg_float(0)); }
void normal_float_tensor(Call& c) { c.out(0, normals(c, c.shape(0)) * c.arg_float(1) + c.number(0, Dtype::float32)); }
void normal_tensor_tensor(Call& c) { c.out(0, normals(c, c.shape(0)) * c.arg_float(1) + c.arg_float(0)); }
void log_normal(Call& c) {
  c.out(0, exp(normals(c, c.shape(0)) * c.number(2, Dtype::float32) + c.number(1, Dtype::float32)));
}
void exponential(Call& c) { c.out(0, exponentials(c, c.shape(0)) / c.number(1, Dtype::float32)); }
void geometric(Call& c) {
  const Value p = c.number(1, Dtype::float32);
  c.out(0, apply(Activation::ceil, -exponentials(c, c.shape(0)) / apply(Activation::log1p, -p)));
}
void cauchy(Call& c) {
  const Value turn = (uniforms(c, c.shape(0)) - 0.5) * std::numbers::pi;
  c.out(0, apply(Activation::tan, turn) * c.number(2, Dtype::float32) + c.number(1, Dtype::float32));
}

void bernoulli(Call& c) { c.out(0, uniforms(c, c.shape(0)) < c.number(1, Dtype::float32)); }
void bernoulli_tensor(Call& c) { c.out(0, uniforms(c, c.shape(0)) < to_float(c.in(1))); }

// Integers of [low, low + range) by remainder, as torch.cuda; the bias of 2^32 mod range is below 2^-8 for ranges up to
// 2^24.
Value integers(Call& c, double low, double range) {
  const Value b = bits(c, c.shape(0));
  if (range >= 0x1p32) return whole(b);
  return whole(apply(AluOp::mod, b, number(c.g, range, Dtype::uint32))) + low;
}
// All integers that the dtype holds exactly, from 0.
void random_full(Call& c) {
  switch (c.dtype(0)) {
    case Dtype::boolean: return c.out(0, integers(c, 0, 2));
    case Dtype::int8: return c.out(0, integers(c, 0, 0x1p7));
    case Dtype::uint8: return c.out(0, integers(c, 0, 0x1p8));
    case Dtype::int16: return c.out(0, integers(c, 0, 0x1p15));
    case Dtype::bfloat16: return c.out(0, integers(c, 0, 0x1p8 + 1));
    case Dtype::float16: return c.out(0, integers(c, 0, 0x1p11 + 1));
    case Dtype::float32: return c.out(0, integers(c, 0, 0x1p24 + 1));
    default: return c.out(0, integers(c, 0, 0x1p31));
  }
}
void random_to(Call& c) { c.out(0, integers(c, 0, c.constant(1))); }
void random_from(Call& c) {
  const double low = c.constant(1);
  const double high = c.present(2) ? c.constant(2) : 0x1p31;
  c.out(0, integers(c, low, high - low));
}

void randperm(Call& c) {
  const Value keys = whole(shift_right(bits(c, c.shape(0)), 1));
  c.out(0, {&c.g, c.g.arg_sort(keys.id, 0, false)});
}

// (input, p, train?) -> output, mask
void dropout(Call& c) {
  const Value x = c.arg_float(0);
  const double p = c.constant(1);
  if (c.present(2) && !c.flag(2)) {
    c.out(0, x);
    return c.out(1, expand(number(c.g, 1, Dtype::boolean), c.shape(1)));
  }
  const Value kept = uniforms(c, c.shape(0)) >= p;
  c.out(0, p == 1 ? x * 0 : where(kept, x * (1 / (1 - p)), 0));
  c.out(1, kept);
}
void dropout_backward(Call& c) { c.out(0, where(c.in(1), c.arg_float(0) * c.number(2, Dtype::float32), 0)); }

// Without replacement, the largest p / exponential; with, the first place where the running sum passes a uniform.
Value drawn(Call& c, Value p, int64_t samples, bool replacement) {
  const int last = p.rank() - 1;
  if (samples == 1 || !replacement) {
    const Value race = p / exponentials(c, p.shape());
    if (samples == 1) return arg_reduce(AluOp::maximum, race, last);
    const Value order{&c.g, c.g.arg_sort(race.id, last, true)};
    return slice(order, last, 0, samples);
  }
  const Value running = scan(AluOp::add, p, last), total = sum(p, {last});
  Dims shape = p.shape();
  shape.back() = samples;
  const Value mark = uniforms(c, shape) * total;
  const Value place = squeeze(sum(to_int(unsqueeze(running, -2) <= unsqueeze(mark, -1)), {last + 1}), -1);
  // A mark that rounds up to the whole sum still means the last place that can be drawn.
  return minimum(place, max(where(p > 0, iota(c.g, p.shape(), last), 0), {last}));
}

// (self, num_samples, replacement). What is no distribution is drawn from outside of it: NRT 1006.
void multinomial(Call& c) {
  const Value p = c.arg_float(0);
  const int last = p.rank() - 1;
  const Value legal = reduce(AluOp::logical_and, logical_and(p >= 0, p < kInf), {last});
  const Value index = drawn(c, p, c.integer(1), c.flag(2));
  const Value checked = where(logical_and(legal, sum(p, {last}) > 0), index, -1);
  c.out(0, where(take_along(c.in(0), checked, last) >= 0, checked, -1));
}

constexpr Row kRows[] = {
    {"uniform_", uniform, "from to"},
    {"normal_", normal, "mean std"},
    {"normal.Tensor_float", normal_tensor_float, "std"},
    {"normal.float_Tensor", normal_float_tensor, "mean"},
    {"normal.Tensor_Tensor", normal_tensor_tensor},
    {"log_normal_", log_normal, "mean std"},
    {"exponential_", exponential, "lambd"},
    {"geometric_", geometric, "p"},
    {"cauchy_", cauchy, "median sigma"},
    {"bernoulli_.float", bernoulli, "p"},
    {"bernoulli_.Tensor", bernoulli_tensor},
    {"random_", random_full},
    {"random_.to", random_to},
    {"random_.from", random_from},
    {"randperm.generator_out", randperm},
    {"native_dropout", dropout},
    {"native_dropout_backward", dropout_backward, "scale"},
    {"multinomial", multinomial},
};

}  // namespace

std::span<const Row> random_rows() { return kRows; }

}  // namespace trn::torch_backend
