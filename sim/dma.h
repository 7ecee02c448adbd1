#pragma once
#include <array>
#include <deque>
#include <limits>
#include <vector>

#include "isa/card.h"
#include "sim/observer.h"

namespace trn {

// The 16 DMA engines of one core. A transfer is dealt to the engines in groups of partitions; an engine serves its
// queues round robin, a packet each, first come first served within a queue. Instead of an event a packet, an engine
// with k busy queues gives each of them one packet per cycle of k packet times, and only arrivals and departures are
// events (trn2.md sections 5 and 11).
class DmaEngines {
 public:
  static constexpr Tick kNever = std::numeric_limits<Tick>::max();

  DmaEngines(const Spec& s, const Clock& clock);

  // Packets of `transfer` may start at `at` (not before earlier calls' progress()). `id` comes back from progress().
  void submit(uint32_t id, int queue, const Transfer& transfer, Tick at);
  // Time of the next departure; kNever when idle.
  Tick next() const { return next_; }
  // Departures at time `now` (= next()): `done(id)` for each transfer whose last packet has left its last engine.
  template <class Done>
  void progress(Tick now, Done&& done) {
    for (auto& engine : engines_)
      if (engine.next <= now) depart(engine, now);
    for (const uint32_t id : finished_) done(id);
    finished_.clear();
    refresh();
  }
  // Shared stack: packets that touch HBM take `factor` times as long from `now` on.
  void set_hbm_factor(double factor, Tick now);
  bool busy() const { return next_ != kNever; }

 private:
  struct Share {
    uint32_t transfer;
    bool hbm;
    double packets;       // left
    double packet_ticks;  // alone
    double late;          // ticks until this engine has its descriptors
  };
  struct EngineState {
    std::vector<std::deque<Share>> queues;
    double settled = 0;  // progress is accounted for up to here
    double cycle = 0;    // sum of the packet times of the heads that have their descriptors
    Tick next = kNever;
  };

  double packet_ticks(const Share& s) const { return s.hbm ? s.packet_ticks * hbm_factor_ : s.packet_ticks; }
  void settle(EngineState& e, Tick now);
  void plan(EngineState& e);
  void depart(EngineState& e, Tick now);
  void refresh();

  const Spec& spec_;
  double ticks_per_ns_;
  double hbm_factor_ = 1;
  std::vector<EngineState> engines_;
  std::vector<int> shares_left_;  // by transfer id
  std::vector<uint32_t> finished_;
  Tick next_ = kNever;
};

}  // namespace trn
