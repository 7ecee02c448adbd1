#pragma once
#include "backend/compiler/tile_program.h"

namespace trn::compiler {

// Values stay on chip between kernels. TileProgram -> TileProgram, before schedule():
//   a load of what this Program has stored becomes another name of the stored tiles, or they become parts of the loaded
//   one, where partitions agree and SBUF has room;
//   tiles that are loaded, copied and turned alike are one (the panel that several products share);
//   scratch that nothing loads any more is not written.
// `share` of SBUF at most is alive where a value stays: what is left is what schedule() reorders in.
TileProgram keep_on_chip(TileProgram p, double share, const Spec& s);

}  // namespace trn::compiler
