#include "memory/overlap.h"

#include <algorithm>
#include <cstdlib>

namespace trn {

ByteWalk::ByteWalk(const Access& a) : offset(a.offset), element(size_of(a.dtype)) {
  for (int i = a.on_chip() ? 1 : 0; i < a.ndim; ++i) {
    if (a.dims[i].count <= 1 || a.dims[i].step == 0) continue;
    step[dims] = a.dims[i].step * element;
    count[dims++] = a.dims[i].count;
  }
}

ByteRange ByteWalk::range() const {
  ByteRange r{offset, offset + element};
  for (int i = 0; i < dims; ++i) (step[i] < 0 ? r.begin : r.end) += step[i] * (count[i] - 1);
  return r;
}

bool ByteWalk::take_rows(int64_t pitch, int64_t& first, int64_t& last) {
  first = last = 0;
  int kept = 0;
  for (int i = 0; i < dims; ++i) {
    if (step[i] % pitch == 0) {
      (step[i] < 0 ? first : last) += step[i] / pitch * (count[i] - 1);
      continue;
    }
    step[kept] = step[i];
    count[kept++] = count[i];
  }
  dims = kept;
  const ByteRange r = range();
  const int64_t row = r.begin >= 0 ? r.begin / pitch : -((pitch - 1 - r.begin) / pitch);
  first += row;
  last += row;
  offset -= row * pitch;
  return r.end - row * pitch <= pitch;
}

bool ByteWalk::is_dense() const {
  int64_t reach = element;
  for (int found = 0; found < dims; ++found) {
    int next = 0;
    while (next < dims && std::abs(step[next]) != reach) ++next;
    if (next == dims) return false;
    reach *= count[next];
  }
  return true;
}

bool overlaps(ByteWalk a, ByteWalk b) {
  for (;;) {
    const ByteRange ra = a.range(), rb = b.range();
    if (ra.end <= rb.begin || rb.end <= ra.begin) return false;
    int64_t pitch = 0;
    for (const ByteWalk* w : {&a, &b})
      for (int i = 0; i < w->dims; ++i) pitch = std::max(pitch, std::abs(w->step[i]));
    if (pitch == 0) return true;
    int64_t a0, a1, b0, b1;
    const bool rows = a.take_rows(pitch, a0, a1) & b.take_rows(pitch, b0, b1);
    if (!rows) return true;
    if (a1 < b0 || b1 < a0) return false;
  }
}

bool overlaps(const Access& a, const Access& b) {
  const Partitions pa = partitions_of(a), pb = partitions_of(b);
  return pa.begin < pb.end && pb.begin < pa.end && overlaps(ByteWalk(a), ByteWalk(b));
}

bool overlaps_itself(const Access& a) {
  for (int i = a.on_chip() ? 1 : 0; i < a.ndim; ++i)
    if (a.dims[i].step == 0 && a.dims[i].count > 1) return true;
  const ByteWalk w(a);
  std::array<int, Access::kMaxDims> order{};
  for (int i = 0; i < w.dims; ++i) order[static_cast<size_t>(i)] = i;
  std::sort(order.begin(), order.begin() + w.dims,
            [&](int x, int y) { return std::abs(w.step[x]) < std::abs(w.step[y]); });
  int64_t reach = w.element;
  bool nested = true;  // each dim steps over all that the smaller ones reach
  for (int i = 0; i < w.dims; ++i) {
    const auto dim = static_cast<size_t>(order[static_cast<size_t>(i)]);
    nested = nested && std::abs(w.step[dim]) >= reach;
    reach += std::abs(w.step[dim]) * (w.count[dim] - 1);
  }
  if (nested) return false;
  std::vector<ByteRange> runs;
  if (!byte_runs(a, runs)) return false;
  int64_t bytes = w.element;
  for (int i = 0; i < w.dims; ++i) bytes *= w.count[i];
  for (const ByteRange& r : runs) bytes -= r.end - r.begin;
  return bytes > 0;
}

bool is_dense(const Access& a) { return ByteWalk(a).is_dense(); }

Partitions partitions_of(const Access& a) {
  if (!a.on_chip()) return {0, 1};
  return {a.partition, a.partition + (a.ndim && a.dims[0].step ? a.dims[0].count : 1)};
}

bool byte_runs(const Access& a, std::vector<ByteRange>& runs, size_t most) {
  ByteWalk w(a);
  for (int i = 0; i < w.dims; ++i) {  // rising steps from the lowest byte, the smallest first
    if (w.step[i] < 0) {
      w.offset += w.step[i] * (w.count[i] - 1);
      w.step[i] = -w.step[i];
    }
    for (int k = i; k > 0 && w.step[k] < w.step[k - 1]; --k) {
      std::swap(w.step[k], w.step[k - 1]);
      std::swap(w.count[k], w.count[k - 1]);
    }
  }
  int inner = 0;
  int64_t run = w.element;
  for (; inner < w.dims && w.step[inner] <= run; ++inner) run += w.step[inner] * (w.count[inner] - 1);
  size_t total = 1;
  for (int i = inner; i < w.dims; ++i)
    if ((total *= static_cast<size_t>(w.count[i])) > most) return false;

  runs.clear();
  runs.reserve(total);
  std::array<int64_t, Access::kMaxDims> at{};
  int64_t begin = w.offset;
  bool rising = true;
  for (size_t n = 0; n < total; ++n) {
    if (!runs.empty() && begin < runs.back().begin) rising = false;
    if (!runs.empty() && begin <= runs.back().end && rising)
      runs.back().end = std::max(runs.back().end, begin + run);
    else
      runs.push_back({begin, begin + run});
    for (int i = inner; i < w.dims; ++i) {
      begin += w.step[i];
      if (++at[i] < w.count[i]) break;
      begin -= w.step[i] * w.count[i];
      at[i] = 0;
    }
  }
  if (rising) return true;
  std::sort(runs.begin(), runs.end(), [](const ByteRange& x, const ByteRange& y) { return x.begin < y.begin; });
  size_t kept = 0;
  for (size_t n = 1; n < runs.size(); ++n) {
    if (runs[n].begin <= runs[kept].end)
      runs[kept].end = std::max(runs[kept].end, runs[n].end);
    else
      runs[++kept] = runs[n];
  }
  runs.resize(kept + 1);
  return true;
}

std::optional<CommonBytes> common_bytes(const Access& a, const Access& b) {
  if (!overlaps(a, b)) return {};
  const Partitions pa = partitions_of(a), pb = partitions_of(b);
  CommonBytes common{{std::max(pa.begin, pb.begin), std::min(pa.end, pb.end)}, {0, 0}, 0};
  std::vector<ByteRange> ra, rb;
  if (!byte_runs(a, ra) || !byte_runs(b, rb)) {  // too fine to list: the ranges' intersection
    const ByteRange x = ByteWalk(a).range(), y = ByteWalk(b).range();
    common.first = {std::max(x.begin, y.begin), std::min(x.end, y.end)};
    common.bytes = common.first.end - common.first.begin;
    return common;
  }
  for (size_t i = 0, k = 0; i < ra.size() && k < rb.size();) {
    const ByteRange both{std::max(ra[i].begin, rb[k].begin), std::min(ra[i].end, rb[k].end)};
    if (both.begin < both.end) {
      if (common.bytes == 0) common.first = both;
      common.bytes += both.end - both.begin;
    }
    ra[i].end < rb[k].end ? ++i : ++k;
  }
  if (common.bytes == 0) return {};
  return common;
}

}  // namespace trn
