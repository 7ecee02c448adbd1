#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "isa/card.h"

namespace trn {

// What a card says about itself, for people and for the Python signatures.
struct FieldDoc {
  std::string_view name;
  std::string_view type;  // "tile", "scalar or tile", "ALU operator", ...
  std::string_view doc;
  std::string initial;  // value that it has when it is not given; empty for operands
  bool written = false;
};
struct CardDoc {
  std::string_view name, doc, source;
  Status status;
  Generation since;
  EngineSet engines;
  bool is_dma;
  std::vector<FieldDoc> fields;
};

constexpr std::string_view name(Status s) {
  constexpr std::string_view names[] = {"measured", "documented", "assumed"};
  return names[static_cast<int>(s)];
}

// One entry per card, in the order of the one list.
const std::vector<CardDoc>& card_docs();

// The instruction set with its operators, activation functions and dtypes: what `trnsim isa` prints.
std::string isa_markdown();
std::string isa_json();

}  // namespace trn
