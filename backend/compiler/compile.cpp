#include "backend/compiler/compile.h"

#include "backend/compiler/copy_kernel.h"
#include "backend/compiler/decompose.h"
#include "backend/compiler/dump.h"
#include "backend/compiler/islands.h"
#include "backend/compiler/row_kernel.h"
#include "backend/compiler/simplify.h"
#include "backend/compiler/split.h"

namespace trn::compiler {
namespace {

TileProgram tile(const Plan& p, const Spec& s) {
  TileBuilder t(p.graph.name, s);
  for (const Slot& slot : p.graph.slots) t.slot(slot);
  for (const Kernel& k : p.kernels) {
    switch (k.kind) {
      case Kernel::Kind::row: row_kernel(t, p, k); break;
      case Kernel::Kind::copy: copy_kernel(t, k.results[0].to, k.from); break;
      case Kernel::Kind::island: island_kernel(t, p, k); break;
    }
  }
  return std::move(t).finish();
}

}  // namespace

Program compile(const Graph& g, const Spec& s) {
  const Dump dump(g.name);
  dump("graph", g);
  Graph small = simplify(decompose(g));
  dump("simplify", small);
  const Plan plan = split(std::move(small));
  dump("split", plan);
  TileProgram tiles = tile(plan, s);
  dump("tile", tiles);
  tiles = schedule(std::move(tiles), s);
  dump("schedule", tiles);
  tiles = allocate(std::move(tiles), s);
  dump("allocate", tiles);
  return synchronise(std::move(tiles), s);
}

}  // namespace trn::compiler
