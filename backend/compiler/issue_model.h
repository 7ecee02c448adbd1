#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "isa/dispatch.h"

namespace trn::compiler {

inline constexpr int kMostCores = 2;
inline constexpr int kEngineStreams = kMostCores * kEngines;
inline int engine_stream(const Instruction& i) { return i.core * kEngines + static_cast<int>(i.engine); }
// The queue that an engine's stream feeds. Throws trn::Error(illegal) if it feeds none.
uint8_t queue_of(Engine e);
inline int queue_stream(const Instruction& i) { return i.core * static_cast<int>(kQueues.size()) + i.queue; }

// One instruction's time in ns, as far as the order of instructions depends on it.
struct IssueCost {
  float busy;      // of its engine
  float latency;   // start until others can see its result; DMA: without waiting for other transfers
  float transfer;  // DMA: of the core's DMA engines; each transfer begins with the same ones
  int16_t table;   // activation table, -1 none
  bool is_dma;
  bool hardware;  // DMA: descriptors made by hardware, so either of the two hardware queues will do
};
IssueCost issue_cost(const Program& p, const Instruction& i, const Spec& s);

// A fast estimate of when instructions start and end: engines in order, a DMA queue depth, one shared DMA bandwidth,
// activation tables. No throttle and no packets; sim/ is the judge. Plain data, so that a search can copy it.
class IssueModel {
 public:
  explicit IssueModel(const Spec& s);

  // Earliest start of `i` if its operands are ready at `ready`.
  double start(const Instruction& i, const IssueCost& c, double ready) const;
  // Issues it then. Returns when its result is visible.
  double issue(const Instruction& i, const IssueCost& c, double start);
  double engine_free(int stream) const { return engine_[stream]; }
  double makespan() const { return makespan_; }

 private:
  static constexpr int kMostDepth = 8;
  struct Queue {
    std::array<double, kMostDepth> done{};  // of the latest transfers, as a ring
    uint32_t issued = 0;
  };
  std::array<double, kEngineStreams> engine_{};
  std::array<Queue, kMostCores * 3> queue_{};
  std::array<double, kMostCores> dma_free_{};
  std::array<int16_t, kEngineStreams> table_;
  int depth_;
  float stall_, table_load_, completion_;
  double makespan_ = 0;
};

}  // namespace trn::compiler
