#pragma once
#include <map>
#include <optional>

#include "isa/card.h"
#include "traces/replay/operands.h"
#include "traces/replay/profile.h"

namespace trn::replay {

// The transfer that a DMA instruction with patterns (DMA_DIRECT2D) starts; `software`: issued by GpSimd. Nothing when
// its patterns cannot be read.
std::optional<Transfer> transfer_of(const Operands& o, bool software);

// Transfers of rings that stand ready in memory, found in the packet table: each ends with a 4-byte semaphore write on
// every engine that takes part. One per queue and position, in order of their first packets.
struct RingTransfer {
  std::string subgraph;
  int queue = 0;
  int64_t first_packet = 0, last_end = 0;  // measured: used to tell which doorbell and semaphore belong to it
  Transfer transfer;
  int engines = 0;
};
std::vector<RingTransfer> ring_transfers(const std::vector<PacketRow>& packets);

}  // namespace trn::replay
