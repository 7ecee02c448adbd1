// segment_reduce: neighbours along an axis are reduced, as many at a time as `lengths` says.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <limits>
#include <string_view>

namespace trn::torch_backend {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using OptionalScalar = std::optional<at::Scalar>;

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Kind {
  std::string_view name, scatter;  // what scatter_reduce calls it
  double identity;
};
constexpr Kind kKinds[] = {
    {"sum", "sum", 0}, {"mean", "sum", 0}, {"prod", "prod", 1}, {"max", "amax", -kInf}, {"min", "amin", kInf}};

const Kind& kind_named(std::string_view name) {
  for (const Kind& k : kKinds)
    if (k.name == name) return k;
  TORCH_CHECK(false, "unsupported reduction given: ", std::string(name));
}

// [batch..., n] segment numbers of the places along the axis; as many as there are segments for a place in none.
struct Segments {
  Tensor lengths, of_place;
  int64_t count = 0, axis = 0;
};
Segments segments_of(const Tensor& data, const OptionalTensor& lengths, const OptionalTensor& offsets, int64_t axis) {
  const bool by_length = lengths && lengths->defined();
  TORCH_CHECK(by_length || (offsets && offsets->defined()),
              "segment_reduce(): Either lengths or offsets must be defined.");
  Segments s;
  s.axis = at::maybe_wrap_dim(axis, data.dim());
  const Tensor given = by_length ? *lengths : *offsets;
  TORCH_CHECK(given.dim() == s.axis + 1, "segment_reduce(): expected ", by_length ? "lengths" : "offsets", " to be ",
              s.axis + 1, "-dimensional");
  s.lengths = by_length ? given : given.diff(1, -1);
  s.count = s.lengths.size(-1);
  const Tensor ends = by_length ? given.cumsum(-1) : given.slice(-1, 1);
  std::vector<int64_t> shape = ends.sizes().slice(0, s.axis).vec();
  shape.push_back(data.size(s.axis));
  const Tensor place = at::arange(data.size(s.axis), given.options()).expand(shape).contiguous();
  s.of_place = at::searchsorted(ends.contiguous(), place, false, true);
  if (!by_length) s.of_place = at::where(place.lt(given.slice(-1, 0, 1)), s.count, s.of_place);
  return s;
}

// [batch..., n] to the shape of the data, or what is by segment to that of the output.
Tensor spread(Tensor t, c10::IntArrayRef shape) {
  while (t.dim() < static_cast<int64_t>(shape.size())) t = t.unsqueeze(-1);
  return t.expand(shape);
}
std::vector<int64_t> with_size(const Tensor& data, int64_t axis, int64_t size) {
  std::vector<int64_t> shape = data.sizes().vec();
  shape[static_cast<size_t>(axis)] = size;
  return shape;
}

// One segment more than asked for takes what is in none.
Tensor reduced(const Tensor& data, const Segments& s, std::string_view how, double start) {
  const Tensor base = at::full(with_size(data, s.axis, s.count + 1), start, data.options());
  return base.scatter_reduce(s.axis, spread(s.of_place, data.sizes()), data, how).slice(s.axis, 0, s.count);
}
// What every place's segment has, by_segment [batch..., segments, rest...]; 0 for a place in none.
Tensor at_places(const Tensor& by_segment, const Segments& s, c10::IntArrayRef shape) {
  const Tensor none = at::zeros(with_size(by_segment, s.axis, 1), by_segment.options());
  return at::cat({by_segment, none}, s.axis).gather(s.axis, spread(s.of_place, shape));
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const OptionalTensor& lengths,
                      const OptionalTensor& indices, const OptionalTensor& offsets, int64_t axis, bool unsafe,
                      const OptionalScalar& initial) {
  TORCH_CHECK(data.numel() >= 0 && !(indices && indices->defined()),
              "segment_reduce(): indices based reduction is not supported yet.");
  const Kind& kind = kind_named(reduce);
  const Segments s = segments_of(data, lengths, offsets, axis);
  if (!unsafe) {
    TORCH_CHECK(s.lengths.numel() == 0 || s.lengths.min().item<int64_t>() >= 0, "lengths contains negative value!");
    TORCH_CHECK(!(lengths && lengths->defined()) || s.lengths.sum(-1).eq(data.size(s.axis)).all().item<bool>(),
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
                "!unsafe.");
  }
  const Tensor total = reduced(data, s, kind.scatter, initial ? initial->toDouble() : kind.identity);
  if (kind.name != "mean") return total;
  const Tensor n = spread(s.lengths, total.sizes());
  const Tensor mean = total / n.to(total.scalar_type());
  return initial ? at::where(n.eq(0), total, mean) : mean;  // of nothing: 0 / 0
}

// The product of a segment's other elements: by division, or where zeros are in the way by the product of the rest.
Tensor slope_of_product(const Tensor& data, const Tensor& output, const Segments& s, double start) {
  const Tensor zero = data.eq(0);
  const Tensor zeros = at_places(reduced(zero.to(data.scalar_type()), s, "sum", 0), s, data.sizes());
  const Tensor rest = at_places(reduced(data.masked_fill(zero, 1), s, "prod", start), s, data.sizes());
  const Tensor by_division = at_places(output, s, data.sizes()) / data.masked_fill(zero, 1);
  return at::where(zeros.eq(0), by_division, rest.masked_fill(zero.logical_and(zeros.eq(1)).logical_not(), 0));
}

Tensor segment_reduce_backward(const Tensor& grad, const Tensor& output, const Tensor& data, std::string_view reduce,
                               const OptionalTensor& lengths, const OptionalTensor& offsets, int64_t axis,
                               const OptionalScalar& initial) {
  const Kind& kind = kind_named(reduce);
  const Segments s = segments_of(data, lengths, offsets, axis);
  if (kind.name == "sum") return at_places(grad, s, data.sizes());
  if (kind.name == "mean") {
    const Tensor n = spread(s.lengths, grad.sizes()).clamp_min(1);
    return at_places(grad / n.to(grad.scalar_type()), s, data.sizes());
  }
  if (kind.name == "prod") {
    const double start = initial ? initial->toDouble() : 1;
    return at_places(grad, s, data.sizes()) * slope_of_product(data, output, s, start);
  }
  // Winners share.
  const Tensor won = data.eq(at_places(output, s, data.sizes())).logical_or(data.isnan());
  const Tensor winners = reduced(won.to(data.scalar_type()), s, "sum", 0).clamp_min(1);
  return at_places(grad / winners, s, data.sizes()).masked_fill(won.logical_not(), 0);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("segment_reduce", segment_reduce);
  m.impl("_segment_reduce_backward", segment_reduce_backward);
}

}  // namespace
}  // namespace trn::torch_backend
