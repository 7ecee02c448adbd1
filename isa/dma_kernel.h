#pragma once
#include <vector>

#include "isa/operands.h"
#include "isa/strided_copy.h"

// What the DMA cards share.
namespace trn {

namespace rules {
// An operand that DMA can reach: SBUF, or HBM inside its slot.
Verdict dma_operand(std::string_view field, const Access& a, const Spec& s, bool read = true);
// Anything into anything, except that packed dtypes stay what they are.
Verdict castable(Dtype dst, Dtype src);
// dge_mode for an engine that triggers, a direct or indirect transfer, a machine.
Verdict descriptors(DgeMode mode, bool is_indirect, Engine e, const Spec& s);
Verdict dma_priority(int32_t priority, const Spec& s);
// Row-wise addressing: the indexed side's dims[0] are the table's rows, the other side holds one row for each index.
Verdict indirect(std::string_view src_field, const Access& src, std::string_view dst_field, const Access& dst,
                 const Access& index, bool selects_dst, const Spec& s);
}  // namespace rules

inline bool is_software(DgeMode mode, Engine e) {
  return mode == DgeMode::swdge || (mode == DgeMode::unknown && e == Engine::gpsimd);
}
Transfer indirect_transfer(const Access& dst, const Access& src, int64_t rows, bool selects_dst);

// The rows of an indirect DMA while it runs. An index out of range throws trn::Error(undefined), which is NRT status
// 1006, or is left out (OobMode::skip).
class IndirectRows {
 public:
  IndirectRows(const Access& dst, const Access& src, const Access& index, bool selects_dst, OobMode oob,
               const CoreMemory& m);
  void require_unique() const;  // throws trn::Error(undefined)
  void copy() const;
  void combine(AluOp op) const;

 private:
  template <class Move>
  void for_rows(Move&& move) const;

  const Access& dst_;
  const Access& src_;
  const CoreMemory& memory_;
  bool selects_dst_;
  OobMode oob_;
  std::vector<int32_t> index_;
};

// dst[last, middle..., first] = src[first, middle..., last].
void run_axes_transpose(const Access& dst, const Access& src, const CoreMemory& m);
// Column f of dst = row index[f mod P, f / P] of src.
void run_gather_transpose(const Access& dst, const Access& src, const Access& index, OobMode oob, const CoreMemory& m);

// dst = sources[0] op sources[1] op ..., in fp32 and rounded once; in 32-bit integers where all are integers.
void run_dma_reduce(const Access& dst, AluOp op, std::span<const Access* const> sources, const CoreMemory& m);

}  // namespace trn
