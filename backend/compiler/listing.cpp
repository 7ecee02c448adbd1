#include "backend/compiler/tile_program.h"

namespace trn::compiler {
namespace {

std::string name(uint8_t core, std::string_view what) { return "c" + std::to_string(core) + "." + std::string(what); }

}  // namespace

std::string listing(const TileProgram& p) {
  const Program& program = p.program;
  std::string out = "program " + program.name + " for " + program.target + "\n";
  for (size_t i = 0; i < program.slots.size(); ++i) {
    const Slot& s = program.slots[i];
    out += "  slot " + std::to_string(i) + " " + std::string(trn::name(s.use)) + " " + s.name + " " +
           std::string(trn::name(s.dtype)) + " " + std::to_string(s.bytes) + " bytes\n";
  }
  for (size_t i = 0; i < p.tiles.size(); ++i) {
    const VirtualTile& t = p.tiles[i];
    out += "  tile " + std::to_string(i) + " " + name(t.core, space_name(t.space)) + " " +
           std::to_string(t.partitions) + "x" + std::to_string(t.bytes) + " bytes";
    if (t.address >= 0) out += " @" + std::to_string(t.address);
    out += "\n";
  }
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& in = program.instructions[i];
    out += "  " + std::to_string(i) + " " + name(in.core, trn::name(in.engine)) + " " + std::string(row(in).name);
    if (row(in).is_dma) out += " " + std::string(kQueues[in.queue].profiler);
    const AccessList list = accesses(program, in);
    for (bool written : {true, false})
      for (int k = 0; k < list.count; ++k) {
        const Access& a = *list.access[k];
        if (list.written[k] != written) continue;
        const bool tile = a.on_chip() && !p.allocated;
        out += (written ? " -> " : " <- ") +
               (tile          ? "t" + std::to_string(a.buffer) + " "
                : a.on_chip() ? ""
                              : "slot " + std::to_string(a.buffer) + " ") +
               to_string(a);
      }
    for (const Wait& w : program.waits_of(in))
      out += " S[" + std::to_string(w.semaphore) + "]>=" + std::to_string(w.value);
    if (in.update != Instruction::kNoUpdate) out += " ++S[" + std::to_string(in.update) + "]";
    if (in.source) out += "  # " + program.sources[in.source];
    out += "\n";
  }
  return out;
}

std::string listing(const Program& p) {
  TileProgram placed;
  placed.program = p;
  placed.allocated = true;
  return listing(placed);
}

}  // namespace trn::compiler
