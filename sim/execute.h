#pragma once
#include <atomic>
#include <span>

#include "isa/engine_state.h"
#include "isa/program.h"
#include "isa/sequencer.h"

namespace trn {

// Flip bit `bit` of what the n-th execution of `card` writes (every execution if nth < 0). Parsed from
// TRNSIM_INJECT=CARD[:NTH]:BIT.
struct Injection {
  int card = -1;  // -1: off
  int64_t nth = -1;
  int64_t bit = 0;  // counted through the written elements in pattern order
};
Injection parse_injection(std::string_view text);  // throws trn::Error(illegal)

// One physical core's on-chip memories and what its engines remember, kept between Programs as on hardware.
struct CoreState {
  PartitionedMemory sbuf, psum;
  EngineState engines;
  const Spec* spec;
  explicit CoreState(const Spec& s);  // which must outlive it
};

struct ExecuteOptions {
  const std::atomic<bool>* cancelled = nullptr;  // polled between instructions
  uint64_t most_steps = 100'000'000;             // of a Program with control flow: beyond, a loop counts as endless
};

// What the Program computes: every instruction's run on `cores[instruction.core]`, in Program order or, with control
// flow, in the order of walk.h. `slots` are bound by slot number. Returns what register_load has read: with it the
// same run can be timed. Throws trn::Error: undefined when `cancelled` becomes true ("interrupted"), for a deadlock and
// an endless loop; whatever instructions throw.
Loads execute(const Program& p, std::span<CoreState* const> cores, std::span<const std::span<std::byte>> slots,
              const ExecuteOptions& options);
Loads execute(const Program& p, std::span<CoreState* const> cores, std::span<const std::span<std::byte>> slots,
              const std::atomic<bool>* cancelled = nullptr);

// Process-wide switches.
void set_injection(const Injection& i);

}  // namespace trn
