#pragma once
#include <vector>

#include "backend/compiler/tile_program.h"

namespace trn::compiler {

// A transfer between a tile and a slot as rectangles: partition `first + i` holds `bytes` from byte `at` of the tile,
// which stand at byte base + i * stride of the slot.
struct DmaPiece {
  uint32_t instruction, tile;
  int first, rows;
  int64_t at, bytes;
  int64_t base, stride;
  bool valid = true;

  // Of byte 0 of the piece on partition 0, had it one there: equal for pieces that put the same bytes on the same
  // partition.
  int64_t origin() const { return base - first * stride; }
};

// Empty if the transfer is no such thing, or of too many rectangles: elements that are scattered, cast or broadcast.
std::vector<DmaPiece> pieces_of(uint32_t instruction, const Access& tile, const Access& hbm);

// Whether the slot's bytes of two pieces may meet.
bool may_meet(const DmaPiece& a, const DmaPiece& b);

}  // namespace trn::compiler
