#pragma once
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
  static constexpr Tick kNone = std::numeric_limits<Tick>::min() / 4;  // long before the start

  DmaEngines(const Spec& s, const Clock& clock);

  // Packets of `transfer` may start at `at` (not before earlier calls' progress()). `id` comes back from progress().
  void submit(uint32_t id, int queue, const Transfer& transfer, Tick at);
  // Time of the next departure; kNever when idle.
  Tick next() const { return next_; }
  // Departures at time `now` (= next()): `done(id, posted)` for each transfer whose last packet has left its last
  // engine; `posted` is when its semaphore shows it.
  template <class Done>
  void progress(Tick now, Done&& done) {
    for (auto& engine : engines_)
      if (engine.next <= now) depart(engine, now);
    for (const uint32_t id : finished_) done(id, moving_[id].posted);
    finished_.clear();
    refresh();
  }
  // Shared stack: packets that touch HBM take `factor` times as long from `now` on.
  void set_hbm_factor(double factor, Tick now);
  bool busy() const { return next_ != kNever; }

 private:
  // One engine's part of a transfer. HBM reads of a queue begin with `startup` and take all that is queued by then with
  // them; what comes later begins anew (profiles: of three transfers the second follows at full rate, the third does
  // not).
  struct Share {
    uint32_t transfer;
    bool hbm;
    double first;         // of its first packet, left: 1 at the start
    double packets;       // left after it
    double packet_ticks;  // alone
    double startup;       // more for the first packet, while its reads are not under way
    double late;          // ticks until this engine has its descriptors
    double restart;       // before it, where it came after the reads before it had begun
    Tick came;
  };
  struct Fifo {
    std::vector<Share> shares;
    size_t head = 0;
    double reading_from = 0;  // HBM reads that were queued by then began together
    bool empty() const { return head == shares.size(); }
    Share& front() { return shares[head]; }
    const Share& front() const { return shares[head]; }
    void push(const Share& s);
    void pop() { ++head; }
  };
  struct EngineState {
    std::vector<Fifo> queues;
    std::vector<uint8_t> active;  // queues that are not empty, in order
    double settled = 0;           // progress is accounted for up to here
    double cycle = 0;             // sum of the packet times of the heads that have their descriptors
    Tick next = kNever;
  };
  struct Moving {
    int shares = 0;  // engines still at work
    Tick latency = 0;
    Tick posted = 0;  // the latest engine's semaphore update so far
  };
  struct Packets {
    double ns;      // of one
    double bytes;   // of one
    int64_t count;  // of a row
  };

  Packets packets_of(const Transfer& t) const;
  double left(const Share& s) const { return s.first > 0 ? s.first : s.packets; }
  double packet_ticks(const Share& s) const {
    return (s.hbm ? s.packet_ticks * hbm_factor_ : s.packet_ticks) + (s.first > 0 ? s.startup : 0);
  }
  void settle(EngineState& e, Tick now);
  void plan(EngineState& e);
  void depart(EngineState& e, Tick now);
  void refresh();

  const Spec& spec_;
  double ticks_per_ns_;
  double hbm_factor_ = 1;
  Tick post_interval_;
  std::vector<EngineState> engines_;
  std::vector<Moving> moving_;  // by transfer id
  std::vector<uint32_t> finished_;
  Tick next_ = kNever;
};

}  // namespace trn
