#include "isa/statistics_kernels.h"

#include <vector>

#include "isa/rows.h"

namespace trn {

void run_bn_stats(const Access& dst, const Access& data, const CoreMemory& m) {
  const Rows d(dst, m), x(data, m);
  const int64_t n = x.elements();
  std::vector<float> buffer(n), half(n);
  for (int p = 0; p < d.partitions(); ++p) {
    const float* row = x.floats(p, 0, n, buffer.data());
    float out[6];
    for (int odd = 0; odd < 2; ++odd) {
      const auto count = static_cast<size_t>((n + 1 - odd) / 2);
      for (size_t i = 0; i < count; ++i) half[i] = row[2 * i + odd];
      const float mean = reduce_float(AluOp::add, half.data(), count) / static_cast<float>(count);
      apply_float(AluOp::subtract, half.data(), half.data(), mean, count);
      apply_float(AluOp::multiply, half.data(), half.data(), half.data(), count);
      out[3 * odd] = static_cast<float>(count);
      out[3 * odd + 1] = mean;
      out[3 * odd + 2] = reduce_float(AluOp::add, half.data(), count);
    }
    d.store(p, 0, 6, out);
  }
}

void run_bn_aggr(const Access& dst, const Access& data, const CoreMemory& m) {
  const Rows d(dst, m), x(data, m);
  const int64_t n = x.elements();
  std::vector<float> buffer(n);
  for (int p = 0; p < d.partitions(); ++p) {
    const float* row = x.floats(p, 0, n, buffer.data());
    float count = 0, sum = 0, deviation = 0;
    for (int64_t i = 0; i < n; i += 3) count += row[i], sum += row[i] * row[i + 1];
    const float mean = sum / count;
    for (int64_t i = 0; i < n; i += 3) deviation += row[i + 2] + row[i] * (row[i + 1] - mean) * (row[i + 1] - mean);
    const float out[] = {mean, deviation / count};
    d.store(p, 0, 2, out);
  }
}

}  // namespace trn
