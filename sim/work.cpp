#include "sim/work.h"

#include <algorithm>
#include <bit>

#include "isa/dispatch.h"

namespace trn {
namespace {

uint64_t mix(uint64_t seed, uint64_t value) {
  seed = (seed ^ value) * 0x9E3779B97F4A7C15;
  return seed ^ seed >> 32;
}

uint64_t hash(const Cost& c) {
  uint64_t h = mix(std::bit_cast<uint64_t>(c.busy), std::bit_cast<uint64_t>(c.latency));
  h = mix(h, std::bit_cast<uint64_t>(c.preload) ^ std::bit_cast<uint64_t>(c.interval));
  h = mix(h, static_cast<uint64_t>(c.transfer.rows) << 32 ^ static_cast<uint64_t>(c.transfer.chunks));
  return mix(h, static_cast<uint64_t>(c.transfer.chunk_bytes) ^ static_cast<uint64_t>(c.table) << 48);
}

// Costs of arguments that came lately: instructions of a long Program share theirs (isa/argument_pool.h).
class KnownCosts {
 public:
  struct Known {
    uint32_t args = UINT32_MAX;
    uint16_t card = 0;
    Engine engine = Engine::sync;
    Unit unit = Unit::pipeline;
    uint32_t cost = 0;
    bool of(const Instruction& i) const { return args == i.args && card == i.card && engine == i.engine; }
  };
  explicit KnownCosts(size_t instructions) : known_(std::bit_ceil(std::clamp<size_t>(instructions, 1, 1024))) {}
  Known& at(const Instruction& i) { return known_[(i.args * 0x9E3779B1u >> 20) & (known_.size() - 1)]; }

 private:
  std::vector<Known> known_;
};

}  // namespace

uint32_t CostPool::add(const Cost& c, size_t kind) {
  uint32_t& last = last_[kind % kWays];
  if (last < costs_.size() && costs_[last] == c) return last;
  return last = add(c);
}

uint32_t CostPool::add(const Cost& c) {
  uint32_t& slot = recent_[hash(c) % kWays];
  if (slot < costs_.size() && costs_[slot] == c) return slot;
  slot = static_cast<uint32_t>(costs_.size());
  costs_.push_back(c);
  return slot;
}

Work work_of(const Program& p, const Spec& s) {
  Work w;
  w.cores = p.cores;
  w.names.resize(isa().size());
  w.records.reserve(p.instructions.size());
  w.waits.reserve(p.waits.size());
  std::vector<uint32_t> by_semaphore;  // an update "add one" for each
  CostPool pool(w.costs);
  KnownCosts known(p.instructions.size());
  const auto rows = isa();
  for (const Instruction& in : p.instructions) {
    KnownCosts::Known& of_args = known.at(in);
    if (!of_args.of(in)) {
      const CardRow& card = rows[in.card];
      const Cost cost = card.cost(p.raw_args(in), in.engine, s);
      const Unit unit = card.is_dma ? Unit::dma : cost.control ? Unit::sequencer : Unit::pipeline;
      of_args = {in.args, in.card, in.engine, unit,
                 pool.add(cost, in.card * kEngines + static_cast<size_t>(in.engine))};
      if (w.names[in.card].empty()) w.names[in.card] = card.name;
    }
    Record r;
    r.cost = of_args.cost;
    r.name = in.card;
    r.engine = in.engine;
    r.core = in.core;
    r.queue = in.queue;
    r.unit = of_args.unit;
    r.first_wait = static_cast<uint32_t>(w.waits.size());
    r.waits = in.waits;
    for (const Wait& wait : p.waits_of(in)) w.waits.push_back({wait.semaphore, Compare::at_least, wait.value});
    if (in.update != Instruction::kNoUpdate) {
      for (auto i = static_cast<uint16_t>(by_semaphore.size()); i <= in.update; ++i) {
        by_semaphore.push_back(static_cast<uint32_t>(w.updates.size()));
        w.updates.push_back({i, Change::add, 1});
      }
      r.first_update = by_semaphore[in.update];
      r.updates = 1;
    }
    w.records.push_back(r);
  }
  return w;
}

}  // namespace trn
