#include "isa/mx.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "isa/alu.h"
#include "isa/matmul_kernel.h"
#include "isa/rows.h"
#include "isa/rules.h"
#include "isa/strided_copy.h"
#include "memory/codec.h"

namespace trn {

namespace {

constexpr int kPacked = 4, kGroupPartitions = 8, kQuadrant = 32;

int64_t scale_row(int64_t p) { return p / kQuadrant * kQuadrant + p % kQuadrant / kGroupPartitions; }
// Partitions that the scales of `partitions` data partitions reach over.
int64_t scale_rows(int64_t partitions) { return scale_row(partitions - 1) + 1; }

// Words as unsigned integers of their width.
Access words_of(Access a) {
  a.dtype = size_of(a.dtype) == 4 ? Dtype::uint32 : Dtype::uint16;
  return a;
}
Access scales_of(Access a) {
  a.dtype = Dtype::float8_e8m0fnu;
  return a;
}

// A data tile's values in fp32: [4 P, n].
void dequantise(const MxOperand& o, const CoreMemory& m, std::vector<float>& values) {
  std::vector<int32_t> words;
  std::vector<float> scales;
  read_indices(words_of(o.data), m, words);
  read_floats(scales_of(o.scale), m, scales);
  const int64_t rows = o.data.partitions(), n = o.data.free_elements();
  values.resize(static_cast<size_t>(rows * kPacked * n));
  for (int64_t p = 0; p < rows; ++p)
    for (int64_t i = 0; i < n; ++i) {
      const float scale = scales[static_cast<size_t>(scale_row(p) * n + i)];
      const auto word = static_cast<uint32_t>(words[static_cast<size_t>(p * n + i)]);
      for (int e = 0; e < kPacked; ++e)
        values[static_cast<size_t>((p * kPacked + e) * n + i)] = packed_value(o.data.dtype, word, e) * scale;
    }
}

MatrixView matrix(const std::vector<float>& values, int64_t columns) {
  return {reinterpret_cast<const std::byte*>(values.data()), static_cast<ptrdiff_t>(columns * sizeof(float)),
          sizeof(float), Dtype::float32};
}

}  // namespace

Verdict rules::mx_pair(std::string_view field, const Access& data, std::string_view scale_field, const Access& scale,
                       const Spec& s, bool read) {
  for (const auto& [f, a] : {std::pair{field, &data}, {scale_field, &scale}}) {
    if (auto bad = in_space(f, *a, Space::sbuf)) return bad;
    if (auto bad = packed_tile(f, *a, s, read)) return bad;
  }
  if (!is_packed(data.dtype))
    return breaks(RuleKind::dtype, field, " must be of a packed dtype, not ", name(data.dtype));
  if (scale.dtype != Dtype::float8_e8m0fnu && scale.dtype != Dtype::uint8)
    return breaks(RuleKind::dtype, scale_field, " must be float8_e8m0fnu or uint8, not ", name(scale.dtype));
  const int64_t p = data.partitions();
  if (p % kQuadrant != 0)
    return breaks(RuleKind::shape, field, " has ", p, " partitions, not a multiple of ", kQuadrant);
  if (scale.partitions() != scale_rows(p))
    return breaks(RuleKind::shape, scale_field, " has ", scale.partitions(), " partitions, not ", scale_rows(p),
                  ": 4 in each quadrant of the data");
  if (scale.free_elements() != data.free_elements())
    return breaks(RuleKind::shape, scale_field, " has ", scale.free_elements(), " elements per partition but ", field,
                  " has ", data.free_elements());
  return {};
}

float packed_value(Dtype packed, uint32_t word, int i) {
  if (packed == Dtype::float8_e5m2_x4) return Codec<Dtype::float8_e5m2>::to_float(static_cast<uint8_t>(word >> 8 * i));
  if (packed == Dtype::float8_e4m3fn_x4)
    return Codec<Dtype::float8_e4m3fn>::to_float(static_cast<uint8_t>(word >> 8 * i));
  constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const uint32_t bits = word >> 4 * i;
  const float magnitude = kE2m1[bits & 7];
  return bits & 8 ? -magnitude : magnitude;
}

void run_matmul_mx(const Access& dst, const MxOperand& stationary, const MxOperand& moving, bool accumulate,
                   const CoreMemory& m) {
  static thread_local std::vector<float> a, b, sums, row;
  dequantise(stationary, m, a);
  dequantise(moving, m, b);
  const int64_t rows = stationary.data.free_elements(), columns = moving.data.free_elements();
  sums.resize(static_cast<size_t>(rows * columns));
  row.resize(static_cast<size_t>(columns));
  matmul(stationary.data.partitions() * kPacked, rows, columns, matrix(a, rows), matrix(b, columns), sums.data(),
         static_cast<ptrdiff_t>(columns * sizeof(float)), false);
  const Rows out(dst, m);
  for (int p = 0; p < rows; ++p) {
    float* sum = sums.data() + p * columns;
    if (accumulate)
      apply_float(AluOp::add, sum, out.floats(p, 0, columns, row.data()), sum, static_cast<size_t>(columns));
    out.store(p, 0, columns, sum);
  }
}

void run_quantize(const Access& dst, const Access& src, const Access& dst_scale, const CoreMemory& m) {
  const bool wide = dst.dtype == Dtype::float8_e5m2_x4;
  const int most = wide ? 15 : 8;
  const Rows scales(scales_of(dst_scale), m), words(words_of(dst), m);
  std::vector<float> x;
  read_floats(src, m, x);
  const int64_t n = dst.free_elements(), row = n * kPacked;
  for (int64_t first = 0; first < src.partitions(); first += kGroupPartitions)
    for (int64_t i = 0; i < n; ++i) {
      float largest = 0;
      bool finite = true;
      for (int64_t p = first; p < first + kGroupPartitions; ++p)
        for (int64_t e = 0; e < kPacked; ++e) {
          const float v = std::fabs(x[static_cast<size_t>(p * row + i * kPacked + e)]);
          finite = finite && std::isfinite(v);
          largest = std::max(largest, v);
        }
      const int exponent = largest > 0 ? std::ilogb(largest) - (most - 1) : -127;
      const float scale = finite ? std::ldexp(1.0f, std::clamp(exponent, -127, 127)) : std::nanf("");
      scales.store(static_cast<int>(scale_row(first)), i, 1, &scale);
      for (int64_t p = first; p < first + kGroupPartitions; ++p) {
        uint32_t word = 0;
        for (int e = 0; e < kPacked; ++e) {
          const float v = x[static_cast<size_t>(p * row + i * kPacked + e)] / scale;
          const uint8_t bits =
              wide ? Codec<Dtype::float8_e5m2>::from_float(v) : Codec<Dtype::float8_e4m3fn>::from_float(v);
          word |= uint32_t{bits} << 8 * e;
        }
        const auto value = static_cast<int32_t>(word);
        words.store(static_cast<int>(p), i, 1, &value);
      }
    }
}

}  // namespace trn
