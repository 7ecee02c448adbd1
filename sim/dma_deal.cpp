#include "sim/dma_deal.h"

#include <algorithm>

namespace trn {

std::shared_ptr<const Deal> Dealer::operator()(const Transfer& t) {
  const uint64_t shape = static_cast<uint64_t>(t.rows) * 0x9E3779B97F4A7C15 ^
                         static_cast<uint64_t>(t.chunks) * 0xC2B2AE3D27D4EB4F ^
                         static_cast<uint64_t>(t.chunk_bytes) * 0x165667B19E3779F9;
  const uint64_t kind = 4 * t.reads_hbm + 2 * t.writes_hbm + t.software;
  auto& known = deals_[((shape >> 32) + kind) % kRemembered];
  if (!known || !(known->of == t)) known = std::make_shared<const Deal>(deal(t));
  return known;
}

// Elements are cut to the largest packet; software descriptors gather neighbours in HBM into one packet, which costs
// time by the chunk where the chunks are read (trn2.md section 11).
Dealer::Packets Dealer::packets_of(const Transfer& t) const {
  const auto most = static_cast<int64_t>(spec_.dma_max_packet_bytes);
  const int64_t chunk = std::max<int64_t>(1, t.chunk_bytes);
  const double fixed = t.cast ? spec_.dma_cast_packet_ns : spec_.dma_packet_ns;
  const double stalls = t.reads_hbm || t.writes_hbm ? double{spec_.dma_stall_byte_ns} : 0;
  const double byte_ns = 1 / (t.peak * spec_.dma_bytes_per_ns) + stalls;
  if (t.software && !t.cast && t.neighbours > 1 && 2 * chunk <= most) {
    const int64_t gathered = std::min(most / chunk, t.neighbours);
    const double bytes = static_cast<double>(chunk * gathered), streamed = bytes * byte_ns;
    const double ns = t.reads_hbm ? fixed + streamed : static_cast<double>(gathered) * spec_.dma_chunk_ns + streamed;
    return {ns, bytes, std::max<int64_t>(1, t.chunks)};
  }
  const int64_t cuts = t.fixed_ring ? 1 : std::max<int64_t>(1, (chunk + most - 1) / most);
  const double bytes = static_cast<double>(chunk) / static_cast<double>(cuts);
  return {fixed + bytes * byte_ns, bytes, std::max<int64_t>(1, t.chunks * cuts)};
}

Deal Dealer::deal(const Transfer& t) const {
  const auto engines = static_cast<int64_t>(spec_.dma_engines);
  const Packets packet = packets_of(t);
  // Rows are dealt in groups; a transfer of few rows with many packets is spread packet by packet.
  const auto group = static_cast<int64_t>(spec_.dma_partitions_per_engine);
  const int64_t rows = std::max<int64_t>(1, t.rows), total = rows * packet.count;
  const bool by_rows = rows > group || total < engines;
  const double gathered = std::max(1.0, packet.bytes / static_cast<double>(std::max<int64_t>(1, t.chunk_bytes)));
  const auto packets_on = [&](int64_t engine) {
    if (!by_rows) return total / engines + (engine < total % engines);
    const int64_t rounds = rows / (group * engines), rest = rows % (group * engines);
    return (rounds * group + std::clamp<int64_t>(rest - engine * group, 0, group)) * packet.count;
  };

  Deal d;
  d.of = t;
  d.touches_hbm = t.reads_hbm || t.writes_hbm;
  d.packet_ticks = packet.ns * ticks_per_ns_;
  const bool store = t.writes_hbm && !t.software;
  const double latency = store ? spec_.dma_completion_store_ns : spec_.dma_completion_load_ns;
  d.latency = std::llround(latency * ticks_per_ns_);
  // Engines get their descriptors one after another; behind an earlier transfer that goes unnoticed.
  const double stagger = t.reads_hbm ? spec_.dma_stagger_hbm_ns : spec_.dma_stagger_sbuf_ns;
  const size_t size = (static_cast<size_t>(engines) + Deal::kUnit - 1) / Deal::kUnit * Deal::kUnit;
  for (auto* of_engines : {&d.packets, &d.startup, &d.restart, &d.late}) of_engines->resize(size);
  for (size_t e = 0; e < static_cast<size_t>(engines); ++e) {
    const int64_t share = packets_on(static_cast<int64_t>(e));
    if (share == 0) continue;
    ++d.engines;
    d.packets[e] = std::max(1.0, static_cast<double>(share) / gathered);
    d.late[e] = static_cast<double>(e) * stagger * ticks_per_ns_;
    if (t.reads_hbm && packet.bytes >= spec_.hbm_startup_packet_bytes) {
      const double by_bytes = d.packets[e] * packet.bytes * spec_.hbm_startup_byte_ns;
      d.startup[e] = std::min<double>(spec_.hbm_startup_ns, by_bytes) * ticks_per_ns_;
      d.restart[e] = std::min<double>(spec_.hbm_restart_ns, by_bytes) * ticks_per_ns_;
    }
  }
  return d;
}

}  // namespace trn
