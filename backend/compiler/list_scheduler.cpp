#include "backend/compiler/list_scheduler.h"

#include <algorithm>
#include <numeric>

namespace trn::compiler {
namespace {

constexpr uint32_t kWindow = 256;  // how far an instruction may be hoisted above others
constexpr int kScan = 24;          // candidates of one stream that are compared
constexpr uint32_t kBlock = 32;    // instructions whose live bytes are remembered as one maximum
constexpr double kSbufFill = 0.9;  // leave allocate() some room for gaps

Instruction on(Instruction i, Engine e) {
  i.engine = e;
  i.queue = queue_of(e);
  return i;
}

int memory_of(const VirtualTile& t) { return t.core * 2 + (t.space == Space::psum); }

}  // namespace

ListScheduler::ListScheduler(const TileProgram& p, const ScheduleProblem& problem, Queues queues, const Spec& s)
    : all_(p.program.instructions),
      tile_(p.tiles),
      problem_(problem),
      model_(s),
      count_(static_cast<uint32_t>(all_.size())),
      queues_(queues) {
  find_successors();
  find_priorities();
  live_ = live_ranges(p);
  find_live_bytes(s);
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

void ListScheduler::find_live_bytes(const Spec& s) {
  const uint32_t blocks = count_ / kBlock + 1;
  footprint_.resize(tile_.size());
  for (int m = 0; m < kMemories; ++m) {
    alive_[m].assign(blocks, 0);
    const double fill = m % 2 ? 1 : kSbufFill;
    capacity_[m] =
        static_cast<int64_t>(static_cast<double>(trn::compiler::capacity(m % 2 ? Space::psum : Space::sbuf, s)) * fill);
  }
  std::vector<std::array<int64_t, kMemories>> change(count_ + 1);
  for (uint32_t t = 0; t < tile_.size(); ++t) {
    footprint_[t] = footprint(tile_[t], s);
    if (!live_[t].used()) continue;
    change[live_[t].first][memory_of(tile_[t])] += footprint_[t];
    change[live_[t].last + 1][memory_of(tile_[t])] -= footprint_[t];
  }
  std::array<int64_t, kMemories> now{};
  for (uint32_t i = 0; i < count_; ++i)
    for (int m = 0; m < kMemories; ++m) {
      now[m] += change[i][m];
      alive_[m][i / kBlock] = std::max(alive_[m][i / kBlock], now[m]);
    }
}

int64_t ListScheduler::most_alive(int memory, uint32_t last) const {
  const auto from = alive_[memory].begin() + head_ / kBlock;
  return *std::max_element(from, alive_[memory].begin() + last / kBlock + 1);
}

bool ListScheduler::fits(uint32_t i) const {
  if (i == head_) return true;
  std::array<int64_t, kMemories> more{};
  bool begins = false;
  for (const uint32_t t : problem_.tiles[i]) {
    if (begun_[t]) continue;
    more[memory_of(tile_[t])] += footprint_[t];
    begins = true;
  }
  if (!begins) return true;
  for (int m = 0; m < kMemories; ++m)
    if (more[m] > 0 && early_[m] + more[m] + most_alive(m, i) > capacity_[m]) return false;
  return true;
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
    if (begun_[t]) continue;
    begun_[t] = 1;
    if (live_[t].first > head_) early_[memory_of(tile_[t])] += footprint_[t];
  }
  for (uint32_t e = first_successor_[i]; e < first_successor_[i + 1]; ++e) {
    const uint32_t next = successor_[e].producer;
    if (!successor_[e].order_only) ready_[next] = std::max(ready_[next], done);
    if (--missing_[next] == 0 && next < admitted_) admit(next);
  }
  move_head();
}

void ListScheduler::move_head() {
  for (; head_ < count_ && issued_[head_]; ++head_) {
    // Tiles of the new head, if begun early, count as alive in the old order from here on.
    if (head_ + 1 == count_) continue;
    for (const uint32_t t : problem_.tiles[head_ + 1])
      if (begun_[t] && live_[t].first == head_ + 1) early_[memory_of(tile_[t])] -= footprint_[t];
  }
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
