#include "sim/dma.h"

#include <algorithm>

namespace trn {

DmaEngines::DmaEngines(const Spec& s, const Clock& clock)
    : deal_(s, clock), post_interval_(clock.from_ns(s.dma_completion_interval_ns)) {
  for (size_t first = 0; first < static_cast<size_t>(s.dma_engines); first += DmaLanes::kLanes)
    engines_.emplace_back(first, static_cast<size_t>(s.dma_queues));
}

void DmaEngines::submit(uint32_t id, int queue, const Transfer& t, Tick at) {
  if (moving_.size() <= id) moving_.resize(id + 1);
  arrivals_.push(at, 0, {id, queue, t});
}

Tick DmaEngines::next() const {
  double soonest = DmaLanes::kNever;
  for (const DmaLanes& e : engines_) soonest = std::min(soonest, e.next());
  const Tick step = soonest < DmaLanes::kNever ? static_cast<Tick>(soonest) : kNever;
  return arrivals_.empty() ? step : std::min(step, arrivals_.next());
}

void DmaEngines::enter(const Arrival& a, Tick at) {
  if (in_flight_++ == 0) active_from_ = at;
  const auto deal = deal_(a.what);
  Moving& m = moving_[a.transfer];
  m.latency = deal->latency;
  m.engines = deal->engines;
  m.left.clear();
  for (DmaLanes& e : engines_) e.enter(a.transfer, static_cast<size_t>(a.queue), deal, static_cast<double>(at));
}

void DmaEngines::set_hbm_factor(double factor, Tick now) {
  if (factor == hbm_factor_) return;
  hbm_factor_ = factor;
  for (DmaLanes& e : engines_) e.set_hbm_factor(factor, static_cast<double>(now));
}

void DmaEngines::step_to(Tick until) {
  left_.clear();
  for (DmaLanes& e : engines_) e.step_to(static_cast<double>(until), left_);
  for (const DmaLanes::Left& l : left_) land(l);
}

// Engines post one after another, in the order in which they are through.
void DmaEngines::land(const DmaLanes::Left& of_lanes) {
  Moving& m = moving_[of_lanes.transfer];
  for (size_t i = 0; i < of_lanes.lanes; ++i) m.left.push_back(static_cast<Tick>(of_lanes.at[i]));
  if (m.left.size() < m.engines) return;
  if (!std::is_sorted(m.left.begin(), m.left.end())) std::sort(m.left.begin(), m.left.end());
  Tick posted = 0;
  for (const Tick left : m.left) posted = std::max(left + m.latency, posted + post_interval_);
  const Landing l{of_lanes.transfer, m.left.back(), posted};
  const auto earlier = [](const Landing& a, const Landing& b) { return a.left < b.left; };
  landings_.insert(std::upper_bound(landings_.begin(), landings_.end(), l, earlier), l);
}

}  // namespace trn
