#include "backend/compiler/transfer.h"

#include <algorithm>

namespace trn::compiler {
namespace {

// Covers [first, first+count) of the row-major space `dims` with boxes; visit(index of the box's first element per dim,
// counts per dim).
template <class Visit>
void for_each_box(const std::vector<Dim>& dims, size_t most_dims, int64_t first, int64_t count, Visit visit) {
  std::vector<int64_t> inside(dims.size() + 1, 1);  // elements of dims [i, end)
  for (size_t i = dims.size(); i-- > 0;) inside[i] = inside[i + 1] * dims[i].count;
  while (count > 0) {
    // The outermost dim that `first` is aligned to and that fits the rest.
    size_t d = dims.size() > most_dims ? dims.size() - most_dims : 0;
    while (d < dims.size() && (first % inside[d + 1] != 0 || count < inside[d + 1])) ++d;
    if (d == dims.size()) --d;
    const int64_t index = first / inside[d + 1] % dims[d].count;
    const int64_t n = std::min(dims[d].count - index, count / inside[d + 1]);
    visit(d, first, n, n * inside[d + 1]);
    first += n * inside[d + 1];
    count -= n * inside[d + 1];
  }
}

int64_t offset_of(const std::vector<Dim>& dims, int64_t index) {
  int64_t offset = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    offset += index % dims[i].count * dims[i].step;
    index /= dims[i].count;
  }
  return offset;
}

template <class Move>
void for_each_move(const Block& b, const Source& s, uint32_t mask, const Access& tile, Move move) {
  const auto inner = free_dims(b, s.steps, mask);
  const int64_t start = start_of(b, s);
  for (const RowBox& box : row_boxes(b, s.steps, Access::kMaxDims - inner.size()))
    move(slice(tile, 0, box.at, box.count), hbm_access(s.view, start + box.offset, box.dims, inner));
}

}  // namespace

void push_joined(std::vector<Dim>& dims, int64_t step, int64_t count) {
  if (count == 1) return;
  if (!dims.empty() && dims.back().step == step * count) {
    dims.back() = {static_cast<int32_t>(step), static_cast<int32_t>(dims.back().count * count)};
    return;
  }
  dims.push_back({static_cast<int32_t>(step), static_cast<int32_t>(count)});
}

Access hbm_access(const View& v, int64_t element, const std::vector<Dim>& outer, const std::vector<Dim>& inner) {
  Access a{.space = Space::hbm, .dtype = v.dtype, .ndim = 0, .buffer = v.slot};
  a.offset = v.offset + element * size_of(v.dtype);
  for (const auto* dims : {&outer, &inner})
    for (const Dim& d : *dims) a.dims[a.ndim++] = d;
  if (a.ndim == 0) a.dims[a.ndim++] = {1, 1};
  return a;
}

std::vector<RowBox> cut_rows(const std::vector<Dim>& dims, size_t most_dims, int64_t first, int64_t count) {
  if (dims.empty()) return {{0, count, 0, {}}};
  std::vector<RowBox> boxes;
  int64_t at = 0;
  for_each_box(dims, most_dims, first, count, [&](size_t d, int64_t index, int64_t n, int64_t size) {
    RowBox box{at, size, offset_of(dims, index), {}};
    push_joined(box.dims, dims[d].step, n);
    for (size_t i = d + 1; i < dims.size(); ++i) push_joined(box.dims, dims[i].step, dims[i].count);
    at += size;
    boxes.push_back(std::move(box));
  });
  return boxes;
}

std::vector<RowBox> row_boxes(const Block& b, const Dims& steps, size_t most_dims) {
  std::vector<Dim> dims;
  for (const Walk& w : b.rows) push_joined(dims, steps[w.axis] * w.step, w.count);
  return cut_rows(dims, most_dims, b.first_row, b.partitions);
}

std::vector<Dim> free_dims(const Block& b, const Dims& steps, uint32_t mask) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < b.free.size(); ++i)
    if (mask >> i & 1) push_joined(dims, steps[b.free[i].axis] * b.free[i].step, b.free[i].count);
  return dims;
}

int64_t start_of(const Block& b, const Source& s) {
  int64_t element = 0;
  for (size_t i = 0; i < b.start.size(); ++i) element += b.start[i] * s.steps[i];
  return element;
}

void load(TileBuilder& t, const Block& b, const Source& s, uint32_t mask, const Access& tile) {
  for_each_move(b, s, mask, tile, [&](const Access& on_chip, const Access& in_hbm) { t.load(on_chip, in_hbm); });
}

void store(TileBuilder& t, const Block& b, const Source& s, uint32_t mask, const Access& tile) {
  for_each_move(b, s, mask, tile, [&](const Access& on_chip, const Access& in_hbm) { t.store(in_hbm, on_chip); });
}

void copy_view(TileBuilder& t, const View& to, const View& from) {
  std::vector<size_t> order;
  for (size_t i = 0; i < to.shape.size(); ++i)
    if (to.shape[i] > 1) order.push_back(i);
  // Follow the destination's memory; where both sides step regularly, neighbours are one dim.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(to.strides[a]) > std::abs(to.strides[b]); });
  std::vector<Dim> dst, src;
  for (size_t i : order) {
    const auto n = static_cast<int32_t>(to.shape[i]);
    const auto d = static_cast<int32_t>(to.strides[i]), s = static_cast<int32_t>(from.strides[i]);
    if (!dst.empty() && dst.back().step == d * n && src.back().step == s * n) {
      dst.back() = {d, dst.back().count * n};
      src.back() = {s, src.back().count * n};
      continue;
    }
    dst.push_back({d, n});
    src.push_back({s, n});
  }
  int64_t skipped_dst = 0, skipped_src = 0;
  const auto mine = t.share(dst.empty() ? 1 : dst[0].count);
  if (mine.count() == 0) return;
  if (!dst.empty()) {
    dst[0].count = src[0].count = static_cast<int32_t>(mine.count());
    skipped_dst = mine.first * dst[0].step;
    skipped_src = mine.first * src[0].step;
  }
  int64_t outer = 1;
  const size_t lead = dst.size() > Access::kMaxDims ? dst.size() - Access::kMaxDims : 0;
  for (size_t i = 0; i < lead; ++i) outer *= dst[i].count;
  const std::vector<Dim> dst_outer(dst.begin(), dst.begin() + lead), src_outer(src.begin(), src.begin() + lead);
  const std::vector<Dim> dst_inner(dst.begin() + lead, dst.end()), src_inner(src.begin() + lead, src.end());
  for (int64_t i = 0; i < outer; ++i)
    t.load(hbm_access(to, skipped_dst + offset_of(dst_outer, i), {}, dst_inner),
           hbm_access(from, skipped_src + offset_of(src_outer, i), {}, src_inner));
}

}  // namespace trn::compiler
