#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "backend/compiler/tile_program.h"
#include "memory/footprints.h"
#include "sim/order.h"

namespace trn::compiler {

// Walks a TileProgram in order and reports, for each instruction, the earlier ones that it must not overtake.
// Dependences that follow from a later write that covers the same bytes are left out. On-chip memory is told apart by
// tile, or by address once allocate() has given addresses.
class Dependences {
 public:
  struct Edge {
    uint32_t producer;
    Hazard hazard;
  };

  Dependences(const TileProgram& p, const Spec& s);

  // Edges of the next instruction, in no particular order, perhaps with repeats. Valid until the next call.
  const std::vector<Edge>& next();

 private:
  static constexpr uint32_t kNone = Footprints::kNone;

  const Footprints::Memory& memory_of(const Access& a, uint8_t core) const;
  void touch(const Access& a, bool written, const Instruction& i, bool anywhere);
  void read_anywhere(const Access& a, const Instruction& i);

  const TileProgram& p_;
  bool placed_;  // tiles have addresses
  Footprints used_;
  std::vector<Footprints::Memory> slots_, tiles_;  // by slot; by tile, or by (core, space)
  std::vector<uint32_t> registers_;                // per (core, engine): last instruction that used its accumulators
  // The last read of a slot by index from each engine's stream, and whether the slot was written since. Thousands of
  // gathers from one table wait for the same writes: each waits for the gather before it to be issued instead.
  struct IndexedRead {
    uint32_t last = kNone;
    bool stale = true;
  };
  std::map<std::pair<uint32_t, int>, IndexedRead> indexed_;
  std::vector<Edge> edges_;
  uint32_t at_ = 0;
};

}  // namespace trn::compiler
