#include "isa/text_scan.h"

namespace trn {

std::string quote(std::string_view s) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= ' ' && byte <= '~') {
      out += c;
    } else {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out + '"';
}

std::string Scan::quoted() {
  expect("\"");
  std::string out;
  for (;;) {
    if (rest_.empty()) fail("a quoted text does not end");
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (take("\"")) {
      out += '"';
    } else if (take("\\")) {
      out += '\\';
    } else if (take("x") && rest_.size() >= 2) {
      unsigned byte = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 2, byte, 16);
      if (error != std::errc{} || end != rest_.data() + 2) fail("expected two hexadecimal digits");
      rest_.remove_prefix(2);
      out += static_cast<char>(byte);
    } else {
      fail("unknown escape");
    }
  }
}

}  // namespace trn
