#include <algorithm>

#include "backend/torch/lowerings/lowering.h"

// Data movement: copies, joins, triangles, pads and their adjoints.
namespace trn::torch_backend {
namespace {

void copy(Call& c) {
  const Value x = c.in(1);
  if (c.complex(0) == c.complex(1)) return c.out(0, x);
  if (c.complex(0)) return c.out(0, pad(unsqueeze(to_float(x), -1), -1, 0, 1));  // real to complex
  c.out(0, squeeze(slice(x, -1, 0, 1), -1));
}

void cat(Call& c) {
  std::vector<Value> parts;
  for (const Value& p : c.list(0))
    if (!(p.rank() == 1 && p.numel() == 0)) parts.push_back(convert(p, c.dtype(0)));
  c.out(0, concat(parts, c.dim(1, static_cast<int>(c.shape(0).size()))));
}

void flip_dims(Call& c) {
  Value x = c.in(0);
  if (x.rank() == 0) return c.out(0, x);
  for (int64_t dim : c.integers(1)) x = flip(x, wrap(dim, x.rank()));
  c.out(0, x);
}

Value rolled(Value x, int dim, int64_t shift) {
  const int64_t n = x.size(dim);
  shift = ((shift % n) + n) % n;
  if (shift == 0) return x;
  return concat({slice(x, dim, n - shift, n), slice(x, dim, 0, n - shift)}, dim);
}
void roll(Call& c) {
  const Value x = c.in(0);
  const Dims shifts = c.integers(1), dims = c.integers(2);
  if (dims.empty()) return c.out(0, reshape(rolled(flatten(x), 0, shifts[0]), x.shape()));
  Value y = x;
  for (size_t i = 0; i < dims.size(); ++i) y = rolled(y, wrap(dims[i], x.rank()), shifts[i]);
  c.out(0, y);
}

// Keeps elements with column - row <= diagonal (tril) or >= diagonal (triu).
void triangle(Call& c, bool lower) {
  const Value x = c.in(0);
  const Dims plane{x.size(-2), x.size(-1)};
  const Value offset = iota(c.g, plane, 1) - iota(c.g, plane, 0);
  const double diagonal = static_cast<double>(c.integer(1));
  c.out(0, where(lower ? offset <= diagonal : offset >= diagonal, x, like(x, 0)));
}
void tril(Call& c) { triangle(c, true); }
void triu(Call& c) { triangle(c, false); }

// pad lists pairs from the last dim on.
void constant_pad(Call& c) {
  Value x = c.in(0);
  const Dims amounts = c.integers(1);
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    const int dim = x.rank() - 1 - static_cast<int>(i);
    x = pad(x, dim, amounts[2 * i], amounts[2 * i + 1], c.constant(2));
  }
  c.out(0, x);
}

// The zero tensor of the result's shape with `grad` at [start, stop) step along dim.
void embed_gradient(Call& c, Value grad, int dim, int64_t start, int64_t step) {
  const int64_t size = c.shape(0)[dim], n = grad.size(dim);
  if (n == 0) return c.out(0, expand(number(c.g, 0, c.dtype(0)), c.shape(0)));
  grad = spread(grad, dim, step);
  c.out(0, pad(grad, dim, start, size - start - grad.size(dim)));
}
void slice_backward(Call& c) {
  const int rank = static_cast<int>(c.shape(0).size()), dim = c.dim(2, rank);
  const int64_t size = c.shape(0)[dim];
  int64_t start = c.integer(3);
  if (start < 0) start += size;
  embed_gradient(c, c.in(0), dim, std::clamp<int64_t>(start, 0, size), c.integer(5));
}
void select_backward(Call& c) {
  const int rank = static_cast<int>(c.shape(0).size()), dim = c.dim(2, rank);
  int64_t index = c.integer(3);
  if (index < 0) index += c.shape(0)[dim];
  embed_gradient(c, unsqueeze(c.in(0), dim), dim, index, 1);
}

// Places grad [..., n] on the diagonal of the planes (dim1, dim2).
Value on_diagonal(Call& c, Value v, const Dims& shape, int64_t offset, int dim1, int dim2) {
  // v as [..., n] -> rows `r` (and columns r + offset) of the plane; other elements 0.
  const int rank = static_cast<int>(shape.size());
  const int64_t rows = shape[dim1], columns = shape[dim2], n = v.size(-1), first = offset < 0 ? -offset : 0;
  Value by_row = pad(v, -1, first, rows - first - n);  // [..., rows]
  Value plane = unsqueeze(by_row, -1);
  const Dims grid{rows, columns};
  const Value hit = equal(iota(c.g, grid, 1) - iota(c.g, grid, 0), static_cast<double>(offset));
  plane = where(hit, plane, like(plane, 0));  // [..., rows, columns]
  // Planes stand last; move them to dim1, dim2.
  Dims axes(rank);
  int next = 0;
  for (int i = 0; i < rank; ++i) axes[i] = i == dim1 ? rank - 2 : i == dim2 ? rank - 1 : next++;
  return permute(plane, axes);
}
void diag_embed(Call& c) {
  const int rank = static_cast<int>(c.shape(0).size());
  c.out(0, on_diagonal(c, c.in(0), c.shape(0), c.integer(1), c.dim(2, rank), c.dim(3, rank)));
}
void diagonal_backward(Call& c) {
  const int rank = static_cast<int>(c.shape(0).size());
  c.out(0, on_diagonal(c, c.in(0), c.shape(0), c.integer(2), c.dim(3, rank), c.dim(4, rank)));
}

// Sums windows of `size` every `step` back into a dim of the original length.
void unfold_backward(Call& c) {
  const Value grad = c.in(0);  // [..., windows, ..., size]
  if (c.shape(0).empty()) return c.out(0, reshape(grad, {}));
  const int rank = static_cast<int>(c.shape(0).size()), dim = c.dim(2, rank);
  const int64_t length = c.shape(0)[dim], size = c.integer(3), step = c.integer(4);
  Value total{};
  for (int64_t k = 0; k < size; ++k) {
    Value part = spread(to_float(squeeze(slice(grad, -1, k, k + 1), -1)), dim, step);
    part = pad(part, dim, k, length - k - part.size(dim));
    total = total.g ? total + part : part;
  }
  c.out(0, total);
}

void repeat(Call& c) {
  Value x = c.in(0);
  const Dims repeats = c.integers(1);
  Dims shape(repeats.size() - x.rank(), 1), interleaved, wide;
  const Dims own = x.shape();
  shape.insert(shape.end(), own.begin(), own.end());
  for (size_t i = 0; i < shape.size(); ++i) {
    interleaved.insert(interleaved.end(), {1, shape[i]});
    wide.insert(wide.end(), {repeats[i], shape[i]});
  }
  c.out(0, expand(reshape(x, interleaved), wide));
}

// a x b along a dim of 3.
void cross(Call& c) {
  const Value a = c.arg(0), b = c.arg(1);
  const auto rank = static_cast<int>(c.shape(0).size());
  const int dim = c.dim(2, rank);
  const auto part = [&](Value v, int64_t i) { return slice(v, dim - rank, i % 3, i % 3 + 1); };
  std::vector<Value> parts;
  for (int64_t i = 0; i < 3; ++i) {
    const Value p = part(a, i + 1) * part(b, i + 2) - part(a, i + 2) * part(b, i + 1);
    parts.push_back(p);
  }
  c.out(0, concat(parts, dim));
}

void channel_shuffle(Call& c) {
  const Value x = c.in(0);
  const int64_t groups = c.integer(1), n = x.size(0), each = x.size(1) / groups;
  c.out(0, transpose(reshape(x, {n, groups, each, x.numel() / (n * groups * each)}), 1, 2));
}

void pixel_shuffle(Call& c) {
  const Value x = c.in(0);
  const int64_t r = c.integer(1), h = x.size(-2), w = x.size(-1), channels = x.size(-3) / (r * r);
  const int64_t n = x.numel() / (x.size(-3) * h * w);
  c.out(0, permute(reshape(x, {n, channels, r, r, h, w}), {0, 1, 4, 2, 5, 3}));
}
void pixel_unshuffle(Call& c) {
  const Value x = c.in(0);
  const int64_t r = c.integer(1), channels = x.size(-3), h = x.size(-2) / r, w = x.size(-1) / r;
  const int64_t n = x.numel() / (channels * x.size(-2) * x.size(-1));
  c.out(0, permute(reshape(x, {n, channels, h, r, w, r}), {0, 1, 3, 5, 2, 4}));
}

constexpr Row kRows[] = {
    {"copy_", copy, "", "complex64 too", Complex64::pairs},
    {"cat", cat, "", "complex64 too", Complex64::parts},
    {"flip", flip_dims, "", "complex64 too", Complex64::parts},
    {"roll", roll, "", "complex64 too", Complex64::parts},
    {"tril", tril, "", "complex64 too", Complex64::parts},
    {"triu", triu, "", "complex64 too", Complex64::parts},
    {"constant_pad_nd", constant_pad, "", "complex64 too", Complex64::parts},
    {"slice_backward", slice_backward, "", "complex64 too", Complex64::parts},
    {"select_backward", select_backward, "", "complex64 too", Complex64::parts},
    {"diag_embed", diag_embed, "", "complex64 too", Complex64::parts},
    {"diagonal_backward", diagonal_backward, "", "complex64 too", Complex64::parts},
    {"unfold_backward", unfold_backward, "", "complex64 too", Complex64::parts},
    {"repeat", repeat, "", "complex64 too", Complex64::parts},
    {"linalg_cross", cross},
    {"channel_shuffle", channel_shuffle},
    {"pixel_shuffle", pixel_shuffle},
    {"pixel_unshuffle", pixel_unshuffle},
};

}  // namespace

std::span<const Row> movement_rows() { return kRows; }

}  // namespace trn::torch_backend
