#include <algorithm>
#include <limits>
#include <span>

#include "backend/compiler/dependence.h"
#include "backend/compiler/list_scheduler.h"
#include "sim/simulate.h"

namespace trn::compiler {
namespace {

constexpr double kGoodEnough = 0.98;  // the busiest resource is busy for that much of the time: no order is better
constexpr size_t kJudged = 2000;      // instructions up to which the simulator chooses between orders
// Tiles of many sizes leave gaps in memory, and what takes the place of a tile waits for its last use: the next fill
// where an order by the first one does not fit.
using Fill = ListScheduler::Fill;
constexpr Fill kShort[] = {{0.9, 1}, {0.65, 0.5}}, kLong[] = {{0.65, 0.5}, {0.5, 0.5}},
               kThorough[] = {{0.9, 1},    {0.8, 0.75}, {0.8, 0.5},   {0.7, 0.5}, {0.65, 0.625},
                              {0.65, 0.5}, {0.6, 0.5},  {0.5, 0.625}, {0.4, 0.5}};
constexpr double kWorthIt =
    0.95;  // beyond, the kernel author's order stays unless another is estimated to be this much faster

ScheduleProblem analyse(const TileProgram& p, const Spec& s) {
  const std::vector<Instruction>& all = p.program.instructions;
  ScheduleProblem out;
  out.cost.reserve(all.size());
  out.edges.reserve(all.size() * 4);
  out.tiles.item.reserve(all.size() * 3);
  std::vector<uint32_t> seen(all.size(), 0xFFFFFFFF);
  Dependences dependences(p, s);
  for (uint32_t i = 0; i < all.size(); ++i) {
    out.cost.push_back(issue_cost(p.program, all[i], s));
    out.first_edge.push_back(static_cast<uint32_t>(out.edges.size()));
    for (const Dependences::Edge& e : dependences.next()) {
      // A transfer may be moved to another engine's queue, so its order in this one's stream means nothing, unless that
      // is what is asked for (of transfers by index, which stay).
      const bool order_only = (!out.cost.back().is_dma || e.hazard == Hazard::engine_order) &&
                              is_met_by_engine_order(all[e.producer], all[i], e.hazard);
      if (seen[e.producer] == i && order_only) continue;
      seen[e.producer] = i;
      out.edges.push_back({e.producer, order_only});
    }
    out.tiles.first.push_back(static_cast<uint32_t>(out.tiles.item.size()));
    const AccessList list = accesses(p.program, all[i]);
    for (int k = 0; k < list.count; ++k) {
      if (!list.access[k]->on_chip()) continue;
      const uint32_t tile = list.access[k]->buffer;
      if (std::find(out.tiles.item.begin() + out.tiles.first.back(), out.tiles.item.end(), tile) ==
          out.tiles.item.end())
        out.tiles.item.push_back(tile);
    }
  }
  out.first_edge.push_back(static_cast<uint32_t>(out.edges.size()));
  out.tiles.first.push_back(static_cast<uint32_t>(out.tiles.item.size()));
  return out;
}

// Makespan of the program as it stands.
double estimate(const TileProgram& p, const ScheduleProblem& problem, const Spec& s) {
  const std::vector<Instruction>& all = p.program.instructions;
  std::vector<double> done(all.size());
  IssueModel model(s);
  for (uint32_t i = 0; i < all.size(); ++i) {
    double ready = 0;
    for (uint32_t e = problem.first_edge[i]; e < problem.first_edge[i + 1]; ++e)
      if (!problem.edges[e].order_only) ready = std::max(ready, done[problem.edges[e].producer]);
    done[i] = model.issue(all[i], problem.cost[i], model.start(all[i], problem.cost[i], ready));
  }
  return model.makespan();
}

// Time of the busiest engine or of the DMA engines: a lower bound for any order.
double busiest(const TileProgram& p, const ScheduleProblem& problem) {
  std::array<double, kEngineStreams> busy{};
  std::array<double, kMostCores> dma{};
  for (uint32_t i = 0; i < p.program.instructions.size(); ++i) {
    const Instruction& in = p.program.instructions[i];
    busy[engine_stream(in)] += problem.cost[i].busy;
    dma[in.core] += problem.cost[i].transfer;
  }
  return std::max(*std::max_element(busy.begin(), busy.end()), *std::max_element(dma.begin(), dma.end()));
}

constexpr Tick kDoesNotFit = std::numeric_limits<Tick>::max();

// What the simulator says of an order.
Tick simulated(const TileProgram& p, const Spec& s) try {
  return simulate(synchronise(allocate(p, s), s), s).makespan;
} catch (const Error& e) {
  if (e.fault() != Fault::unsupported) throw;
  return kDoesNotFit;
}

bool fits(const TileProgram& p, const Spec& s) try {
  allocate(p, s);
  return true;
} catch (const Error& e) {
  if (e.fault() != Fault::unsupported) throw;
  return false;
}

TileProgram with(const TileProgram& p, std::vector<Instruction> order) {
  TileProgram q = p;
  q.program.instructions = std::move(order);
  return q;
}

}  // namespace

TileProgram schedule(TileProgram p, const Spec& s, Effort effort) {
  const ScheduleProblem problem = analyse(p, s);
  const double as_written = estimate(p, problem, s);
  const bool is_short = p.program.instructions.size() <= kJudged, thorough = effort == Effort::thorough;
  const bool judged = is_short || thorough;
  if (as_written * (judged ? kGoodEnough : kWorthIt) <= busiest(p, problem)) return p;
  Tick best = judged ? simulated(p, s) : kDoesNotFit;
  double limit = as_written * (judged ? 1 : kWorthIt);
  TileProgram chosen = p;
  const std::span<const Fill> fills = thorough ? std::span<const Fill>(kThorough) : is_short ? kShort : kLong;
  for (const Queues queues : {Queues::kept, Queues::shared})
    for (const Fill& fill : fills) {
      ListScheduler scheduler(p, problem, queues, fill, s);
      std::vector<Instruction> order = scheduler.order();
      if (scheduler.makespan() >= limit) continue;
      TileProgram other = with(p, std::move(order));
      const Tick time = judged ? simulated(other, s) : fits(other, s) ? 0 : kDoesNotFit;
      if (time == kDoesNotFit) continue;
      if (!judged) limit = scheduler.makespan();
      if (!judged || time < best) chosen = std::move(other);
      best = std::min(best, time);
      if (!thorough) break;
    }
  return chosen;
}

}  // namespace trn::compiler
