#include "backend/compiler/list_scheduler.h"

#include <algorithm>
#include <numeric>

namespace trn::compiler {
namespace {

constexpr uint32_t kWindow = 768;  // how far an instruction may be hoisted above others
constexpr int kScan = 24;          // candidates of one stream that are compared

Instruction on(Instruction i, Engine e) {
  i.engine = e;
  i.queue = queue_of(e);
  return i;
}

int memory_of(const VirtualTile& t) { return t.core * 2 + (t.space == Space::psum); }

}  // namespace

ListScheduler::ListScheduler(const TileProgram& p, const ScheduleProblem& problem, Queues queues, Fill fill,
                             const Spec& s)
    : all_(p.program.instructions),
      tile_(p.tiles),
      problem_(problem),
      model_(s),
      count_(static_cast<uint32_t>(all_.size())),
      queues_(queues) {
  find_successors();
  find_priorities();
  live_ = live_ranges(p);
  find_live_bytes(fill, s);
  ready_.resize(count_);
  issued_.resize(count_);
  begun_.resize(tile_.size());
  result_.reserve(count_);
}

void ListScheduler::find_successors() {
  missing_.resize(count_);
  first_successor_.assign(count_ + 1, 0);
  for (const Edge& e : problem_.edges) ++first_successor_[e.producer + 1];
  std::partial_sum(first_successor_.begin(), first_successor_.end(), first_successor_.begin());
  successor_.resize(problem_.edges.size());
  std::vector<uint32_t> at(first_successor_.begin(), first_successor_.end() - 1);
  for (uint32_t i = 0; i < count_; ++i) {
    missing_[i] = problem_.first_edge[i + 1] - problem_.first_edge[i];
    for (uint32_t e = problem_.first_edge[i]; e < problem_.first_edge[i + 1]; ++e)
      successor_[at[problem_.edges[e].producer]++] = {i, problem_.edges[e].order_only};
  }
}

void ListScheduler::find_priorities() {
  chain_.resize(count_);
  for (uint32_t i = count_; i-- > 0;) {
    const IssueCost& c = problem_.cost[i];
    const float own = c.latency + c.transfer;
    float longest = own;
    for (uint32_t e = first_successor_[i]; e < first_successor_[i + 1]; ++e)
      longest = std::max(longest, (successor_[e].order_only ? c.busy : own) + chain_[successor_[e].producer]);
    chain_[i] = longest;
  }
}

void ListScheduler::find_live_bytes(Fill fill, const Spec& s) {
  for (int m = 0; m < kMemories; ++m) {
    alive_[m].assign(count_ + 1, 0);
    const bool psum = m % 2;
    const auto whole = static_cast<double>(trn::compiler::capacity(psum ? Space::psum : Space::sbuf, s));
    capacity_[m] = static_cast<int32_t>(whole * (psum ? fill.psum : fill.sbuf));
  }
  footprint_.resize(tile_.size());
  uses_.resize(tile_.size());
  for (uint32_t t = 0; t < tile_.size(); ++t) {
    footprint_[t] = static_cast<int32_t>(footprint(tile_[t], s));
    if (!live_[t].used()) continue;
    alive_[memory_of(tile_[t])][live_[t].first] += footprint_[t];
    alive_[memory_of(tile_[t])][live_[t].last + 1] -= footprint_[t];
  }
  for (auto& alive : alive_) std::partial_sum(alive.begin(), alive.end(), alive.begin());
  for (uint32_t i = 0; i < count_; ++i)
    for (const uint32_t t : problem_.tiles[i]) ++uses_[t];
}

bool ListScheduler::fits(uint32_t i) const {
  if (i == head_) return true;
  std::array<int32_t, kMemories> more{};
  uint32_t until = head_;  // from where on the old order has the new tiles anyway
  for (const uint32_t t : problem_.tiles[i]) {
    if (begun_[t]) continue;
    more[memory_of(tile_[t])] += footprint_[t];
    until = std::max(until, live_[t].first);
  }
  for (int m = 0; m < kMemories; ++m) {
    if (more[m] == 0 || until == head_) continue;
    const auto alive = alive_[m].begin();
    if (alive[head_] + more[m] > capacity_[m]) return false;  // mostly so, and found at once
    if (*std::max_element(alive + head_, alive + until) + more[m] > capacity_[m]) return false;
  }
  return true;
}

void ListScheduler::begin(uint32_t t) {
  begun_[t] = 1;
  std::vector<int32_t>& alive = alive_[memory_of(tile_[t])];
  for (uint32_t at = head_; at < live_[t].first; ++at) alive[at] += footprint_[t];
}

void ListScheduler::end(uint32_t t) {
  std::vector<int32_t>& alive = alive_[memory_of(tile_[t])];
  for (uint32_t at = head_; at <= live_[t].last; ++at) alive[at] -= footprint_[t];
}

std::vector<uint32_t>& ListScheduler::list_of(uint32_t i) {
  if (queues_ == Queues::shared && problem_.cost[i].hardware) return transfers_[all_[i].core];
  return candidates_[engine_stream(all_[i])];
}

void ListScheduler::admit(uint32_t i) {
  std::vector<uint32_t>& list = list_of(i);
  const auto before = [&](uint32_t a, uint32_t b) { return chain_[a] != chain_[b] ? chain_[a] > chain_[b] : a < b; };
  list.insert(std::upper_bound(list.begin(), list.end(), i, before), i);
}

ListScheduler::Candidate ListScheduler::best_of(int stream) const {
  Candidate best{count_, 0, static_cast<Engine>(stream % kEngines)};
  const double soonest = model_.engine_free(stream);
  int scanned = 0;
  for (const uint32_t i : candidates_[stream]) {
    if (best.instruction != count_ && ++scanned > kScan) break;
    const double start = model_.start(all_[i], problem_.cost[i], ready_[i]);
    if ((best.instruction != count_ && start >= best.start) || !fits(i)) continue;
    best.instruction = i;
    best.start = start;
    if (start <= soonest) break;
  }
  return best;
}

// A transfer leaves its own queue only if the other one could have triggered it before its own can begin.
ListScheduler::Candidate ListScheduler::best_transfer(int core) const {
  Candidate best{count_, 0, Engine::sync};
  int scanned = 0;
  for (const uint32_t i : transfers_[core]) {
    if (best.instruction != count_ && ++scanned > kScan) break;
    if (best.instruction != count_ && ready_[i] >= best.start) continue;
    const Engine own = all_[i].engine, other = own == Engine::sync ? Engine::scalar : Engine::sync;
    const double here = model_.start(all_[i], problem_.cost[i], ready_[i]),
                 there = model_.start(on(all_[i], other), problem_.cost[i], ready_[i]);
    const bool moves = there + problem_.cost[i].busy < here;
    const double start = moves ? there : here;
    if ((best.instruction != count_ && start >= best.start) || !fits(i)) continue;
    best = {i, start, moves ? other : own};
  }
  return best;
}

void ListScheduler::issue(Candidate c) {
  const uint32_t i = c.instruction;
  const Instruction in = problem_.cost[i].is_dma ? on(all_[i], c.engine) : all_[i];
  const double done = model_.issue(in, problem_.cost[i], c.start);
  std::vector<uint32_t>& list = list_of(i);
  list.erase(std::find(list.begin(), list.end(), i));
  issued_[i] = 1;
  result_.push_back(in);
  for (const uint32_t t : problem_.tiles[i]) {
    if (!begun_[t]) begin(t);
    if (--uses_[t] == 0) end(t);
  }
  for (uint32_t e = first_successor_[i]; e < first_successor_[i + 1]; ++e) {
    const uint32_t next = successor_[e].producer;
    if (!successor_[e].order_only) ready_[next] = std::max(ready_[next], done);
    if (--missing_[next] == 0 && next < admitted_) admit(next);
  }
  move_head();
}

void ListScheduler::move_head() {
  while (head_ < count_ && issued_[head_]) ++head_;
  for (; admitted_ < std::min(count_, head_ + kWindow); ++admitted_)
    if (missing_[admitted_] == 0) admit(admitted_);
}

std::vector<Instruction> ListScheduler::order() {
  move_head();
  while (result_.size() < count_) {
    Candidate best{count_, 0, Engine::sync};
    const auto consider = [&](const Candidate& c) {
      if (c.instruction != count_ && (best.instruction == count_ || c.start < best.start)) best = c;
    };
    for (int stream = 0; stream < kEngineStreams; ++stream)
      if (!candidates_[stream].empty()) consider(best_of(stream));
    for (int core = 0; core < kMostCores; ++core)
      if (!transfers_[core].empty()) consider(best_transfer(core));
    issue(best);
  }
  return std::move(result_);
}

}  // namespace trn::compiler
