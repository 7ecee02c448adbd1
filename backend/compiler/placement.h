#pragma once
#include "backend/compiler/tile_program.h"
#include "sim/finding.h"

namespace trn::compiler {

// Tiles that lie outside their memory, and pairs that share bytes while both are alive. `p`'s operands name tiles, and
// its tiles have addresses: as allocate() chose them, or as a kernel's author did.
Findings find_misplaced_tiles(const TileProgram& p, const Spec& s, size_t most = 32);

}  // namespace trn::compiler
