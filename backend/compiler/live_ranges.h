#pragma once
#include <cstdint>
#include <vector>

#include "backend/compiler/tile_program.h"

namespace trn::compiler {

// First and last instruction that touches a tile; first > last for a tile that nothing uses.
struct LiveRange {
  uint32_t first = 0xFFFFFFFF;
  uint32_t last = 0;
  bool used() const { return first <= last; }
  bool meets(const LiveRange& o) const { return first <= o.last && o.first <= last; }
};
std::vector<LiveRange> live_ranges(const TileProgram& p);

// Per-partition bytes that a tile takes of its memory: whole banks of PSUM, whole 64-byte lines of SBUF.
int64_t footprint(const VirtualTile& t, const Spec& s);

// What tiles of `space` may use of each partition.
int64_t capacity(Space space, const Spec& s);

}  // namespace trn::compiler
