#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "isa/operands.h"

// Rules that several cards share. Each returns nothing, or the broken rule as a sentence with the numbers that broke
// it.
namespace trn::rules {

// Sentence from strings and integers.
template <class... T>
std::string say(const T&... parts) {
  std::string text;
  auto add = [&text](const auto& part) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(part)>>)
      text += std::to_string(part);
    else
      text += part;
  };
  (add(parts), ...);
  return text;
}
template <class... T>
Verdict illegal(const T&... parts) {
  return Complaint{Fault::illegal, say(parts...)};
}
template <class... T>
Verdict breaks(RuleKind kind, const T&... parts) {
  return Complaint{Fault::illegal, say(parts...), kind};
}

// A tile in SBUF or PSUM: partition count and start (trn2.md section 4), pattern, bytes inside one partition, dtype
// that engines can read. `read`: the partition step may be 0 (one partition read by all). `dma`: a DMA engine's side,
// where any start partition and 64-bit storage dtypes are fine.
Verdict tile(std::string_view field, const Access& a, const Spec& s, bool read = true, bool dma = false);
// No byte twice: which of its elements would stay is undefined.
Verdict written_once(std::string_view field, const Access& a);
// As tile; four packed elements are a word.
Verdict packed_tile(std::string_view field, Access a, const Spec& s, bool read = true);
// A [P, 1] tile or an immediate, for `partitions` partitions.
Verdict scalar_operand(std::string_view field, const Operand& o, int partitions, const Spec& s);
// A [P, 1] tile.
Verdict column(std::string_view field, const Access& a, int partitions, const Spec& s);
// Same partitions and elements per partition; shapes may differ.
Verdict same_size(std::string_view field, const Access& a, std::string_view other_field, const Access& b);
Verdict in_space(std::string_view field, const Access& a, Space space);
// GpSimd has no path to PSUM.
Verdict engine_reach(Engine e, std::initializer_list<const Access*> operands);
// Two inputs of one instruction cannot both come from PSUM.
Verdict not_both_psum(std::string_view first, const Access& a, std::string_view second, const Access& b);
Verdict runs_on(EngineSet engines, Engine e);
// Whole access inside one PSUM bank.
Verdict one_bank(std::string_view field, const Access& a, const Spec& s);

// A binary operator of `engine` on tiles of these dtypes (dst first): bitvec operators want integers everywhere.
Verdict alu(std::string_view field, AluOp op, Engine e, std::initializer_list<Dtype> dtypes);
// An operator with a scalar operand: unary or binary; operand tiles are float32, or integers with integer data.
Verdict alu_with_scalar(std::string_view field, AluOp op, std::string_view operand_field, const Operand& o, Engine e,
                        Dtype dst, Dtype data);
Verdict reduction(std::string_view field, AluOp op, std::initializer_list<Dtype> dtypes);

}  // namespace trn::rules
