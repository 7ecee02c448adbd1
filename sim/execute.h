#pragma once
#include <atomic>
#include <span>

#include "isa/program.h"

namespace trn {

// Flip bit `bit` of what the n-th execution of `card` writes (every execution if nth < 0). Parsed from
// TRNSIM_INJECT=CARD[:NTH]:BIT.
struct Injection {
  int card = -1;  // -1: off
  int64_t nth = -1;
  int64_t bit = 0;  // counted through the written elements in pattern order
};
Injection parse_injection(std::string_view text);  // throws trn::Error(illegal)

// One physical core's on-chip memories, kept between Programs as on hardware.
struct CoreState {
  PartitionedMemory sbuf, psum;
  explicit CoreState(const Spec& s);
};

// What the Program computes: every instruction's run, in Program order (a legal order), on `cores[instruction.core]`.
// `slots` are bound by slot number. `cancelled` is polled between instructions; when it becomes true, throws
// trn::Error(undefined, "interrupted").
void execute(const Program& p, std::span<CoreState* const> cores, std::span<const std::span<std::byte>> slots,
             const std::atomic<bool>* cancelled = nullptr);

// Process-wide switches.
void set_injection(const Injection& i);

}  // namespace trn
