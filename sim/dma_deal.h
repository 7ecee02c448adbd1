#pragma once
#include <memory>
#include <vector>

#include "isa/card.h"
#include "sim/ticks.h"

namespace trn {

// How the descriptors of one transfer are dealt to the DMA engines, in ticks.
struct Deal {
  // What one engine gets of it: perhaps no packets.
  struct Part {
    double packets = 0;
    double startup = 0;  // before its first packet, while the reads of its queue are not under way
    double restart = 0;  // before its first packet, where it came after such reads had begun
    double late = 0;     // until the engine has its descriptors, where its queue was idle
  };
  Transfer of;
  bool touches_hbm = false;
  double packet_ticks = 0;  // of one, alone
  Tick latency = 0;         // from an engine's last packet to its semaphore update
  static constexpr size_t kUnit = 16;
  std::vector<Part> parts;  // by engine, filled up to a multiple of kUnit
  int64_t engines = 0;      // that get any
};

// Deals, and remembers: a Program moves few shapes many times.
class Dealer {
 public:
  Dealer(const Spec& s, const Clock& clock) : spec_(s), ticks_per_ns_(clock.ticks_per_ns) {}
  std::shared_ptr<const Deal> operator()(const Transfer& t);

 private:
  struct Packets {
    double ns;      // of one
    double bytes;   // of one
    int64_t count;  // of a row
  };
  Packets packets_of(const Transfer& t) const;
  Deal deal(const Transfer& t) const;

  static constexpr size_t kRemembered = 256;
  const Spec& spec_;
  double ticks_per_ns_;
  std::vector<std::shared_ptr<const Deal>> deals_{kRemembered};
};

}  // namespace trn
