#include <algorithm>
#include <cmath>

#include "isa/index_kernels.h"
#include "isa/rows.h"

namespace trn {

namespace {

constexpr int kGroup = 16;

struct Candidate {
  float value;
  int32_t place;
};
bool is_above(const Candidate& a, const Candidate& b) {
  if (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value))) return a.place > b.place;
  return std::isnan(a.value) || a.value > b.value;
}

}  // namespace

void run_topk(const Access& val_dst, const Access& idx_dst, const Access& src, int64_t n, int64_t k,
              const CoreMemory& m) {
  const Rows values(val_dst, m), places(idx_dst, m), x(src, m);
  std::vector<Candidate> all(static_cast<size_t>(n));
  for (int first = 0; first < x.partitions(); first += kGroup) {
    for (int64_t i = 0; i < n; ++i) {
      float buffer;
      all[static_cast<size_t>(i)] = {*x.floats(first + static_cast<int>(i % kGroup), i / kGroup, 1, &buffer),
                                     static_cast<int32_t>(i)};
    }
    std::partial_sort(all.begin(), all.begin() + k, all.end(), is_above);
    for (int64_t i = 0; i < k; ++i) {
      const Candidate& c = all[static_cast<size_t>(k - 1 - i)];
      const int p = first + static_cast<int>(i % kGroup);
      values.store(p, i / kGroup, 1, &c.value);
      places.store(p, i / kGroup, 1, &c.place);
    }
  }
}

}  // namespace trn
