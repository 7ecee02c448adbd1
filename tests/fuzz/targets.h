#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trn::test {

using Bytes = std::vector<std::byte>;
inline Bytes bytes_of(std::string_view s) {
  const auto b = std::as_bytes(std::span(s.data(), s.size()));
  return {b.begin(), b.end()};
}

// A parser under fuzzing. feed() takes any bytes: it returns if the parser accepts them, or refuses them with
// trn::Error; whatever is accepted must hold what the parser promises (it is written and read back the same, it can be
// checked, walked and timed). Anything else, thrown or crashed, is a fault.
struct FuzzTarget {
  std::string_view name;
  void (*feed)(std::span<const std::byte>);
  std::vector<Bytes> (*seeds)();        // valid inputs
  std::vector<std::string> (*words)();  // what mutations may put in whole
};
FuzzTarget profile_target();
std::span<const FuzzTarget> fuzz_targets();
const FuzzTarget& fuzz_target(std::string_view name);  // std::out_of_range if there is none

}  // namespace trn::test
