#include "memory/access.h"

#include <algorithm>
#include <limits>

namespace trn {

namespace {

// First dim that walks bytes rather than partitions.
int first_free(const Access& a) { return a.on_chip() ? std::min<int>(1, a.ndim) : 0; }

}  // namespace

ByteRange byte_range(const Access& a) {
  int64_t low = 0, high = 0;
  for (int i = first_free(a); i < a.ndim; ++i) {
    if (a.dims[i].count <= 0) return {a.offset, a.offset};
    const int64_t reach = int64_t{a.dims[i].step} * (a.dims[i].count - 1);
    (reach < 0 ? low : high) += reach;
  }
  const int64_t size = size_of(a.dtype);
  return {a.offset + low * size, a.offset + (high + 1) * size};
}

bool is_contiguous(const Access& a) {
  int64_t next = 1;
  for (int i = a.ndim - 1; i >= first_free(a); --i) {
    if (a.dims[i].count == 1) continue;
    if (a.dims[i].step != next) return false;
    next *= a.dims[i].count;
  }
  return true;
}

Access simplified(Access a) {
  const int first = first_free(a);
  int kept = first;
  for (int i = first; i < a.ndim; ++i) {
    const Dim d = a.dims[i];
    if (d.count == 1) continue;
    if (kept > first) {
      Dim& outer = a.dims[kept - 1];
      const int64_t merged = int64_t{outer.count} * d.count;
      if (outer.step == int64_t{d.step} * d.count && merged <= std::numeric_limits<int32_t>::max()) {
        outer = {d.step, static_cast<int32_t>(merged)};
        continue;
      }
    }
    a.dims[kept++] = d;
  }
  std::fill(a.dims.begin() + kept, a.dims.end(), Dim{});
  a.ndim = static_cast<uint8_t>(kept);
  return a;
}

std::string to_string(const Access& a) {
  if (!a.present()) return "none";
  std::string text(space_name(a.space));
  text += ' ';
  text += name(a.dtype);
  if (!a.on_chip() || a.buffer != 0) text += " #" + std::to_string(a.buffer);
  if (a.on_chip()) {
    text += " p" + std::to_string(a.partition);
    if (a.ndim > 0) {
      text += '+' + std::to_string(a.dims[0].count);
      if (a.dims[0].step != 1) text += '/' + std::to_string(a.dims[0].step);
    }
  }
  text += " @" + std::to_string(a.offset);
  if (first_free(a) < a.ndim) text += ' ';
  for (int i = first_free(a); i < a.ndim; ++i)
    text += '[' + std::to_string(a.dims[i].step) + ',' + std::to_string(a.dims[i].count) + ']';
  return text;
}

}  // namespace trn
