#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "memory/error.h"

namespace trn::replay {

// The names that one field goes by in different formats and tool versions.
class Names {
 public:
  Names(std::initializer_list<std::string_view> names) { add(names); }
  template <size_t N>
  Names(const std::string_view (&names)[N]) {
    add(names);
  }
  const std::string_view* begin() const { return names_.data(); }
  const std::string_view* end() const { return names_.data() + count_; }

 private:
  template <class List>
  void add(const List& names) {
    for (const std::string_view name : names) names_[count_++] = name;
  }
  std::array<std::string_view, 6> names_;
  size_t count_ = 0;
};

// Comma-separated text with a header (RFC 4180: fields may be quoted, quotes inside are doubled), read row by row.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {
    if (!next_line(columns_)) throw Error(Fault::illegal, "the table has no header", source_);
    for (auto& c : columns_)
      while (!c.empty() && (c.back() == '\r' || c.back() == ' ')) c.pop_back();
  }

  // Index of the first of `names` that is a column; -1 if none is.
  int column(Names names) const {
    for (const std::string_view name : names)
      for (size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i] == name) return static_cast<int>(i);
    return -1;
  }
  int required(Names names) const {
    const int at = column(names);
    if (at < 0) throw Error(Fault::illegal, "the table has no column '" + std::string(*names.begin()) + "'", source_);
    return at;
  }

  // False at the end. A row with fewer or more fields than the header is an error.
  bool next() {
    do {
      if (!next_line(fields_)) return false;
    } while (fields_.size() == 1 && fields_[0].empty());
    if (fields_.size() != columns_.size())
      throw Error(Fault::illegal,
                  "a row has " + std::to_string(fields_.size()) + " fields, not " + std::to_string(columns_.size()),
                  where());
    return true;
  }
  const std::string& text(int column) const {
    static const std::string kNone;
    return column < 0 ? kNone : fields_[static_cast<size_t>(column)];
  }
  int64_t number(int column) const {
    const std::string& field = text(column);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc{} || end != field.data() + field.size())
      throw Error(
          Fault::illegal,
          "'" + field.substr(0, 40) + "' in column '" + columns_[static_cast<size_t>(column)] + "' is no whole number",
          where());
    return value;
  }
  std::string where() const { return source_ + " line " + std::to_string(line_); }

 private:
  bool next_line(std::vector<std::string>& fields) {
    if (at_ >= text_.size()) return false;
    line_ += lines_in_row_;
    lines_in_row_ = 1;
    size_t n = 0;
    const auto fresh = [&]() -> std::string& {
      if (fields.size() <= n) fields.emplace_back();
      fields[n].clear();
      return fields[n++];
    };
    std::string* field = &fresh();
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (quoted) {
        if (c == '\n') ++lines_in_row_;
        if (c != '"')
          field->push_back(c);
        else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"')
          field->push_back(text_[++at_]);
        else
          quoted = false;
      } else if (c == '"') {
        quoted = true;
      } else if (c == ',') {
        field = &fresh();
      } else if (c == '\n') {
        ++at_;
        break;
      } else if (c != '\r') {
        field->push_back(c);
      }
    }
    if (quoted) throw Error(Fault::illegal, "a quoted field does not end", where());
    fields.resize(n);
    return true;
  }

  std::string_view text_;
  std::string source_;
  size_t at_ = 0;
  int64_t line_ = 0, lines_in_row_ = 1;
  std::vector<std::string> columns_, fields_;
};

}  // namespace trn::replay
