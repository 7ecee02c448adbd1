#pragma once
#include <memory>
#include <vector>

#include "isa/card.h"
#include "sim/ticks.h"

namespace trn {

// How the descriptors of one transfer are dealt to the DMA engines, in ticks.
struct Deal {
  Transfer of;
  bool touches_hbm = false;
  double packet_ticks = 0;  // of one, alone
  Tick latency = 0;         // from an engine's last packet to its semaphore update
  // By engine, filled up to a multiple of kUnit.
  static constexpr size_t kUnit = 16;
  std::vector<double> packets;  // 0: it gets none
  std::vector<double> startup;  // before the first packet, were it alone, while its queue's reads are not under way
  std::vector<double> restart;  // before the first packet, where it came after such reads had begun
  std::vector<double> late;     // until the engine has its descriptors, where its queue was idle
  size_t engines = 0;           // that get any packets
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
