#pragma once
#include <array>
#include <span>
#include <vector>

#include "backend/compiler/issue_model.h"
#include "backend/compiler/live_ranges.h"

namespace trn::compiler {

// Lists of numbers per row, stored as one array.
struct Lists {
  std::vector<uint32_t> first, item;
  std::span<const uint32_t> operator[](uint32_t row) const {
    return {item.data() + first[row], first[row + 1] - first[row]};
  }
};

// What a search for a better order needs to know about a TileProgram.
struct ScheduleProblem {
  // `order_only`: the producer need not be complete, only issued before on the same engine.
  struct Edge {
    uint32_t producer;
    bool order_only;
  };
  std::vector<IssueCost> cost;       // by instruction, like the next two
  std::vector<uint32_t> first_edge;  // edges of i: [first_edge[i], first_edge[i+1])
  Lists tiles;                       // touched
  std::vector<Edge> edges;
};

inline constexpr int kMemories = kMostCores * 2;  // sbuf and psum of each core

// Whether transfers stay on the queue that the kernel chose, or go to whichever hardware queue can take them first.
enum class Queues : uint8_t { kept, shared };

// List scheduling: of the instructions whose operands' producers are issued, the one that can start first; of those,
// the one with the longest chain of dependents. A tile is begun early only if the remaining instructions, in their old
// order, still have room beside it; one whose uses are all issued takes no room any more.
class ListScheduler {
 public:
  // The parts of the memories up to which tiles may be begun early.
  struct Fill {
    double sbuf, psum;
  };
  ListScheduler(const TileProgram& p, const ScheduleProblem& problem, Queues queues, Fill fill, const Spec& s);
  std::vector<Instruction> order();
  double makespan() const { return model_.makespan(); }

 private:
  struct Candidate {
    uint32_t instruction;
    double start;
    Engine engine;
  };
  using Edge = ScheduleProblem::Edge;
  void find_successors();
  void find_priorities();
  void find_live_bytes(Fill fill, const Spec& s);
  void begin(uint32_t tile);
  void end(uint32_t tile);
  void admit(uint32_t i);
  bool fits(uint32_t i) const;
  Candidate best_of(int stream) const;
  Candidate best_transfer(int core) const;
  std::vector<uint32_t>& list_of(uint32_t i);
  void issue(Candidate c);
  void move_head();

  const std::vector<Instruction>& all_;
  const std::vector<VirtualTile>& tile_;
  const ScheduleProblem& problem_;
  IssueModel model_;
  uint32_t count_;

  std::vector<uint32_t> first_successor_;
  std::vector<Edge> successor_;    // `producer` holds the successor
  std::vector<float> chain_;       // ns from an instruction's start to the end of its longest chain of dependents
  std::vector<uint32_t> missing_;  // producers not issued
  std::vector<double> ready_;
  std::vector<char> issued_;
  std::array<std::vector<uint32_t>, kEngineStreams> candidates_;  // by falling chain
  std::array<std::vector<uint32_t>, kMostCores> transfers_;       // the same, of the hardware queues, if shared
  Queues queues_;
  uint32_t head_ = 0, admitted_ = 0;

  std::vector<int32_t> footprint_;
  std::vector<LiveRange> live_;
  std::vector<char> begun_;
  std::vector<uint32_t> uses_;  // by tile: instructions that touch it and are not issued
  // Bytes alive at each instruction from head_ on, if all that is not issued followed in the old order.
  std::array<std::vector<int32_t>, kMemories> alive_;
  std::array<int32_t, kMemories> capacity_{};
  std::vector<Instruction> result_;
};

}  // namespace trn::compiler
