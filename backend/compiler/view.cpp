#include "backend/compiler/view.h"

#include <functional>
#include <numeric>

namespace trn::compiler {

int64_t elements(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Dims contiguous_strides(const Dims& shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

std::optional<Dims> reshaped_strides(const Dims& shape, const Dims& strides, const Dims& to) {
  if (elements(to) == 0) return contiguous_strides(to);
  Dims result(to.size());
  size_t fill = to.size();  // result dims from here on are done
  for (size_t i = shape.size(); i > 0;) {
    // One run of dims that step regularly: [begin, i).
    size_t begin = i - 1;
    int64_t run = shape[begin], inner = strides[begin];
    if (run == 1) {
      --i;
      continue;
    }
    while (begin > 0 && (shape[begin - 1] == 1 || strides[begin - 1] == inner * run)) run *= shape[--begin];
    int64_t covered = 1;
    while (covered < run) {
      if (fill == 0) return {};
      result[--fill] = inner * covered;
      covered *= to[fill];
    }
    if (covered != run) return {};
    i = begin;
  }
  while (fill > 0) {
    if (to[--fill] != 1) return {};
    result[fill] = 0;
  }
  return result;
}

View view_of(const Node& n) { return {n.slot, n.dtype, n.offset, n.shape, n.strides}; }

View contiguous_view(uint32_t slot, Dtype dtype, Dims shape) {
  Dims strides = contiguous_strides(shape);
  return {slot, dtype, 0, std::move(shape), std::move(strides)};
}

View permuted(View v, const Dims& axes) {
  Dims shape, strides;
  for (int64_t axis : axes) {
    shape.push_back(v.shape[axis]);
    strides.push_back(v.strides[axis]);
  }
  v.shape = std::move(shape);
  v.strides = std::move(strides);
  return v;
}

View expanded(View v, const Dims& shape) {
  const size_t lead = shape.size() - v.shape.size();
  Dims strides(shape.size(), 0);
  for (size_t i = 0; i < v.shape.size(); ++i)
    if (v.shape[i] == shape[lead + i]) strides[lead + i] = v.strides[i];
  v.shape = shape;
  v.strides = std::move(strides);
  return v;
}

View sliced(View v, int dim, int64_t start, int64_t count, int64_t step) {
  if (count > 0) v.offset += start * v.strides[dim] * size_of(v.dtype);
  v.shape[dim] = count;
  v.strides[dim] *= step;
  return v;
}

View flipped(View v, int dim) {
  if (v.shape[dim] > 0) v.offset += (v.shape[dim] - 1) * v.strides[dim] * size_of(v.dtype);
  v.strides[dim] = -v.strides[dim];
  return v;
}

std::optional<View> reshaped(View v, const Dims& shape) {
  auto strides = reshaped_strides(v.shape, v.strides, shape);
  if (!strides) return {};
  v.shape = shape;
  v.strides = std::move(*strides);
  return v;
}

std::optional<View> apply_view(const Node& n, View v) {
  switch (n.op) {
    case Op::expand: return expanded(std::move(v), n.shape);
    case Op::permute: return permuted(std::move(v), n.axes);
    case Op::reshape: return reshaped(std::move(v), n.shape);
    case Op::slice: return sliced(std::move(v), n.dim, n.start, n.shape[n.dim], n.step);
    case Op::flip: return flipped(std::move(v), n.dim);
    default: return {};
  }
}

std::optional<View> invert_view(const Node& n, View v, const Dims& operand_shape) {
  if (n.op == Op::reshape) return reshaped(std::move(v), operand_shape);
  if (n.op == Op::flip) return flipped(std::move(v), n.dim);
  if (n.op != Op::permute) return {};
  Dims inverse(n.axes.size());
  for (size_t i = 0; i < n.axes.size(); ++i) inverse[n.axes[i]] = static_cast<int64_t>(i);
  return permuted(std::move(v), inverse);
}

bool is_view(Op op) {
  return op == Op::expand || op == Op::permute || op == Op::reshape || op == Op::slice || op == Op::flip;
}
bool is_pointwise(Op op) { return op == Op::map1 || op == Op::map2 || op == Op::select || op == Op::cast; }

ByteRange byte_range(const View& v) {
  if (elements(v.shape) == 0) return {v.offset, v.offset};
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < v.shape.size(); ++i) {
    const int64_t reach = (v.shape[i] - 1) * v.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const int64_t size = size_of(v.dtype);
  return {v.offset + low * size, v.offset + (high + 1) * size};
}

}  // namespace trn::compiler
