#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "isa/index_kernels.h"
#include "isa/rows.h"
#include "isa/vector_kernels.h"

namespace trn {

namespace {

constexpr int kEight = 8;
constexpr int32_t kAbsent = -1;  // all ones in any width

// NaN is the largest value and equals itself (assumed: the documentation is silent), so that sorting by max8 loses no
// element.
bool greater(float a, float b) { return a > b || (std::isnan(a) && !std::isnan(b)); }
bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

float* buffer(int which, size_t n) {
  static thread_local std::array<std::vector<float>, 2> buffers;
  if (buffers[which].size() < n) buffers[which].resize(n);
  return buffers[which].data();
}

}  // namespace

void run_max8(const Access& dst, const Access& src, const CoreMemory& m) {
  const Rows d(dst, m), x(src, m);
  const auto n = static_cast<size_t>(x.elements());
  for (int p = 0; p < d.partitions(); ++p) {
    const float* row = x.floats(p, 0, n, buffer(0, n));
    std::array<float, kEight> best;
    int held = 0;
    for (size_t i = 0; i < n; ++i) {
      if (held == kEight && (i = find_greater(row, i, n, best[kEight - 1])) == n) break;
      if (held == kEight && !greater(row[i], best[kEight - 1])) continue;  // NaN against NaN
      int at = held < kEight ? held++ : kEight - 1;
      for (; at > 0 && greater(row[i], best[at - 1]); --at) best[at] = best[at - 1];
      best[at] = row[i];
    }
    d.store(p, 0, kEight, best.data());
  }
}

void run_find_index8(const Access& dst, const Access& data, const Access& vals, const CoreMemory& m) {
  const Rows d(dst, m), x(data, m), v(vals, m);
  const auto n = static_cast<size_t>(x.elements());
  for (int p = 0; p < d.partitions(); ++p) {
    const float* row = x.floats(p, 0, n, buffer(0, n));
    std::array<float, kEight> wanted;
    const float* values = v.floats(p, 0, kEight, wanted.data());
    std::array<int32_t, kEight> found;
    for (int i = 0; i < kEight; ++i) {
      // A value that was asked for before continues behind its last match.
      size_t from = 0;
      for (int j = i - 1; j >= 0; --j)
        if (same(values[j], values[i])) {
          from = found[j] == kAbsent ? n : static_cast<size_t>(found[j]) + 1;
          break;
        }
      from = find_equal(row, from, n, values[i]);
      found[i] = from < n ? static_cast<int32_t>(from) : kAbsent;
    }
    d.store(p, 0, kEight, found.data());
  }
}

void run_match_replace8(const Access& dst, const Access& data, const Access& vals, float imm, const Access& dst_index,
                        const CoreMemory& m) {
  const Rows d(dst, m), x(data, m), v(vals, m);
  std::optional<Rows> index;
  if (dst_index.present()) index.emplace(dst_index, m);
  const auto n = static_cast<size_t>(x.elements());
  for (int p = 0; p < d.partitions(); ++p) {
    const float* row = x.floats(p, 0, n, buffer(0, n));
    std::array<float, kEight> wanted;
    const float* values = v.floats(p, 0, kEight, wanted.data());
    std::array<int32_t, kEight> found;
    for (int i = kEight - 1; i >= 0; --i) {
      size_t from = 0;
      for (int j = i + 1; j < kEight; ++j)
        if (same(values[j], values[i])) {
          from = found[j] == kAbsent ? n : static_cast<size_t>(found[j]) + 1;
          break;
        }
      from = find_equal(row, from, n, values[i]);
      found[i] = from < n ? static_cast<int32_t>(from) : kAbsent;
    }
    float* out = buffer(1, n);
    std::copy_n(row, n, out);
    for (const int32_t at : found)
      if (at != kAbsent) out[at] = imm;
    d.store(p, 0, n, out);
    if (index) index->store(p, 0, kEight, found.data());
  }
}

}  // namespace trn
