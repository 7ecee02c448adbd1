#pragma once
#include "backend/compiler/parts.h"
#include "backend/compiler/tile_program.h"

namespace trn::compiler {

// Graph -> Program for one logical core. The stages, each a function that can be printed before and after
// (TRNSIM_DUMP=dir):
//   decompose  writes composite primitives in simpler ones                              Graph -> Graph
//   simplify   folds constants and views, removes what nothing uses                       Graph -> Graph
//   split      groups nodes into kernels; values that cross kernels get HBM scratch slots  Graph -> Kernels
//   tile       writes each kernel with a TileBuilder, for one core or in parts for two     Kernels -> TileProgram
//   residency  keeps values on chip from kernel to kernel                                  TileProgram -> TileProgram
//   schedule, allocate, synchronise                                                        tile_program.h
Program compile(const Graph& g, const Spec& s, const Cores& cores = {});

}  // namespace trn::compiler
