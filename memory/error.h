#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace trn {

// Whose fault an error is. The first three are the user's, the next three are ours on purpose, the last is our bug.
enum class Fault : unsigned char { illegal, undefined, unpredictable, unsupported, unmodelled, untested, internal };

constexpr std::string_view fault_name(Fault fault) {
  constexpr std::string_view names[] = {"illegal",    "undefined", "unpredictable", "unsupported",
                                        "unmodelled", "untested",  "internal"};
  return names[static_cast<int>(fault)];
}

// First words of the rule where an index read from data leaves its table: the runtime reports NRT status 1006 for it.
inline constexpr std::string_view kIndexOutOfBounds = "index out of bounds";

// The one exception type of everything below backend/. `rule` is the sentence that was broken; `context` says where:
// instruction, operand shapes, source line, documentation page.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, std::string rule, std::string context = {})
      : std::runtime_error(std::string(fault_name(fault)) + ": " + rule +
                           (context.empty() ? "" : " [" + context + "]")),
        fault_(fault),
        rule_(std::move(rule)),
        context_(std::move(context)) {}

  Fault fault() const { return fault_; }
  const std::string& rule() const { return rule_; }
  const std::string& context() const { return context_; }

 private:
  Fault fault_;
  std::string rule_;
  std::string context_;
};

}  // namespace trn
