#include "sim/dma_lanes.h"

#include <algorithm>
#include <bit>

namespace trn {

using dma_lanes::Heads;
using dma_lanes::Lanes;

DmaLanes::DmaLanes(size_t first, size_t queues) : first_(first), queues_(queues) {
  for (size_t i = 0; i < queues; ++i) queues_[i].heads.queue = i;
}

void DmaLanes::enter(uint32_t transfer, size_t queue, std::shared_ptr<const Deal> deal, double at) {
  const Deal::Part* parts = deal->parts.data() + first_;
  if (std::all_of(parts, parts + kLanes, [](const Deal::Part& part) { return part.packets <= 0; })) return;
  Lanes now = clock_.settled;
  for (size_t l = 0; l < kLanes; ++l) now[l] = parts[l].packets > 0 ? at : now[l];
  dma_lanes::settle(clock_, heads_, now);

  Queue& q = queues_[queue];
  const bool idle = q.busy == 0;
  Transfer& entered = q.transfers.emplace_back(Transfer{std::move(deal), transfer, at, 0});
  for (size_t l = 0; l < kLanes; ++l) {
    const Deal::Part& part = parts[l];
    if (part.packets <= 0) continue;
    ++entered.lanes;
    if (q.heads.late[l] < kNever || q.heads.packets[l] < kNever) continue;
    ++q.busy;
    q.head[l] = q.gone + q.transfers.size() - 1;
    q.reading_from[l] = at + part.late + part.startup + entered.deal->packet_ticks;
    begin(q, l, *entered.deal, part.late, part.startup);
  }
  const auto before = [](const Heads* a, const Heads* b) { return a->queue < b->queue; };
  if (idle) heads_.insert(std::upper_bound(heads_.begin(), heads_.end(), &q.heads, before), &q.heads);
  dma_lanes::plan(clock_, heads_);
}

// The lane has a new head, and its descriptors in `late`.
void DmaLanes::begin(Queue& q, size_t lane, const Deal& deal, double late, double startup) const {
  Heads& h = q.heads;
  h.rest_ticks[lane] = deal.touches_hbm ? deal.packet_ticks * hbm_factor_ : deal.packet_ticks;
  h.first_ticks[lane] = h.rest_ticks[lane] + startup;
  q.startup[lane] = startup;
  h.rest[lane] = deal.parts[first_ + lane].packets - 1;
  h.late[lane] = late > 0 ? late : kNever;
  h.packets[lane] = late > 0 ? kNever : 1;
  h.ticks[lane] = late > 0 ? 0 : h.first_ticks[lane];
}

void DmaLanes::set_hbm_factor(double factor, double now) {
  dma_lanes::settle(clock_, heads_, Lanes(now));
  hbm_factor_ = factor;
  for (Heads* h : heads_)
    for (size_t l = 0; l < kLanes; ++l) {
      if (h->late[l] == kNever && h->packets[l] == kNever) continue;
      const Deal& deal = *head(queues_[h->queue], l).deal;
      if (!deal.touches_hbm) continue;
      h->rest_ticks[l] = deal.packet_ticks * factor;
      h->first_ticks[l] = h->rest_ticks[l] + queues_[h->queue].startup[l];
      if (h->ticks[l] > 0) h->ticks[l] = h->rest[l] < 0 ? h->rest_ticks[l] : h->first_ticks[l];
    }
  dma_lanes::plan(clock_, heads_);
}

void DmaLanes::step_to(double until, std::vector<Left>& left) {
  while (clock_.soonest <= until) {
    if (!dma_lanes::step(clock_, heads_, until)) continue;
    for (Heads* h : heads_)
      for (uint32_t lanes = h->through; lanes != 0; lanes &= lanes - 1)
        leave(queues_[h->queue], static_cast<size_t>(std::countr_zero(lanes)), left);
    std::erase_if(heads_, [&](const Heads* h) { return queues_[h->queue].busy == 0; });
    dma_lanes::plan(clock_, heads_);
  }
}

// On to the lane's next transfer of the queue, if there is one. Behind an earlier transfer neither the descriptors'
// delay nor that of the reads is noticed.
void DmaLanes::leave(Queue& q, size_t lane, std::vector<Left>& left) {
  const double now = clock_.settled[lane];
  Transfer& through = q.transfers[q.head[lane] - q.gone];
  left.push_back({through.id, static_cast<Tick>(now)});
  if (--through.lanes == 0) forget(q);
  for (size_t& at = q.head[lane] = std::max(q.head[lane] + 1, q.gone); at < q.gone + q.transfers.size(); ++at) {
    const Transfer& next = head(q, lane);
    const Deal::Part& part = next.deal->parts[first_ + lane];
    if (part.packets <= 0) continue;
    const bool anew = part.restart > 0 && next.came > q.reading_from[lane];
    if (anew) q.reading_from[lane] = now + part.restart + next.deal->packet_ticks;
    return begin(q, lane, *next.deal, anew ? part.restart : 0, 0);
  }
  q.heads.packets[lane] = kNever;
  q.heads.ticks[lane] = 0;
  --q.busy;
}

// Transfers that all lanes are through with, once they are half of all.
void DmaLanes::forget(Queue& q) {
  const auto first =
      std::find_if(q.transfers.begin(), q.transfers.end(), [](const Transfer& t) { return t.lanes > 0; });
  const auto old = static_cast<size_t>(first - q.transfers.begin());
  if (2 * old < q.transfers.size()) return;
  q.transfers.erase(q.transfers.begin(), first);
  q.gone += old;
}

}  // namespace trn
