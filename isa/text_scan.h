#pragma once
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include "memory/error.h"

namespace trn {

// Reads one line of text from left to right. Failing expectations throw trn::Error(illegal) that says what was expected
// and where.
class Scan {
 public:
  Scan(std::string_view line, int number) : line_(line), rest_(line), number_(number) {}

  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    if (!rest_.empty() && rest_.front() == ';') rest_ = {};
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  bool take(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  void expect(std::string_view literal) {
    if (!take(literal)) fail("expected '" + std::string(literal) + "'");
  }
  // Letters, digits and underscores.
  std::string_view word() {
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
    if (n == 0) fail("expected a name");
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  template <class T>
  T number(std::string_view what) {
    T value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error == std::errc::result_out_of_range) fail(std::string(what) + " is out of range");
    if (error != std::errc{}) fail("expected " + std::string(what));
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  std::string quoted();
  std::string_view rest() const { return rest_; }
  void drop(size_t n) { rest_.remove_prefix(n); }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(Fault::illegal, "assembly: " + what,
                "line " + std::to_string(number_) + ", column " + std::to_string(line_.size() - rest_.size() + 1) +
                    ": " + std::string(line_.substr(0, 160)));
  }

 private:
  std::string_view line_, rest_;
  int number_;
};

// "..." with \" \\ and \xNN for bytes that are not printable ASCII.
std::string quote(std::string_view s);

}  // namespace trn
