#include "sim/dma_issue.h"

#include <algorithm>

namespace trn {

DmaIssue::DmaIssue(const Spec& s, const Clock& c)
    : right_behind(c.from_ns(60)),
      first_packet_hbm(c.from_ns(s.dma_first_packet_hbm_ns)),
      first_packet_sbuf(c.from_ns(s.dma_first_packet_sbuf_ns)),
      build(c.from_ns(s.dma_swdge_build_ns)),
      build_interval(c.from_ns(s.dma_swdge_interval_ns)),
      software_trigger(c.from_ns(s.dma_swdge_trigger_ns)),
      software_first_packet_hbm(c.from_ns(s.dma_swdge_first_packet_hbm_ns)),
      software_first_packet_sbuf(c.from_ns(s.dma_swdge_first_packet_sbuf_ns)),
      ring_interval(c.from_ns(s.doorbell_interval_ns)),
      first_packet_ring(c.from_ns(s.dma_first_packet_ring_ns)),
      queue_stall(c.from_ns(s.dma_queue_stall_ns)) {
  for (const size_t many_dims : {0, 1})
    for (const size_t first : {0, 1})
      for (const size_t behind : {0, 1}) {
        double ns = many_dims ? s.dma_trigger_2d_ns : s.dma_trigger_1d_ns;
        if (first) ns += s.dma_trigger_first_ns;
        if (behind) ns += s.dma_trigger_back_to_back_ns;
        trigger[many_dims][first][behind] = c.from_ns(ns);
      }
}

// A trigger that has waited for its queue may end as soon as it goes on.
Tick DmaIssue::soonest_packet() const {
  return std::min({first_packet_hbm, first_packet_sbuf, build + software_first_packet_hbm,
                   build + software_first_packet_sbuf, first_packet_ring});
}

}  // namespace trn
