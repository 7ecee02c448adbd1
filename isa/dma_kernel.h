#pragma once
#include <vector>

#include "isa/operands.h"
#include "isa/strided_copy.h"

// What the DMA cards share.
namespace trn {

namespace rules {
// An operand that DMA can reach: SBUF, or HBM inside its slot.
Verdict dma_operand(std::string_view field, const Access& a, const Spec& s, bool read = true);
// Row-wise addressing: the indexed side's dims[0] are the table's rows, the other side holds one row for each index.
Verdict indirect(std::string_view src_field, const Access& src, std::string_view dst_field, const Access& dst,
                 const Access& index, bool selects_dst, const Spec& s);
}  // namespace rules

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

}  // namespace trn
