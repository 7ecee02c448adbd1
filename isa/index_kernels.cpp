#include "isa/index_kernels.h"

#include <vector>

#include "isa/rows.h"
#include "isa/rules.h"

namespace trn {

namespace {

int64_t elements(const Pattern& p) {
  int64_t n = 1;
  for (const Dim& d : p) n *= d.count;
  return n;
}

constexpr int32_t wrap(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }

// The values of partition 0.
void first_row(const AffineIndex& a, std::vector<int32_t>& row) {
  row.clear();
  for (int64_t w = 0; w < a.pattern[0].count; ++w)
    for (int64_t z = 0; z < a.pattern[1].count; ++z)
      for (int64_t y = 0; y < a.pattern[2].count; ++y) {
        const int64_t base = a.offset + w * a.pattern[0].step + z * a.pattern[1].step + y * a.pattern[2].step;
        for (int64_t x = 0; x < a.pattern[3].count; ++x) row.push_back(wrap(base + x * a.pattern[3].step));
      }
}

// The values of every partition in turn: body(partition, values).
template <class Body>
void for_rows(const AffineIndex& a, int partitions, Body&& body) {
  static thread_local std::vector<int32_t> first, row;
  first_row(a, first);
  row.resize(first.size());
  for (int p = 0; p < partitions; ++p) {
    apply_int(AluOp::add, false, row.data(), first.data(), wrap(static_cast<int64_t>(p) * a.channel_multiplier),
              first.size());
    body(p, row.data());
  }
}

}  // namespace

Verdict rules::pattern_covers(std::string_view field, const Pattern& p, std::string_view tile_field, const Access& a) {
  for (const Dim& d : p)
    if (d.count < 1) return illegal(field, " has a count of ", d.count);
  if (elements(p) != a.free_elements())
    return breaks(RuleKind::shape, field, " has ", elements(p), " elements but ", tile_field, " has ",
                  a.free_elements(), " per partition");
  return {};
}

Verdict rules::searched(std::string_view field, const Access& a) {
  const int64_t n = a.free_elements();
  if (n < 8 || n > 16384) return breaks(RuleKind::shape, field, " has ", n, " elements per partition, not 8 to 16384");
  return {};
}

Verdict rules::eight(std::string_view field, const Access& a, const Access& searched) {
  if (a.free_elements() != 8)
    return breaks(RuleKind::shape, field, " must have 8 elements per partition, not ", a.free_elements());
  if (a.partitions() != searched.partitions())
    return breaks(RuleKind::shape, field, " has ", a.partitions(), " partitions, not ", searched.partitions());
  return {};
}

Verdict rules::index_dtype(std::string_view field, Dtype d) {
  if (d != Dtype::uint16 && d != Dtype::uint32)
    return breaks(RuleKind::dtype, field, " must be uint16 or uint32, not ", name(d));
  return {};
}

void run_iota(const Access& dst, const AffineIndex& index, const CoreMemory& m) {
  const Rows d(dst, m);
  for_rows(index, d.partitions(), [&](int p, const int32_t* values) { d.store(p, 0, d.elements(), values); });
}

void run_affine_select(const Access& dst, const AffineIndex& index, const Access& on_true, float on_false,
                       AluOp compare, const CoreMemory& m) {
  const Rows d(dst, m), x(on_true, m);
  const int64_t n = d.elements();
  static thread_local std::vector<int32_t> predicate;
  static thread_local std::vector<float> in, out;
  predicate.resize(n), in.resize(n), out.resize(n);
  for_rows(index, d.partitions(), [&](int p, const int32_t* values) {
    apply_int(compare, false, predicate.data(), values, 0, n);
    const float* kept = x.floats(p, 0, n, in.data());
    for (int64_t i = 0; i < n; ++i) out[i] = predicate[i] ? kept[i] : on_false;
    d.store(p, 0, n, out.data());
  });
}

void run_sequence_bounds(const Access& dst, const Access& segment_ids, const CoreMemory& m) {
  const Rows d(dst, m), x(segment_ids, m);
  const int64_t n = x.elements();
  std::vector<float> buffer(n);
  std::vector<int32_t> bounds(2 * n);
  const float* id = x.floats(0, 0, n, buffer.data());
  for (int64_t first = 0, end = 0; first < n; first = end) {
    while (end < n && id[end] == id[first]) ++end;
    end = std::max(end, first + 1);  // a NaN is a segment alone
    const bool padding = id[first] == 0;
    for (int64_t i = first; i < end; ++i) {
      bounds[i] = static_cast<int32_t>(padding ? n : first);
      bounds[n + i] = static_cast<int32_t>(padding ? -1 : end);
    }
  }
  d.store(0, 0, 2 * n, bounds.data());
}

void run_nonzero(const Access& dst, const Access& src, int32_t index_offset, int32_t padding, const CoreMemory& m) {
  constexpr int kPartitionsPerCore = 16;
  const Rows d(dst, m), x(src, m);
  const int64_t n = x.elements();
  std::vector<float> buffer(n);
  std::vector<int32_t> out(n + 1);
  for (int p = 0; p < d.partitions(); ++p) {
    if ((dst.partition + p) % kPartitionsPerCore != 0) continue;
    const float* row = x.floats(p, 0, n, buffer.data());
    int32_t count = 0;
    for (int64_t i = 0; i < n; ++i)
      if (row[i] != 0) out[count++] = index_offset + static_cast<int32_t>(i);
    std::fill(out.begin() + count, out.end() - 1, padding);
    out.back() = count;
    d.store(p, 0, n + 1, out.data());
  }
}

}  // namespace trn
