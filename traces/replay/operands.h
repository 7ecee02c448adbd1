#pragma once
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/access.h"
#include "sim/work.h"

namespace trn::replay {

// A semaphore that an instruction names: its number and, where the profile tells, who updates it ("Tensor",
// "qSyncDynamicHW").
struct NamedWait {
  int semaphore;
  std::string_view updater;
  Compare compare;
  uint32_t value;
};
struct NamedUpdate {
  int semaphore;
  Change change;
  uint32_t value;
};

// The operands column of one instruction, e.g.
//   S[5] (Tensor)>=4 S[4] (Scalar)++@complete src=bfloat16@0x2000000[1,1,1,1][512,1,1,1] dst=fp32@0x4000[...]
//   channels=128
// Views point into the parsed text.
struct Operands {
  std::vector<NamedWait> waits;
  std::vector<NamedUpdate> updates;
  std::vector<std::pair<std::string_view, std::string_view>> fields;  // key=value
  std::vector<std::string_view> words;                                // the rest: "EXP", "128*128"

  std::string_view field(std::string_view key) const;  // empty if there is none
  int64_t number(std::string_view key, int64_t otherwise) const;
};

// Words that are no operand are kept in `words`; semaphore conditions that cannot be read throw trn::Error (illegal).
Operands parse_operands(std::string_view text);

// "fp32@0x4820[1,1,1,1][512,1,1,1]", innermost dim first, with `partitions`: an Access on chip; PSUM begins at
// 0x2000000. Nothing when `text` is no pattern or its dtype is unknown.
std::optional<Access> parse_access(std::string_view text, int64_t partitions);

// "[512,262144][4,128]": steps and counts of a DMA pattern in bytes, innermost first. Empty when it is none.
std::vector<std::pair<int64_t, int64_t>> parse_pattern(std::string_view text);

}  // namespace trn::replay
