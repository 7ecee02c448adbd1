#pragma once
#include <array>

#include "isa/card.h"
#include "sim/ticks.h"

namespace trn {

// How long it takes to issue a DMA instruction, in ticks.
struct DmaIssue {
  DmaIssue(const Spec& s, const Clock& clock);

  // Hardware descriptors, by what the trigger is: of more than one dim, the first of its queue, right behind another
  // one of its engine.
  std::array<std::array<std::array<Tick, 2>, 2>, 2> trigger;
  Tick right_behind;
  Tick first_packet_hbm, first_packet_sbuf;  // from the trigger's end
  // Software descriptors.
  Tick build, build_interval, software_trigger;
  Tick software_first_packet_hbm, software_first_packet_sbuf;  // from the trigger's start
  // Descriptors that stand ready: a doorbell.
  Tick ring_interval, first_packet_ring;

  Tick queue_stall;  // from a completion until a full queue takes another one
  // From the time at which any DMA instruction is issued, or goes on, to its first packet, at least.
  Tick soonest_packet() const;
};

}  // namespace trn
