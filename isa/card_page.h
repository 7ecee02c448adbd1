#pragma once
#include <string>
#include <string_view>

#include "isa/spec.h"

namespace trn {

// One card as a person wants it documented, for one machine: what it does, arguments with defaults, examples that are
// legal with their times and examples that are refused with the rule, and the machine's numbers that the time rests on
// with their provenance. Also one ALU operator or activation function. Throws trn::Error(illegal) for an unknown name.
std::string card_text(std::string_view name, const Spec& s);
std::string card_markdown(std::string_view name, const Spec& s);
std::string card_json(std::string_view name, const Spec& s);

// The table for a terminal: a line for each card, operator and function.
std::string isa_text(const Spec& s);

}  // namespace trn
