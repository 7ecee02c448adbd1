#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "isa/program.h"
#include "memory/large_pages.h"

namespace trn {

enum class Compare : uint8_t { at_least, equal, above, at_most, below };

// An instruction starts once `semaphore` (numbered over all cores of the Work) compares true.
struct SemaphoreWait {
  uint16_t semaphore = 0;
  Compare compare = Compare::at_least;
  uint32_t value = 0;
  bool met_by(uint32_t now) const {
    switch (compare) {
      case Compare::at_least: return now >= value;
      case Compare::equal: return now == value;
      case Compare::above: return now > value;
      case Compare::at_most: return now <= value;
      case Compare::below: return now < value;
    }
    return false;
  }
};

enum class Change : uint8_t { add, subtract, set };

// What an instruction does to `semaphore` at its completion.
struct SemaphoreUpdate {
  uint16_t semaphore = 0;
  Change change = Change::add;
  uint32_t value = 1;
};

// Who does the work of an instruction: an engine's pipeline, its sequencer alone (semaphores, branches, registers), or
// the DMA engines.
enum class Unit : uint8_t { pipeline, sequencer, dma };

// What the clock needs to know of one instruction, whatever it came from.
struct Record {
  uint32_t cost = 0;          // in Work::costs
  uint32_t first_wait = 0;    // in Work::waits
  uint32_t first_update = 0;  // in Work::updates
  uint16_t name = 0;          // in Work::names, for messages
  Engine engine = Engine::sync;
  uint8_t core = 0;
  uint8_t queue = 0;  // of Unit::dma
  uint8_t waits = 0, updates = 0;
  Unit unit = Unit::pipeline;
};

// A value that a semaphore takes without an instruction here: left by a preamble (at_ns <= 0), or posted by another
// core.
struct Preset {
  uint16_t semaphore = 0;
  uint32_t value = 0;
  double at_ns = 0;  // from the start
};

// The streams of one logical core as timed records: the one thing that simulate() times. An engine's stream is the
// subsequence with its (core, engine), in order. Made from a Program, or from a hardware profile (traces/replay.h).
struct Work {
  uint8_t cores = 1;
  LargeVector<Record> records;
  LargeVector<SemaphoreWait> waits;
  std::vector<SemaphoreUpdate> updates;
  std::vector<Cost> costs;  // equal ones are shared
  std::vector<Preset> presets;
  std::vector<std::string> names;

  std::span<const SemaphoreWait> waits_of(const Record& r) const { return {waits.data() + r.first_wait, r.waits}; }
  std::span<const SemaphoreUpdate> updates_of(const Record& r) const {
    return {updates.data() + r.first_update, r.updates};
  }
};

// Record i is instruction i of a straight line: control flow must be unrolled first.
Work work_of(const Program& p, const Spec& s);

// Shares equal costs: most instructions of a stream cost the same.
class CostPool {
 public:
  explicit CostPool(std::vector<Cost>& costs) : costs_(costs) {}
  uint32_t add(const Cost& c);
  uint32_t add(const Cost& c, size_t kind);  // of an instruction that mostly costs what the last one of its kind did

 private:
  static constexpr uint32_t kWays = 1024;
  std::vector<Cost>& costs_;
  std::vector<uint32_t> recent_ = std::vector<uint32_t>(kWays, UINT32_MAX);  // by hash
  std::vector<uint32_t> last_ = recent_;                                     // by kind
};

}  // namespace trn
