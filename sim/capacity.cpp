#include <algorithm>

#include "isa/dispatch.h"
#include "sim/hazards.h"
#include "sim/order.h"

namespace trn {
namespace {

// Descriptors that one transfer puts into one engine's ring of its queue.
int64_t ring_descriptors(const Transfer& t, const Spec& s) {
  const auto engines = static_cast<int64_t>(s.dma_engines), packet = static_cast<int64_t>(s.dma_max_packet_bytes);
  const int64_t packets = std::max<int64_t>(1, (t.chunk_bytes + packet - 1) / packet);
  return (t.rows * t.chunks * packets + engines - 1) / engines;
}

// Do all transfers of each queue together fit into its rings?
bool always_fit(const Program& p, const Spec& s) {
  std::vector<int64_t> all(p.cores * static_cast<size_t>(s.dma_queues));
  const auto rows = isa();
  for (const Instruction& in : p.instructions) {
    if (!rows[in.card].is_dma) continue;
    int64_t& queue = all[in.core * static_cast<size_t>(s.dma_queues) + in.queue];
    queue += ring_descriptors(rows[in.card].cost(p.raw_args(in), in.engine, s).transfer, s);
    if (queue > static_cast<int64_t>(s.dma_ring_descriptors)) return false;
  }
  return true;
}

}  // namespace

Findings find_full_queues(const Program& p, Order& order, const Spec& s, size_t most) {
  if (always_fit(p, s)) return {};
  struct Ring {
    std::vector<int64_t> until;  // descriptors of the transfers up to each, from 0
  };
  Findings found;
  const auto capacity = static_cast<int64_t>(s.dma_ring_descriptors);
  const Streams& streams = order.streams();
  order.restart();
  std::vector<Ring> rings(static_cast<size_t>(streams.completers()), Ring{{0}});
  std::vector<std::vector<uint16_t>> feeders(p.cores * static_cast<size_t>(s.dma_queues));
  for (uint32_t i = 0; i < p.instructions.size() && found.size() < most; ++i) {
    order.next();
    const Instruction& in = p.instructions[i];
    if (!row(in).is_dma) continue;
    const uint16_t completer = streams.of(i).completer;
    auto& mine = feeders[in.core * static_cast<size_t>(s.dma_queues) + in.queue];
    if (std::find(mine.begin(), mine.end(), completer) == mine.end()) mine.push_back(completer);
    const Transfer transfer = row(in).cost(p.raw_args(in), in.engine, s).transfer;
    auto& until = rings[completer].until;
    until.push_back(until.back() + ring_descriptors(transfer, s));
    int64_t outstanding = 0;
    for (const uint16_t feeder : mine) {
      const auto& ring = rings[feeder].until;
      outstanding += ring.back() - ring[std::min<size_t>(order.completed(feeder), ring.size() - 1)];
    }
    if (outstanding <= capacity) continue;
    found.push_back(
        {.kind = RuleKind::queue_overflow,
         .fault = Fault::undefined,
         .rule = who(i) + " brings its queue to " + std::to_string(outstanding) +
                 " descriptors in an engine's ring, which holds " + std::to_string(capacity),
         .instruction = i,
         .notes = {"missing: a wait for earlier transfers of the queue, or rows of more consecutive bytes"}});
    return found;  // what follows overflows too
  }
  return found;
}

Findings find_reserved_memory(const Program& p, const Spec& s, size_t most) {
  const auto all = static_cast<int64_t>(s.sbuf_partition_bytes);
  const int64_t usable = all - static_cast<int64_t>(s.sbuf_reserved_bytes);
  for (uint32_t i = 0; i < p.instructions.size() && most > 0; ++i) {
    const AccessList list = accesses(p, p.instructions[i]);
    for (int k = 0; k < list.count; ++k) {
      const ByteRange r = byte_range(*list.access[k]);
      if (list.access[k]->space != Space::sbuf || r.end <= usable) continue;
      return {{.kind = RuleKind::capacity,
               .fault = Fault::unpredictable,
               .rule = who(i) + " uses SBUF bytes up to " + std::to_string(r.end) + " of each partition; those from " +
                       std::to_string(usable) + " on are believed to be the system's",
               .instruction = i,
               .notes = {"operand " + to_string(*list.access[k])},
               .advice = true}};
    }
  }
  return {};
}

}  // namespace trn
