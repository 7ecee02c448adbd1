#pragma once
#include <array>
#include <memory>
#include <vector>

#include "sim/dma_deal.h"
#include "sim/dma_lanes_kernel.h"

namespace trn {

// Sixteen DMA engines side by side, each a lane with a time of its own: what one does until the next transfer arrives
// concerns no other, so all of them take their next step at once, whenever that is. Times in ticks, held as doubles.
//
// An engine serves its queues round robin, a packet each, first come first served within a queue. With k busy queues it
// gives each of them one packet per cycle of k packet times; steps are where the set of busy heads or the time of a
// packet changes. HBM reads of a queue begin with `startup` and take all that is queued by then with them; what comes
// later begins anew (profiles: of three transfers the second follows at full rate, the third does not). A queue whose
// reads do not flow yet has its turns all the same and loses them: beside stores it starts up half as fast, and they
// take two turns a packet (profiles: 300 instead of 155 ns for four of them, then the read's first packet).
class DmaLanes {
 public:
  static constexpr size_t kLanes = dma_lanes::kLanes;
  static constexpr double kNever = dma_lanes::kNever;
  // A transfer that no lane has to do with any more: when they were through with it, lane by lane as they were.
  struct Left {
    uint32_t transfer;
    size_t lanes = 0;
    std::array<double, kLanes> at;
  };

  // `first` is the engine of the first lane.
  DmaLanes(size_t first, size_t queues);
  DmaLanes(DmaLanes&&) = default;

  // Packets of a transfer may start at `at`, which no lane has passed.
  void enter(uint32_t transfer, size_t queue, std::shared_ptr<const Deal> deal, double at);
  // Steps up to `until`, inclusive; appends what leaves.
  void step_to(double until, std::vector<Left>& left);
  // Packets that touch HBM take `factor` times as long from `now` on.
  void set_hbm_factor(double factor, double now);
  // Of the next step.
  double next() const { return clock_.soonest; }

 private:
  using HeadLanes = dma_lanes::Heads;
  using ClockLanes = dma_lanes::Clocks;
  struct Transfer {
    std::shared_ptr<const Deal> deal;
    double came;
    size_t lanes;  // that have to do with it
    Left left;
  };
  // One queue: its transfers in order of arrival. A lane's head is the transfer that it is at.
  struct Queue {
    HeadLanes heads;
    std::array<size_t, kLanes> head{};  // counted from the queue's first transfer ever
    std::vector<Transfer> transfers;
    size_t gone = 0;  // before transfers.front()
    size_t busy = 0;  // lanes that have a head
  };

  static const Transfer& head(const Queue& q, size_t lane) { return q.transfers[q.head[lane] - q.gone]; }
  double ticks_of(const Deal& d) const { return d.touches_hbm ? d.packet_ticks * hbm_factor_ : d.packet_ticks; }
  void begin(HeadLanes& h, size_t lane, const Deal& deal, double startup) const;
  void leave(Queue& q, uint32_t lanes, std::vector<Left>& left);
  void go_on(Queue& q, size_t lane);
  static void forget(Queue& q);

  size_t first_;
  double hbm_factor_ = 1;
  std::vector<std::unique_ptr<Queue>> queues_;  // made when first used
  std::vector<HeadLanes*> heads_;               // of the queues where any lane has one, rising
  ClockLanes clock_;
};

}  // namespace trn
