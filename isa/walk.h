#pragma once
#include <array>
#include <atomic>
#include <map>
#include <vector>

#include "isa/dispatch.h"
#include "isa/sequencer.h"

namespace trn {

// Who is told of a walk. Arguments and waits have their registers' values in place; they live until the call returns.
class Walker {
 public:
  virtual ~Walker() = default;
  // Once for every instruction that is issued, in a legal order, meetings aside. Control cards perform their step
  // afterwards. `stream` is core * kEngines + engine.
  virtual void issue(uint32_t stream, uint32_t index, const void* args, std::span<const Wait> waits) = 0;
  // Core 0's and core 1's side of one meeting.
  struct Side {
    uint32_t stream, index;
    const void* args;
    std::span<const Wait> waits;
  };
  virtual void meet(const Side& core0, const Side& core1) = 0;
};

// How the errors of a run begin that are told apart by more than their fault.
inline constexpr std::string_view kDeadlock = "deadlock", kUnderflow = "semaphore underflow";
// The error of a run as a broken rule.
Complaint complaint_of(const Error& e);

// Goes through a Program with control flow as its engines would: each sequencer on its own, held up by its semaphores
// alone. One engine after the other goes on as far as it can, in the order of streams; instructions complete at once.
// So the order is a legal one and always the same, as it is where they take turns.
class Walk {
 public:
  struct Options {
    uint64_t most_steps = kMostSteps;
    std::array<const CoreMemory*, 2> memory{};  // by core, to load and store words; null: `loads` are replayed
    const std::atomic<bool>* cancelled = nullptr;
    uint64_t turn = UINT64_MAX;  // instructions that an engine issues before the next one has its turn
    bool may_end_early = false;  // after most_steps, instead of being endless
  };
  // What one launch may issue before it counts as an endless loop. A real NeuronCore would be busy for seconds.
  static constexpr uint64_t kMostSteps = 100'000'000;

  // `loads` is filled in where there is memory. The Program must have passed check(), or be on its way through it.
  Walk(const Program& p, const Spec& s, Walker& walker, Loads& loads, const Options& options);
  // Throws trn::Error: illegal where a register places an operand outside its memory (kIndexOutOfBounds) or breaks a
  // rule of its card; undefined for waits that are never met (kDeadlock, kUnderflow), an endless loop, an interruption
  // or an unset register; unmodelled where it must know a word that `loads` does not have; whatever `walker` throws.
  void run();
  uint64_t steps() const { return steps_; }
  // Does data place operands of the instruction that is told of now?
  bool placed_by_data(uint32_t stream) const {
    const Sequencer& q = engines_[stream].sequencer;
    return !q.registers.knows(placed_by_[q.index()]);
  }

 private:
  struct Waiting {
    Sequencer sequencer;
    std::vector<uint64_t> args;  // of the instruction at its place, resolved; empty: the Program's own
    std::vector<Wait> waits;
    bool in_meeting = false;
  };

  bool go_on(uint32_t stream);
  bool met(Waiting& w, const Instruction& i);
  const void* arguments(Waiting& w, const Instruction& i);
  bool meet(uint32_t stream, const Instruction& i);
  void complete(uint32_t stream, const Instruction& i);
  void count_step(const Instruction& i);
  bool may_be_posted(uint16_t semaphore) const;
  [[noreturn]] void stuck() const;

  const Program& p_;
  const Spec& spec_;
  Walker& walker_;
  Options options_;
  std::vector<Stream> streams_;
  std::vector<Waiting> engines_;
  std::vector<uint64_t> semaphores_;
  std::vector<uint64_t> placed_by_;  // by instruction: registers that place its operands
  std::map<std::pair<uint16_t, int32_t>, std::array<std::vector<uint32_t>, 2>> meetings_;  // streams, by card and tag
  uint64_t steps_ = 0;
};

}  // namespace trn
