#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program.h"
#include "memory/overlap.h"

namespace trn {

// Text that names instructions. Their names are put in when it is read: what is found in a run of a Program, loops
// written out, is told of the Program itself.
class Sentence {
 public:
  Sentence() = default;
  Sentence(std::string text) : text_(std::move(text)) {}
  Sentence(std::string_view text) : text_(text) {}
  Sentence(const char* text) : text_(text) {}

  friend Sentence who(uint32_t instruction);      // "#5 tensor_copy (vector)"
  friend Sentence mention(uint32_t instruction);  // "#5"
  friend Sentence operator+(Sentence a, const Sentence& b);

  // Instruction i of the run is origin[i] of the Program.
  void renumber(std::span<const uint32_t> origin);
  std::string in(const Program& p) const;

 private:
  struct Mention {
    size_t at;  // in text_
    uint32_t instruction;
    bool named;
  };
  Sentence(uint32_t instruction, bool named) : mentions_{{0, instruction, named}} {}

  std::string text_;
  std::vector<Mention> mentions_;
};
Sentence who(uint32_t instruction);
Sentence mention(uint32_t instruction);

// Something wrong with a Program: which rule, where, and what would repair it.
struct Finding {
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  RuleKind kind;
  Fault fault;
  Sentence rule;                   // with the numbers that broke it
  uint32_t instruction = kNobody;  // the one that breaks it
  uint32_t other = kNobody;        // the earlier one that it collides with
  std::vector<Sentence> notes;     // "bytes ...", "missing: ...", the cycle of waits
  bool advice = false;             // costs time on hardware, or leans on an assumed number: breaks nothing

  void renumber(std::span<const uint32_t> origin);
};
using Findings = std::vector<Finding>;

std::string_view name(RuleKind k);           // "race"
std::string_view documentation(RuleKind k);  // page of the Neuron SDK documentation, or trnsim's own rule
// "bytes 0..2047 of sbuf partitions 0..127 (2048 of each)"
std::string describe(const Access& a, const CommonBytes& c, const Program& p);

// Several lines: the rule; both instructions as assembly, with their sources; the notes; the page.
std::string explain(const Finding& f, const Program& p);
// The same as the one exception type: the rule, with the rest as context.
Error as_error(const Finding& f, const Program& p);

}  // namespace trn
