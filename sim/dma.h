#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "sim/dma_lanes.h"
#include "sim/event_queue.h"
#include "sim/observer.h"

namespace trn {

// The 16 DMA engines of one core. A transfer is dealt to the engines in groups of partitions (dma_deal.h); instead of
// an event a packet, only what changes the engines' shares is one (dma_lanes.h; trn2.md sections 5 and 11).
//
// Between two arrivals the engines have nothing to do with anybody else. So they run ahead of the clock as far as all
// arrivals are known.
class DmaEngines {
 public:
  static constexpr Tick kNever = std::numeric_limits<Tick>::max();
  static constexpr Tick kNone = std::numeric_limits<Tick>::min() / 4;  // long before the start

  DmaEngines(const Spec& s, const Clock& clock);

  // Packets of `transfer` may start at `at`, which run() has not reached. `id` comes back from run(); numbers are small
  // and used again.
  void submit(uint32_t id, int queue, const Transfer& transfer, Tick at);
  // When run() has something to do: an arrival, or a step of an engine. kNever when idle.
  Tick next() const;
  // All that happens up to `until`, inclusive. landed(id, left, posted) for each transfer, by the time `left` at which
  // its last packet has left its last engine; `posted` is when its semaphore shows it.
  template <class Landed>
  void run(Tick until, Landed&& landed) {
    while (!arrivals_.empty() && arrivals_.next() <= until) {
      const auto arrival = arrivals_.pop();
      step_to(arrival.at - 1);
      report(landed);
      enter(arrival.payload, arrival.at);
      step_to(arrival.at);
    }
    step_to(until);
    report(landed);
  }
  // Shared stack: packets that touch HBM take `factor` times as long from `now` on.
  void set_hbm_factor(double factor, Tick now);
  // Are there transfers in flight at `now`, those included that arrive then?
  bool busy(Tick now) const { return in_flight_ > 0 || (!arrivals_.empty() && arrivals_.next() <= now); }
  // How long there were, so far.
  Tick active() const { return active_; }

 private:
  struct Arrival {
    uint32_t transfer;
    int queue;
    Transfer what;
  };
  struct Moving {
    Tick latency = 0;
    size_t engines = 0;
    std::vector<Tick> left;  // by engine that is through with it
  };
  struct Landing {
    uint32_t transfer;
    Tick left, posted;
  };

  void enter(const Arrival& a, Tick at);
  void step_to(Tick until);
  void land(const DmaLanes::Left& l);
  template <class Landed>
  void report(Landed&& landed) {
    for (const Landing& l : landings_) {
      if (--in_flight_ == 0) active_ += l.left - active_from_;
      landed(l.transfer, l.left, l.posted);
    }
    landings_.clear();
  }

  Dealer deal_;
  double hbm_factor_ = 1;
  Tick post_interval_;
  EventQueue<Arrival> arrivals_;
  std::vector<DmaLanes> engines_;
  std::vector<DmaLanes::Left> left_;
  std::vector<Moving> moving_;     // by transfer
  std::vector<Landing> landings_;  // to be reported, by time
  int in_flight_ = 0;
  Tick active_from_ = 0, active_ = 0;
};

}  // namespace trn
