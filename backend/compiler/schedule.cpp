#include <algorithm>
#include <numeric>

#include "backend/compiler/dependence.h"
#include "backend/compiler/issue_model.h"
#include "backend/compiler/live_ranges.h"

namespace trn::compiler {
namespace {

constexpr uint32_t kWindow = 256;          // how far an instruction may be hoisted above others
constexpr double kGoodEnough = 1.02;       // of the busiest resource's time: no order is better
constexpr double kWorthIt = 0.97;          // keep the kernel author's order unless the new one is estimated to be faster than this
constexpr double kSbufFill = 0.9;          // leave allocate() some room for gaps
constexpr int kMemories = kMostCores * 2;  // sbuf and psum of each core

// Lists of numbers per row, stored as one array.
struct Lists {
  std::vector<uint32_t> first, item;
  std::span<const uint32_t> operator[](uint32_t row) const { return {item.data() + first[row], first[row + 1] - first[row]}; }
};

struct Edge {
  uint32_t producer;
  bool order_only;
};

// What the search needs to know about a TileProgram.
struct Problem {
  std::vector<IssueCost> cost;
  std::vector<uint32_t> first_edge;  // edges of i: [first_edge[i], first_edge[i+1])
  std::vector<Edge> edges;
  Lists tiles;    // by instruction
};

Problem analyse(const TileProgram& p, const Spec& s) {
  const std::vector<Instruction>& all = p.program.instructions;
  Problem out;
  out.cost.reserve(all.size());
  out.edges.reserve(all.size() * 4);
  out.tiles.item.reserve(all.size() * 3);
  std::vector<uint32_t> seen(all.size(), 0xFFFFFFFF);
  Dependences dependences(p, s);
  for (uint32_t i = 0; i < all.size(); ++i) {
    out.cost.push_back(issue_cost(p.program, all[i], s));
    out.first_edge.push_back(static_cast<uint32_t>(out.edges.size()));
    for (const Dependences::Edge& e : dependences.next()) {
      const bool order_only = is_met_by_engine_order(all[e.producer], all[i], e.hazard);
      if (seen[e.producer] == i && order_only) continue;
      seen[e.producer] = i;
      out.edges.push_back({e.producer, order_only});
    }
    out.tiles.first.push_back(static_cast<uint32_t>(out.tiles.item.size()));
    const AccessList list = accesses(p.program, all[i]);
    for (int k = 0; k < list.count; ++k) {
      if (!list.access[k]->on_chip()) continue;
      const uint32_t tile = list.access[k]->buffer;
      if (std::find(out.tiles.item.begin() + out.tiles.first.back(), out.tiles.item.end(), tile) == out.tiles.item.end()) out.tiles.item.push_back(tile);
    }
  }
  out.first_edge.push_back(static_cast<uint32_t>(out.edges.size()));
  out.tiles.first.push_back(static_cast<uint32_t>(out.tiles.item.size()));
  return out;
}

// Makespan of the program as it stands.
double estimate(const TileProgram& p, const Problem& problem, const Spec& s) {
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
double busiest(const TileProgram& p, const Problem& problem) {
  std::array<double, kEngineStreams> busy{};
  std::array<double, kMostCores> dma{};
  for (uint32_t i = 0; i < p.program.instructions.size(); ++i) {
    const Instruction& in = p.program.instructions[i];
    busy[engine_stream(in)] += problem.cost[i].busy;
    dma[in.core] += static_cast<double>(problem.cost[i].transfer) * problem.cost[i].share;
  }
  return std::max(*std::max_element(busy.begin(), busy.end()), *std::max_element(dma.begin(), dma.end()));
}

// List scheduling: of the instructions whose operands' producers are issued, the one that can start first; of those, the one with the longest chain of
// dependents. Tiles that are begun early must leave room for what the remaining instructions, in their old order, have alive.
class ListScheduler {
 public:
  ListScheduler(const TileProgram& p, const Problem& problem, const Spec& s);
  std::vector<uint32_t> order();
  double makespan() const { return model_.makespan(); }

 private:
  struct Candidate {
    uint32_t instruction;
    double start;
  };
  void find_successors();
  void find_priorities();
  void find_live_bytes(const Spec& s);
  void admit(uint32_t i);
  bool fits(uint32_t i) const;
  int64_t most_alive(int memory, uint32_t last) const;
  Candidate best_of(int stream) const;
  void issue(Candidate c);
  void move_head();

  const std::vector<Instruction>& all_;
  const std::vector<VirtualTile>& tile_;
  const Problem& problem_;
  IssueModel model_;
  uint32_t count_;

  std::vector<uint32_t> first_successor_;
  std::vector<Edge> successor_;  // `producer` holds the successor
  std::vector<float> chain_;     // ns from an instruction's start to the end of its longest chain of dependents
  std::vector<uint32_t> missing_;  // producers not issued
  std::vector<double> ready_;
  std::vector<char> issued_;
  std::array<std::vector<uint32_t>, kEngineStreams> candidates_;  // by falling chain
  uint32_t head_ = 0, admitted_ = 0;

  std::vector<int64_t> footprint_;
  std::vector<LiveRange> live_;
  std::vector<char> begun_;
  std::array<std::vector<int64_t>, kMemories> alive_;  // by block of instructions in the old order: most bytes alive
  std::array<int64_t, kMemories> capacity_{}, early_{};
  std::vector<uint32_t> result_;
};

constexpr uint32_t kBlock = 32;

int memory_of(const VirtualTile& t) { return t.core * 2 + (t.space == Space::psum); }

ListScheduler::ListScheduler(const TileProgram& p, const Problem& problem, const Spec& s)
    : all_(p.program.instructions), tile_(p.tiles), problem_(problem), model_(s), count_(static_cast<uint32_t>(all_.size())) {
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
    capacity_[m] = static_cast<int64_t>(static_cast<double>(trn::compiler::capacity(m % 2 ? Space::psum : Space::sbuf, s)) * fill);
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

void ListScheduler::admit(uint32_t i) {
  std::vector<uint32_t>& list = candidates_[engine_stream(all_[i])];
  const auto before = [&](uint32_t a, uint32_t b) { return chain_[a] != chain_[b] ? chain_[a] > chain_[b] : a < b; };
  list.insert(std::upper_bound(list.begin(), list.end(), i, before), i);
}

ListScheduler::Candidate ListScheduler::best_of(int stream) const {
  Candidate best{count_, 0};
  const double soonest = model_.engine_free(stream);
  for (const uint32_t i : candidates_[stream]) {
    const double start = model_.start(all_[i], problem_.cost[i], ready_[i]);
    if ((best.instruction != count_ && start >= best.start) || !fits(i)) continue;
    best = {i, start};
    if (start <= soonest) break;
  }
  return best;
}

void ListScheduler::issue(Candidate c) {
  const uint32_t i = c.instruction;
  const double done = model_.issue(all_[i], problem_.cost[i], c.start);
  std::vector<uint32_t>& list = candidates_[engine_stream(all_[i])];
  list.erase(std::find(list.begin(), list.end(), i));
  issued_[i] = 1;
  result_.push_back(i);
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

std::vector<uint32_t> ListScheduler::order() {
  move_head();
  while (result_.size() < count_) {
    Candidate best{count_, 0};
    for (int stream = 0; stream < kEngineStreams; ++stream) {
      if (candidates_[stream].empty()) continue;
      const Candidate c = best_of(stream);
      if (c.instruction != count_ && (best.instruction == count_ || c.start < best.start)) best = c;
    }
    issue(best);
  }
  return std::move(result_);
}

}  // namespace

TileProgram schedule(TileProgram p, const Spec& s) {
  const Problem problem = analyse(p, s);
  const double as_written = estimate(p, problem, s);
  if (as_written <= busiest(p, problem) * kGoodEnough) return p;
  ListScheduler scheduler(p, problem, s);
  const std::vector<uint32_t> order = scheduler.order();
  if (scheduler.makespan() > as_written * kWorthIt) return p;
  std::vector<Instruction> reordered;
  reordered.reserve(order.size());
  for (const uint32_t i : order) reordered.push_back(p.program.instructions[i]);
  p.program.instructions = std::move(reordered);
  return p;
}

}  // namespace trn::compiler
