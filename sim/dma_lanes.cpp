#include "sim/dma_lanes.h"

#include <algorithm>
#include <bit>

namespace trn {

using dma_lanes::Heads;
using dma_lanes::Lanes;

DmaLanes::DmaLanes(size_t first, size_t queues) : first_(first), queues_(queues) {}

void DmaLanes::enter(uint32_t transfer, size_t queue, std::shared_ptr<const Deal> deal, double at) {
  const double* packets = deal->packets.data() + first_;
  const auto lanes = static_cast<size_t>(std::count_if(packets, packets + kLanes, [](double n) { return n > 0; }));
  if (lanes == 0) return;
  dma_lanes::settle(clock_, heads_, at, packets);

  if (!queues_[queue]) {
    queues_[queue] = std::make_unique<Queue>();
    queues_[queue]->heads.queue = queue;
  }
  Queue& q = *queues_[queue];
  const bool idle = q.busy == 0;
  uint32_t entered = dma_lanes::enter(q.heads, {.packets = packets,
                                                .startup = deal->startup.data() + first_,
                                                .late = deal->late.data() + first_,
                                                .packet_ticks = deal->packet_ticks,
                                                .ticks = ticks_of(*deal),
                                                .at = at});
  q.busy += static_cast<size_t>(std::popcount(entered));
  for (; entered != 0; entered &= entered - 1)
    q.head[static_cast<size_t>(std::countr_zero(entered))] = q.gone + q.transfers.size();
  q.transfers.push_back({std::move(deal), at, lanes, {.transfer = transfer, .at = {}}});
  const auto before = [](const Heads* a, const Heads* b) { return a->queue < b->queue; };
  if (idle) heads_.insert(std::upper_bound(heads_.begin(), heads_.end(), &q.heads, before), &q.heads);
  dma_lanes::plan(clock_, heads_);
}

// A lane's next transfer of the queue. Behind an earlier one neither the descriptors' delay nor that of the reads is
// noticed, unless these begin anew, which takes `startup`.
void DmaLanes::begin(Heads& h, size_t lane, const Deal& deal, double startup) const {
  h.rest_ticks[lane] = h.ticks[lane] = ticks_of(deal);
  h.startup[lane] = startup / h.ticks[lane];
  h.rest[lane] = deal.packets[first_ + lane] - 1;
  h.late[lane] = kNever;
  h.packets[lane] = 1 + h.startup[lane];
}

void DmaLanes::set_hbm_factor(double factor, double now) {
  dma_lanes::settle(clock_, heads_, now);
  hbm_factor_ = factor;
  for (Heads* h : heads_)
    for (size_t l = 0; l < kLanes; ++l) {
      if (h->late[l] == kNever && h->packets[l] == kNever) continue;
      h->rest_ticks[l] = ticks_of(*head(*queues_[h->queue], l).deal);
      if (h->ticks[l] > 0) h->ticks[l] = h->rest_ticks[l];
    }
  dma_lanes::plan(clock_, heads_);
}

void DmaLanes::step_to(double until, std::vector<Left>& left) {
  while (clock_.soonest <= until) {
    if (!dma_lanes::step(clock_, heads_, until)) continue;
    for (Heads* h : heads_) leave(*queues_[h->queue], h->through, left);
    std::erase_if(heads_, [&](const Heads* h) { return queues_[h->queue]->busy == 0; });
    dma_lanes::plan(clock_, heads_);
  }
}

// `lanes` are through with their heads.
void DmaLanes::leave(Queue& q, uint32_t lanes, std::vector<Left>& left) {
  const bool last = q.transfers.size() == 1;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(lanes));
    Transfer& through = q.transfers[q.head[lane] - q.gone];
    through.left.at[through.left.lanes++] = clock_.settled[lane];
    q.heads.packets[lane] = kNever;
    q.heads.ticks[lane] = 0;
    --q.busy;
    if (through.left.lanes == through.lanes) {
      left.push_back(through.left);
      forget(q);
    }
    if (!last) go_on(q, lane);
  }
}

// To the lane's next transfer of the queue, if there is one.
void DmaLanes::go_on(Queue& q, size_t lane) {
  for (size_t& at = q.head[lane] = std::max(q.head[lane] + 1, q.gone); at < q.gone + q.transfers.size(); ++at) {
    const Transfer& next = head(q, lane);
    if (next.deal->packets[first_ + lane] <= 0) continue;
    const double restart = next.deal->restart[first_ + lane];
    const bool anew = restart > 0 && next.came > q.heads.reading_from[lane];
    ++q.busy;
    return begin(q.heads, lane, *next.deal, anew ? restart : 0);
  }
}

// Transfers that all lanes are through with, once they are half of all.
void DmaLanes::forget(Queue& q) {
  const auto first =
      std::find_if(q.transfers.begin(), q.transfers.end(), [](const Transfer& t) { return t.left.lanes < t.lanes; });
  const auto old = static_cast<size_t>(first - q.transfers.begin());
  if (2 * old < q.transfers.size()) return;
  q.transfers.erase(q.transfers.begin(), first);
  q.gone += old;
}

}  // namespace trn
