#include "backend/compiler/compile.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "backend/compiler/copy_kernel.h"
#include "backend/compiler/decompose.h"
#include "backend/compiler/dump.h"
#include "backend/compiler/islands.h"
#include "backend/compiler/residency.h"
#include "backend/compiler/row_kernel.h"
#include "backend/compiler/simplify.h"
#include "backend/compiler/split.h"
#include "sim/simulate.h"

namespace trn::compiler {
namespace {

void write(TileBuilder& t, const Plan& p, const Kernel& k) {
  switch (k.kind) {
    case Kernel::Kind::row: return row_kernel(t, p, k);
    case Kernel::Kind::copy: return copy_kernel(t, k.results[0].to, k.from);
    case Kernel::Kind::island: return island_kernel(t, p, k);
  }
}

TileProgram tile(const Plan& p, const Spec& s, const Cores& cores) {
  TileBuilder t(p.graph.name, s);
  for (const Slot& slot : p.graph.slots) t.slot(slot);
  for (const Kernel& k : p.kernels) {
    const int parts = parts_of(p, k, cores, s);
    for (int part = 0; part < parts; ++part) {
      t.begin_part(part, parts);
      write(t, p, k);
    }
    t.end_parts();
  }
  return std::move(t).finish();
}

// Access patterns count and step in 32 bits, also where they step over many rows at once.
void check_sizes(const Graph& g) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto fits = [](int64_t n) { return -kMost <= n && n <= kMost; };
  for (const Node& n : g.nodes) {
    int64_t elements = 1, reach = 0;
    for (const int64_t d : n.shape) elements = fits(d) && fits(elements) ? elements * d : kMost + 1;
    for (size_t i = 0; i < n.strides.size(); ++i)
      reach = fits(n.strides[i]) && fits(n.shape[i]) && fits(reach)
                  ? reach + std::max<int64_t>(n.shape[i] - 1, 0) * std::abs(n.strides[i])
                  : kMost + 1;
    if (!fits(elements) || !fits(reach))
      throw Error(Fault::unsupported, "a tensor of more than 2^31 - 1 elements, or that reaches over more", g.name);
  }
}

Program finished(TileProgram tiles, const Spec& s, const Dump& dump, Effort effort = Effort::quick) {
  dump("residency", tiles);
  tiles = schedule(std::move(tiles), s, effort);
  dump("schedule", tiles);
  tiles = allocate(std::move(tiles), s);
  dump("allocate", tiles);
  share_arguments(tiles.program);  // before, each had virtual tiles of its own
  return synchronise(std::move(tiles), s);
}

// How much of SBUF is best given to values that stay, and how much left to the scheduler, the simulator says; of very
// long Programs the first share that fits is taken.
constexpr double kShares[] = {0.3, 0.65, 0.85, 0};
constexpr size_t kCompared = 60'000;  // instructions

Program best_residency(const TileProgram& tiles, const Spec& s, const Dump& dump) {
  const bool compared = tiles.program.instructions.size() <= kCompared;
  const auto resident = [&](double share) { return share > 0 ? keep_on_chip(tiles, share, s) : tiles; };
  std::optional<double> best;
  Tick least = std::numeric_limits<Tick>::max();
  for (const double share : kShares) try {
      Program p = finished(resident(share), s, Dump());
      if (!compared) return p;
      const Tick time = simulate(p, s).makespan;
      if (best && time >= least) continue;
      least = time;
      best = share;
    } catch (const Error& e) {
      if (e.fault() != Fault::unsupported || (share == 0 && !best)) throw;
    }
  return finished(resident(*best), s, dump, Effort::thorough);
}

}  // namespace

Program compile(const Graph& g, const Spec& s, const Cores& cores) {
  check_sizes(g);
  const Dump dump(g.name);
  dump("graph", g);
  Graph small = simplify(decompose(g));
  dump("simplify", small);
  const Plan plan = split(std::move(small));
  dump("split", plan);
  TileProgram tiles = tile(plan, s, cores);
  dump("tile", tiles);
  return plan.kernels.size() > 1 ? best_residency(tiles, s, dump) : finished(std::move(tiles), s, dump);
}

}  // namespace trn::compiler
