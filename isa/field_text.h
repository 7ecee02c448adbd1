#pragma once
#include <bit>
#include <cmath>
#include <string>

#include "isa/enum_names.h"
#include "isa/text_scan.h"

namespace trn {

// One argument as text and back, by type. print() appends; scan() reads all that print() writes and throws
// trn::Error(illegal) for anything else.

template <class T>
requires std::is_integral_v<T>
void print(std::string& out, T value) {
  if constexpr (std::is_same_v<T, bool>)
    out += value ? "true" : "false";
  else
    out += std::to_string(value);
}
void scan(Scan& in, bool& value);
void scan(Scan& in, int32_t& value);

// Shortest text that reads back as the same number; NaN keeps its bits.
void print(std::string& out, double value);
void print(std::string& out, float value);
void scan(Scan& in, double& value);
void scan(Scan& in, float& value);

template <class E>
requires std::is_enum_v<E>
void print(std::string& out, E value) { out += name(value); }
template <class E>
requires std::is_enum_v<E>
void scan(Scan& in, E& value) {
  const std::string_view word = in.word();
  const auto known = enum_named<E>(word);
  if (!known) in.fail("unknown name '" + std::string(word) + "'");
  value = *known;
}

// r5, or a whole number where a constant may stand.
void print(std::string& out, Register r);
void scan(Scan& in, Register& r);
void print(std::string& out, RegisterOperand o);
void scan(Scan& in, RegisterOperand& o);

void print(std::string& out, const Access& a);
void scan(Scan& in, Access& a);
void print(std::string& out, const Operand& o);
void scan(Scan& in, Operand& o);
void print(std::string& out, const Pattern& p);
void scan(Scan& in, Pattern& p);
void print(std::string& out, const RowColumn& p);
void scan(Scan& in, RowColumn& p);
void print(std::string& out, const ShuffleMask& m);
void scan(Scan& in, ShuffleMask& m);

}  // namespace trn
