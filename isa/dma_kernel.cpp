#include "isa/dma_kernel.h"

#include <algorithm>

#include "isa/engine_cost.h"
#include "isa/rules.h"

namespace trn {

namespace {

// The side of an indirect DMA that is not indexed, row by row: its leading dims whose counts multiply to `rows`.
struct RowWalk {
  int dims = 0;
  int64_t rows = 1;
};

RowWalk leading_rows(const Access& a, int64_t rows) {
  RowWalk w;
  while (w.rows < rows && w.dims < a.ndim) w.rows *= a.dims[w.dims++].count;
  while (w.dims < a.ndim && a.dims[w.dims].count == 1) ++w.dims;
  return w;
}

}  // namespace

Verdict rules::dma_operand(std::string_view field, const Access& a, const Spec& s, bool read) {
  if (a.space != Space::sbuf && a.space != Space::hbm) return illegal(field, " must be in HBM or SBUF");
  if (a.space == Space::sbuf) return tile(field, a, s, read, true);
  if (a.ndim < 1 || a.ndim > Access::kMaxDims)
    return illegal(field, " must have 1 to ", Access::kMaxDims, " dims, not ", int{a.ndim});
  for (int i = 0; i < a.ndim; ++i) {
    if (a.dims[i].count < 1) return illegal(field, " dim ", i, " has ", a.dims[i].count, " elements");
    if (!read && a.dims[i].step == 0 && a.dims[i].count > 1)
      return illegal(field, " dim ", i, " has step 0: elements would be written twice");
  }
  if (byte_range(a).begin < 0) return illegal(field, " starts ", -byte_range(a).begin, " bytes before its buffer");
  return {};
}

Verdict rules::indirect(std::string_view src_field, const Access& src, std::string_view dst_field, const Access& dst,
                        const Access& index, bool selects_dst, const Spec& s) {
  if (auto bad = dma_operand("index", index, s)) return bad;
  if (is_float(index.dtype) || index.dtype == Dtype::boolean)
    return illegal("index must be of an integer dtype, not ", name(index.dtype));
  const Access& table = selects_dst ? dst : src;
  const Access& rows = selects_dst ? src : dst;
  if (auto bad = in_space(selects_dst ? dst_field : src_field, table, Space::hbm)) return bad;
  const int64_t row = table.free_elements(), n = index.elements();
  const auto field = selects_dst ? src_field : dst_field;
  if (rows.elements() != n * row)
    return illegal(field, " has ", rows.elements(), " elements, not ", n, " rows of ", row);
  if (leading_rows(rows, n).rows != n) return illegal(field, " leading dims do not make ", n, " rows");
  return {};
}

Transfer indirect_transfer(const Access& dst, const Access& src, int64_t rows, bool selects_dst) {
  Access table = selects_dst ? dst : src;
  table.dims[0].count = static_cast<int32_t>(rows);
  Transfer t = selects_dst ? engine_cost::transfer(table, src, true) : engine_cost::transfer(dst, table, true);
  // Rows lie anywhere: a descriptor never spans two of them.
  const int64_t row_bytes = table.free_elements() * std::max(size_of(dst.dtype), size_of(src.dtype));
  const int64_t total = t.rows * t.chunks * t.chunk_bytes;
  t.chunk_bytes = std::min(t.chunk_bytes, row_bytes);
  t.chunks = std::max<int64_t>(1, total / (t.rows * t.chunk_bytes));
  return t;
}

IndirectRows::IndirectRows(const Access& dst, const Access& src, const Access& index, bool selects_dst, OobMode oob,
                           const CoreMemory& m)
    : dst_(dst), src_(src), memory_(m), selects_dst_(selects_dst), oob_(oob) {
  read_indices(index, m, index_);
}

void IndirectRows::require_unique() const {
  auto sorted = index_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw Error(Fault::undefined, "index " + std::to_string(*twice) + " appears twice where unique_indices is set");
}

// move(nest, dst row, src row) in index order.
template <class Move>
void IndirectRows::for_rows(Move&& move) const {
  const Access& table = selects_dst_ ? dst_ : src_;
  const Access& other = selects_dst_ ? src_ : dst_;
  const RowWalk walk = leading_rows(other, static_cast<int64_t>(index_.size()));
  CopyNest nest;
  const bool joined =
      selects_dst_ ? join(dst_, 1, src_, walk.dims, memory_, nest) : join(dst_, walk.dims, src_, 1, memory_, nest);
  if (!joined)
    throw Error(Fault::unsupported, "indirect DMA: row shapes without a common nest",
                to_string(dst_) + " <- " + to_string(src_));

  std::byte* const table_base = address(table, memory_);
  const ptrdiff_t table_step = host_step(table, 0, memory_);
  const int32_t most = table.dims[0].count;
  std::byte* at = address(other, memory_);
  std::array<int32_t, Access::kMaxDims> place{};
  for (const int32_t i : index_) {
    if (i >= 0 && i < most) {
      std::byte* row = table_base + i * table_step;
      selects_dst_ ? move(nest, row, at) : move(nest, at, row);
    } else if (oob_ == OobMode::error) {
      throw Error(Fault::undefined,
                  std::string(kIndexOutOfBounds) + ": " + std::to_string(i) + " of " + std::to_string(most) + " rows",
                  to_string(table));
    }
    for (int d = walk.dims - 1; d >= 0; --d) {
      at += host_step(other, d, memory_);
      if (++place[d] < other.dims[d].count) break;
      at -= host_step(other, d, memory_) * place[d];
      place[d] = 0;
    }
  }
}

void IndirectRows::copy() const {
  const Dtype to = dst_.dtype, from = src_.dtype;
  const int size = size_of(to);
  for_rows([=](const CopyNest& n, std::byte* d, const std::byte* s) {
    to == from ? copy_nest(n, size, d, s) : convert_nest(n, to, d, from, s);
  });
}

void IndirectRows::combine(AluOp op) const {
  const Dtype to = dst_.dtype, from = src_.dtype;
  for_rows([=](const CopyNest& n, std::byte* d, const std::byte* s) { combine_nest(n, op, to, d, from, s); });
}

}  // namespace trn
