#pragma once
#include "backend/compiler/tile_builder.h"
#include "backend/compiler/view.h"

namespace trn::compiler {

// HBM to HBM. Where source and destination are contiguous along different dims, blocks go through SBUF and are turned
// by the tensor engine: a DMA would move single elements. Everything else is DMA alone.
void copy_kernel(TileBuilder& t, const View& to, const View& from);

}  // namespace trn::compiler
