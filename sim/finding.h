#pragma once
#include <string>
#include <vector>

#include "isa/program.h"
#include "memory/overlap.h"

namespace trn {

// Something wrong with a Program: which rule, where, and what would repair it.
struct Finding {
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  RuleKind kind;
  Fault fault;
  std::string rule;                // the sentence, with the numbers that broke it
  uint32_t instruction = kNobody;  // the one that breaks it
  uint32_t other = kNobody;        // the earlier one that it collides with
  std::vector<std::string> notes;  // "bytes ...", "missing: ...", the cycle of waits
  bool advice = false;             // costs time on hardware, or leans on an assumed number: breaks nothing
};
using Findings = std::vector<Finding>;

std::string_view name(RuleKind k);           // "race"
std::string_view documentation(RuleKind k);  // page of the Neuron SDK documentation, or trnsim's own rule
// "#5 tensor_copy (vector)"
std::string who(const Program& p, uint32_t instruction);
// "bytes 0..2047 of sbuf partitions 0..127 (2048 of each)"
std::string describe(const Access& a, const CommonBytes& c, const Program& p);

// Several lines: the rule; both instructions as assembly, with their sources; the notes; the page.
std::string explain(const Finding& f, const Program& p);
// The same as the one exception type: the rule, with the rest as context.
Error as_error(const Finding& f, const Program& p);

}  // namespace trn
