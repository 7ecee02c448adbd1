#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "isa/argument_pool.h"
#include "isa/card.h"
#include "isa/registers.h"

namespace trn {

// Wait until semaphore >= value + per * R[reg] before starting, reg being a register of the waiting engine.
//
// Semaphores start a Program at 0 (the runtime clears them between Programs: EVENT_SEMAPHORE_RANGE_CLEAR in public
// profiles) and only count up, by one for each completion. So inside a loop it is the threshold that moves: with a
// producer that posts `per` times an iteration, iteration n waits for value + per * n, which a loop counter or any
// other register holds. A threshold of 0 or less is met at once: the first iteration of a loop-carried dependence.
struct Wait {
  uint16_t semaphore = 0;
  uint8_t reg = kNoRegister;
  uint8_t per = 0;  // 0 unless there is a register
  uint32_t value = 0;

  constexpr Wait() = default;
  constexpr Wait(uint16_t s, uint32_t v, uint8_t r = kNoRegister, uint8_t each = 0)
      : semaphore(s), reg(r), per(each), value(v) {}
  bool is_dynamic() const { return reg != kNoRegister; }
  friend bool operator==(const Wait&, const Wait&) = default;
};
static_assert(sizeof(Wait) == 8);

// One instruction of one engine's stream. 20 bytes; its Args stand in Program::words, where equal ones may be one.
struct Instruction {
  uint16_t card = 0;             // index in isa.h's list
  Engine engine = Engine::sync;  // stream that issues it
  uint8_t core = 0;              // physical core of the logical core (0 or 1)
  uint8_t queue = 0;             // DMA queue, for DMA cards
  uint8_t waits = 0;             // number of Program::waits from first_wait
  uint16_t update = kNoUpdate;   // semaphore incremented by one at completion
  uint32_t first_wait = 0;
  uint32_t args = 0;    // first word in Program::words
  uint32_t source = 0;  // Program::sources index: what it came from; 0 = unknown
  static constexpr uint16_t kNoUpdate = 0xFFFF;
};

enum class SlotUse : uint8_t { input, output, inout, scratch, constant };

constexpr std::string_view name(SlotUse u) {
  constexpr std::string_view names[] = {"input", "output", "inout", "scratch", "constant"};
  return names[static_cast<int>(u)];
}

// An HBM buffer that a Program names. Inputs and outputs are bound at execution (>= bytes); scratch is the runtime's; a
// constant's bytes stand in Program::constants at constant_offset.
struct Slot {
  std::string name;
  SlotUse use = SlotUse::input;
  Dtype dtype = Dtype::float32;
  int64_t bytes = 0;
  int64_t constant_offset = 0;
  std::vector<int64_t> shape;  // of the tensor, for people; addressing is by Access
  friend bool operator==(const Slot&, const Slot&) = default;
};

// What every door builds: instruction streams of one logical core (1 or 2 physical cores). `instructions` is one
// sequence; an engine's stream is the subsequence with its (core, engine).
//
// Most Programs are straight lines: the sequence itself is a legal order, executing it front to back meets every wait.
// A Program with a card that acts on registers, branches or meets the other core (dispatch.h: has_control) has control
// flow instead: every engine goes its own way through its own stream, loops and branches included, as the hardware's
// sequencers do, and walk.h finds a legal order.
struct Program {
  std::string name;
  std::string target = "trn2";
  uint8_t cores = 1;
  std::vector<Slot> slots;
  std::vector<std::byte> constants;
  std::vector<Instruction> instructions;
  std::vector<Wait> waits;
  std::vector<uint64_t> words;  // arguments; instructions with equal ones may share them
  std::vector<std::string> sources{""};

  template <class C>
  typename C::Args args(const Instruction& i) const {
    typename C::Args a;
    std::memcpy(static_cast<void*>(&a), &words[i.args], sizeof a);
    return a;
  }
  const void* raw_args(const Instruction& i) const { return &words[i.args]; }
  std::span<const Wait> waits_of(const Instruction& i) const { return {waits.data() + i.first_wait, i.waits}; }

  // Stores the bytes of `a`; returns its first word's index. A long Program stores what is equal once.
  template <class Args>
  uint32_t push_args(const Args& a) {
    return pool.place(words_of(a), words);
  }
  // The same, to be rewritten in place: no other instruction has them.
  template <class Args>
  uint32_t push_own_args(const Args& a) {
    return ArgumentPool::append(words_of(a), words);
  }
  template <class Args>
  static std::array<uint64_t, (sizeof(Args) + 7) / 8> words_of(const Args& a) {
    static_assert(std::is_trivially_copyable_v<Args> && alignof(Args) <= 8);
    std::array<uint64_t, (sizeof a + 7) / 8> out{};
    std::memcpy(out.data(), &a, sizeof a);
    return out;
  }

  ArgumentPool pool;  // while the Program is built
};

// Stores equal arguments of a long Program once, and drops those that no instruction has.
void share_arguments(Program& p);

}  // namespace trn
