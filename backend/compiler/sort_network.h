#pragma once
#include "backend/compiler/tile_builder.h"

namespace trn::compiler {

// Sorts pairs (key, index) of int32 ascending, equal keys by index, with Batcher's bitonic network. Element e of a line
// is either column e of its partition, or (wide) partition e / F, column e % F of a tile [128, F], F a multiple of 128:
// one line over all partitions. Sizes are powers of two; indices must differ within a line.
struct Pairs {
  Access keys, indices;
};
Pairs sorted(TileBuilder& t, Pairs data, bool wide);

// e for every element, in either arrangement.
Access element_numbers(TileBuilder& t, int partitions, int64_t free, bool wide);

}  // namespace trn::compiler
