#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "isa/dispatch.h"

namespace trn::compiler {

// An on-chip buffer before it has an address: `partitions` rows of `bytes`. Access::buffer of sbuf and psum operands is
// a tile's id.
struct VirtualTile {
  Space space;
  uint8_t core;
  int partitions;
  int64_t bytes;         // per partition
  uint32_t source = 0;   // Program::sources index
  int64_t address = -1;  // byte offset in each partition, once allocated
};

// What kernels emit and passes rewrite: instructions over virtual tiles, in a legal sequential order, without
// semaphores. `program.instructions[i].waits` are empty until synchronise().
struct TileProgram {
  Program program;
  std::vector<VirtualTile> tiles;
  bool allocated = false;  // operands hold addresses instead of tiles
};

// Passes, in this order. Each is deterministic and linear (or n log n) in instructions: a 4096-cube matmul has 20
// thousand. Reorders instructions inside a window so that no in-order engine waits where independent work exists;
// respects every data dependence. How full memory may be before instructions stop being moved ahead decides how much
// can overlap, and how often memory is waited for: `thorough` lets the simulator choose among many such limits.
enum class Effort : uint8_t { quick, thorough };
TileProgram schedule(TileProgram p, const Spec& s, Effort effort = Effort::quick);
// Gives tiles addresses; memory is reused oldest-first, which double-buffers loops. Throws trn::Error(unsupported) when
// a live set does not fit.
TileProgram allocate(TileProgram p, const Spec& s);
// Finds RAW, WAR and WAW dependences (byte-exact on chip, by slot range in HBM) and turns those that cross streams into
// waits on completion counts: one semaphore per (core, engine) and per (core, DMA queue). Transitively implied waits
// are dropped.
Program synchronise(TileProgram p, const Spec& s);

// A readable listing of any stage (dump.h).
std::string listing(const TileProgram& p);
std::string listing(const Program& p);

}  // namespace trn::compiler
