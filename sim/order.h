#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "isa/dispatch.h"

namespace trn {

// `engine_order`: the consumer is to come later in its engine's stream, which suffices.
enum class Hazard : uint8_t { read_after_write, write_after_read, write_after_write, engine_order };

// Whether program order on one engine already gives what the dependence asks for. Engines read their operands before
// they start the next instruction, and the tensor engine's writes to PSUM land in order (accumulation relies on it). A
// DMA is not started by them but by their sequencer, which may be many instructions ahead (sequencer_queue_depth).
bool is_met_by_engine_order(const Instruction& producer, const Instruction& consumer, Hazard hazard);

// The sequences that a core keeps: each engine starts its instructions in order, and completes them in order; a DMA
// queue completes in order what one engine put into it. Two engines that feed one queue are two sequences: nobody knows
// who comes first.
class Streams {
 public:
  struct Place {
    uint16_t issuer, completer;
    uint32_t issued, completed;  // from 0, in its issuer and its completer
  };

  explicit Streams(const Program& p);

  const Place& of(uint32_t instruction) const { return places_[instruction]; }
  int issuers() const { return issuers_; }
  int completers() const { return completers_; }
  std::span<const uint32_t> issued_by(int issuer) const { return issued_.of(static_cast<size_t>(issuer)); }
  // Instructions that post a semaphore, in Program order.
  std::span<const uint32_t> posts(uint16_t semaphore) const {
    return semaphore < posts_.size() ? posts_.of(semaphore) : std::span<const uint32_t>{};
  }
  size_t semaphores() const { return posts_.size(); }

 private:
  // Instructions sorted by a key, in Program order for each.
  class Sorted {
   public:
    size_t size() const { return begin_.empty() ? 0 : begin_.size() - 1; }
    std::span<const uint32_t> of(size_t key) const {
      return {all_.data() + begin_[key], all_.data() + begin_[key + 1]};
    }
    // Once for each instruction; then place(); then add() once for each, in Program order.
    void count(size_t key);
    void place();
    void add(size_t key, uint32_t instruction) { all_[filled_[key]++] = instruction; }

   private:
    std::vector<uint32_t> begin_, filled_, all_;
  };

  std::vector<Place> places_;
  Sorted issued_, posts_;
  int issuers_ = 0, completers_ = 0;
};

// The run in which everything happens as soon as it may, except what is held back. Semaphores only rise, so what does
// not happen in it happens in no other.
class EagerRun {
 public:
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  // `held` never completes, and what completes behind it neither: its engine goes no further, while DMAs do.
  EagerRun(const Program& p, const Streams& s, uint32_t held = kNobody);

  bool started(uint32_t instruction) const;
  // The next instruction of an issuer that cannot start; kNobody if all of them did.
  uint32_t stuck(int issuer) const;
  uint32_t value(uint16_t semaphore) const { return values_[semaphore]; }
  bool done() const;

 private:
  void advance(int issuer);
  void complete(uint32_t instruction);

  const Program& p_;
  const Streams& streams_;
  uint32_t held_;
  std::vector<uint32_t> next_, values_;
  std::vector<std::vector<uint16_t>> waiting_;  // issuers, by semaphore
  std::vector<bool> blocked_;                   // completers behind what is held
  std::vector<uint16_t> ready_;
};

// What is certainly over when an instruction starts, in every run that the semaphores allow. Walks the Program from
// front to back, which must be an order in which it can run. A wait S >= v tells that a post happened if the count
// cannot reach v without it; where several streams post one semaphore that is decided from what an earlier pass found.
class Order {
 public:
  Order(const Program& p, const Streams& s);

  const Streams& streams() const { return streams_; }
  // To before the first instruction.
  void restart();
  // Moves to the next instruction, the first one at the first call.
  void next();
  // Is `earlier`'s use of an operand over when the current instruction starts? Never wrongly says yes.
  bool is_over(uint32_t earlier, bool written) const;
  // How many instructions of a completer are certainly complete when the current one starts.
  uint32_t completed(int completer) const;

 private:
  size_t issued(int issuer) const { return static_cast<size_t>(issuer); }
  size_t read(int issuer) const { return static_cast<size_t>(streams_.issuers() + issuer); }
  size_t complete(int completer) const { return static_cast<size_t>(2 * streams_.issuers() + completer); }

  const uint32_t* post_clock(const std::vector<uint32_t>& clocks, uint32_t instruction) const {
    return &clocks[size_t{post_[instruction]} * width_];
  }
  void wait_for(const Wait& w, uint32_t* now);
  uint32_t possible(std::span<const uint32_t> posts, uint32_t waiter, uint32_t without) const;
  void join(uint32_t* into, const uint32_t* other) const;

  const Program& p_;
  const Streams& streams_;
  size_t width_;
  // Posts by completer, of the semaphores that more than one of them posts.
  std::map<uint16_t, std::vector<std::vector<uint32_t>>> shared_;
  std::vector<uint32_t> post_;             // by instruction: row of its clock
  std::vector<uint32_t> clocks_, before_;  // at posts; of the pass before
  // Per issuer, per completer: rows of width_, which are how many of each issuer's instructions have been issued, how
  // many of those that it computes itself have been read, and how many of each completer's are complete.
  std::vector<uint32_t> known_, over_;
  std::vector<uint32_t> guarantees_;
  uint32_t at_ = 0;
  bool first_ = true;
};

}  // namespace trn
