#include "isa/dma_kernel.h"

#include <algorithm>

#include "isa/engine_cost.h"
#include "isa/matmul_operands.h"
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

[[noreturn]] void out_of_bounds(int32_t index, const Access& table) {
  throw Error(Fault::undefined,
              std::string(kIndexOutOfBounds) + ": " + std::to_string(index) + " of " +
                  std::to_string(table.dims[0].count) + " rows",
              to_string(table));
}

}  // namespace

Verdict rules::dma_operand(std::string_view field, const Access& a, const Spec& s, bool read) {
  if (a.space != Space::sbuf && a.space != Space::hbm) return illegal(field, " must be in HBM or SBUF");
  if (a.space == Space::sbuf) return tile(field, a, s, read, true);
  if (a.ndim < 1 || a.ndim > Access::kMaxDims)
    return breaks(RuleKind::shape, field, " must have 1 to ", Access::kMaxDims, " dims, not ", int{a.ndim});
  for (int i = 0; i < a.ndim; ++i) {
    if (a.dims[i].count < 1) return breaks(RuleKind::shape, field, " dim ", i, " has ", a.dims[i].count, " elements");
  }
  if (byte_range(a).begin < 0)
    return breaks(RuleKind::bounds, field, " starts ", -byte_range(a).begin, " bytes before its buffer");
  return read ? Verdict{} : written_once(field, a);
}

Verdict rules::castable(Dtype dst, Dtype src) {
  if ((is_packed(dst) || is_packed(src)) && dst != src)
    return breaks(RuleKind::dtype, "a packed dtype cannot be cast: src is ", name(src), ", dst ", name(dst));
  return {};
}

Verdict rules::descriptors(DgeMode mode, bool is_indirect, Engine e, const Spec& s) {
  const bool v2 = s.generation < Generation::trn2;
  if (is_indirect && v2) return illegal("an indirect transfer needs trn2 (NeuronCore-v3); this machine is ", s.name);
  if (is_indirect && mode != DgeMode::unknown && mode != DgeMode::swdge)
    return illegal("dge_mode must be unknown or swdge for an indirect transfer, not ", name(mode));
  if (mode != DgeMode::hwdge) return {};
  if (v2) return illegal("dge_mode hwdge needs trn2 (NeuronCore-v3); this machine is ", s.name);
  if (e != Engine::scalar && e != Engine::sync)
    return breaks(RuleKind::engine, "dge_mode hwdge is triggered by scalar or sync, not ", name(e));
  return {};
}

Verdict rules::dma_priority(int32_t priority, const Spec& s) {
  if (priority < 0 || priority > 3) return illegal("priority must be from 0 to 3, not ", priority);
  if (priority != 0 && s.generation < Generation::trn3)
    return illegal("priority needs trn3 (NeuronCore-v4); this machine is ", s.name);
  return {};
}

Verdict rules::indirect(std::string_view src_field, const Access& src, std::string_view dst_field, const Access& dst,
                        const Access& index, bool selects_dst, const Spec& s) {
  if (auto bad = dma_operand("index", index, s)) return bad;
  if (is_float(index.dtype) || index.dtype == Dtype::boolean)
    return breaks(RuleKind::dtype, "index must be of an integer dtype, not ", name(index.dtype));
  const Access& table = selects_dst ? dst : src;
  const Access& rows = selects_dst ? src : dst;
  if (auto bad = in_space(selects_dst ? dst_field : src_field, table, Space::hbm)) return bad;
  const int64_t row = table.free_elements(), n = index.elements();
  const auto field = selects_dst ? src_field : dst_field;
  if (rows.elements() != n * row)
    return breaks(RuleKind::shape, field, " has ", rows.elements(), " elements, not ", n, " rows of ", row);
  if (leading_rows(rows, n).rows != n) return breaks(RuleKind::shape, field, " leading dims do not make ", n, " rows");
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
      out_of_bounds(i, table);
    }
    for (int d = walk.dims - 1; d >= 0; --d) {
      at += host_step(other, d, memory_);
      if (++place[d] < other.dims[d].count) break;
      at -= host_step(other, d, memory_) * place[d];
      place[d] = 0;
    }
  }
}

void run_dma_reduce(const Access& dst, AluOp op, std::span<const Access* const> sources, const CoreMemory& m) {
  bool whole = !is_float(dst.dtype);
  for (const Access* s : sources) whole = whole && (!s->present() || !is_float(s->dtype));
  static thread_local std::vector<float> sum, next;
  static thread_local std::vector<int32_t> int_sum, int_next;
  bool first = true;
  for (const Access* s : sources) {
    if (!s->present()) continue;
    if (whole) {
      read_indices(*s, m, first ? int_sum : int_next);
      if (!first) apply_int(op, false, int_sum.data(), int_sum.data(), int_next.data(), int_sum.size());
    } else {
      read_floats(*s, m, first ? sum : next);
      if (!first) apply_float(op, sum.data(), sum.data(), next.data(), sum.size());
    }
    first = false;
  }
  whole ? write_indices(dst, m, int_sum) : write_floats(dst, m, sum);
}

namespace {

// Elements as their bits.
Access bits_of(Access a) {
  a.dtype = size_of(a.dtype) == 2 ? Dtype::uint16 : Dtype::uint32;
  return a;
}

}  // namespace

namespace {

// Bytes from an operand's start to element `index` of a row-major walk of `dims`.
int64_t offset_in(std::span<const Dim> dims, int64_t index, Dtype d) {
  int64_t elements = 0;
  for (size_t i = dims.size(); i-- > 0; index /= dims[i].count) elements += index % dims[i].count * dims[i].step;
  return elements * size_of(d);
}

// One plain transpose for each index of the middle dims, where dst's last dim is src's first.
bool run_transposes(const Access& dst, const Access& src, const CoreMemory& m) {
  if (src.on_chip() || dst.ndim < 3 || dst.dims[dst.ndim - 1u].count != src.dims[0].count) return false;
  const std::span to(dst.dims.data() + 1, dst.ndim - 2u), from(src.dims.data() + 1, src.ndim - 2u);
  Access columns = dst, rows = src;
  columns.ndim = rows.ndim = 2;
  columns.dims[1] = dst.dims[dst.ndim - 1u];
  rows.dims[1] = src.dims[src.ndim - 1u];
  const int64_t middle = src.elements() / rows.elements();
  for (int64_t i = 0; i < middle; ++i) {
    columns.offset = dst.offset + offset_in(to, i, dst.dtype);
    rows.offset = src.offset + offset_in(from, i, src.dtype);
    run_transpose(columns, rows, m);
  }
  return true;
}

}  // namespace

void run_axes_transpose(const Access& dst, const Access& src, const CoreMemory& m) {
  if (src.elements() > 0 && run_transposes(dst, src, m)) return;
  std::vector<int32_t> in, out;
  read_indices(bits_of(src), m, in);
  out.resize(in.size());
  const auto first = static_cast<int64_t>(src.dims[0].count),
             last = int64_t{src.dims[static_cast<size_t>(src.ndim) - 1].count};
  const int64_t middle = src.elements() / (first * last);
  auto at = out.begin();
  for (int64_t c = 0; c < last; ++c)
    for (int64_t b = 0; b < middle; ++b)
      for (int64_t a = 0; a < first; ++a) *at++ = in[static_cast<size_t>((a * middle + b) * last + c)];
  write_indices(bits_of(dst), m, out);
}

void run_gather_transpose(const Access& dst, const Access& src, const Access& index, OobMode oob, const CoreMemory& m) {
  const int64_t rows = dst.free_elements(), width = dst.partitions();
  const int64_t groups = index.free_elements(), deep = index.partitions();
  std::vector<int32_t> numbers, row, out;
  read_indices(index, m, numbers);
  read_indices(bits_of(dst), m, out);
  for (int64_t f = 0; f < rows; ++f) {
    const int32_t r = numbers[static_cast<size_t>(f % deep * groups + f / deep)];
    if (r < 0 || r >= src.dims[0].count) {
      if (oob == OobMode::skip) continue;
      out_of_bounds(r, src);
    }
    Access one = bits_of(src);
    one.offset += int64_t{r} * src.dims[0].step * size_of(src.dtype);
    one.dims[0].count = 1;
    read_indices(one, m, row);
    for (int64_t p = 0; p < width; ++p) out[static_cast<size_t>(p * rows + f)] = row[static_cast<size_t>(p)];
  }
  write_indices(bits_of(dst), m, out);
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
