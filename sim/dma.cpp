#include "sim/dma.h"

#include <algorithm>

namespace trn {

DmaEngines::DmaEngines(const Spec& s, const Clock& clock) : spec_(s), ticks_per_ns_(clock.ticks_per_ns) {
  engines_.resize(static_cast<size_t>(s.dma_engines));
  for (auto& e : engines_) e.queues.resize(static_cast<size_t>(s.dma_queues));
}

void DmaEngines::submit(uint32_t id, int queue, const Transfer& t, Tick at) {
  const auto engines = static_cast<int64_t>(engines_.size());
  const int64_t packets_per_chunk =
      std::max<int64_t>(1, (t.chunk_bytes + static_cast<int64_t>(spec_.dma_max_packet_bytes) - 1) /
                               static_cast<int64_t>(spec_.dma_max_packet_bytes));
  const double packet_bytes = static_cast<double>(t.chunk_bytes) / static_cast<double>(packets_per_chunk);
  const double packet_ns = spec_.dma_packet_ns + packet_bytes / spec_.dma_bytes_per_ns;
  const int64_t packets_per_row = std::max<int64_t>(1, t.chunks * packets_per_chunk);

  // Rows are dealt in groups; a transfer of few rows with many packets is spread packet by packet.
  const auto group = static_cast<int64_t>(spec_.dma_partitions_per_engine);
  const int64_t rows = std::max<int64_t>(1, t.rows);
  const int64_t total = rows * packets_per_row;
  const bool by_rows = rows > group || total < engines;
  if (shares_left_.size() <= id) shares_left_.resize(id + 1, 0);

  int used = 0;
  for (int64_t e = 0; e < engines; ++e) {
    int64_t packets = 0;
    if (by_rows) {
      const int64_t rounds = rows / (group * engines), rest = rows % (group * engines);
      packets = (rounds * group + std::clamp<int64_t>(rest - e * group, 0, group)) * packets_per_row;
    } else {
      packets = total / engines + (e < total % engines);
    }
    if (packets == 0) continue;
    auto& engine = engines_[static_cast<size_t>(e)];
    auto& fifo = engine.queues[static_cast<size_t>(queue)];
    settle(engine, at);
    // Engines get their descriptors one after another; behind an earlier transfer that goes unnoticed.
    const double late = fifo.empty()
                            ? static_cast<double>(e) *
                                  (t.reads_hbm ? spec_.dma_stagger_hbm_ns : spec_.dma_stagger_sbuf_ns) * ticks_per_ns_
                            : 0;
    fifo.push_back({id, t.reads_hbm || t.writes_hbm, static_cast<double>(packets), packet_ns * ticks_per_ns_, late});
    plan(engine);
    ++used;
  }
  shares_left_[id] = used;
  refresh();
}

void DmaEngines::set_hbm_factor(double factor, Tick now) {
  if (factor == hbm_factor_) return;
  for (auto& e : engines_) settle(e, now);
  hbm_factor_ = factor;
  for (auto& e : engines_) plan(e);
  refresh();
}

void DmaEngines::settle(EngineState& e, Tick now) {
  const double elapsed = static_cast<double>(now) - e.settled;
  e.settled = static_cast<double>(now);
  if (elapsed <= 0) return;
  for (auto& q : e.queues) {
    if (q.empty()) continue;
    Share& head = q.front();
    if (head.late > 0)
      head.late = head.late - elapsed < 1 ? 0 : head.late - elapsed;  // a tick's rounding leaves no sliver
    else
      head.packets = std::max(0.0, head.packets - elapsed / e.cycle);
  }
}

void DmaEngines::plan(EngineState& e) {
  e.cycle = 0;
  double packets = std::numeric_limits<double>::max(), late = packets;
  for (const auto& q : e.queues) {
    if (q.empty()) continue;
    if (q.front().late > 0) {
      late = std::min(late, q.front().late);
      continue;
    }
    e.cycle += packet_ticks(q.front());
    packets = std::min(packets, q.front().packets);
  }
  const double soonest = std::min(late, e.cycle > 0 ? packets * e.cycle : late);
  e.next = soonest < std::numeric_limits<double>::max() ? static_cast<Tick>(std::ceil(e.settled + soonest)) : kNever;
}

void DmaEngines::depart(EngineState& e, Tick now) {
  settle(e, now);
  for (auto& q : e.queues) {
    // A tick's rounding can leave a sliver of a packet.
    if (q.empty() || q.front().late > 0 || q.front().packets * packet_ticks(q.front()) >= 1) continue;
    if (--shares_left_[q.front().transfer] == 0) finished_.push_back(q.front().transfer);
    q.pop_front();
  }
  plan(e);
  if (e.next <= now) e.next = now + 1;
}

void DmaEngines::refresh() {
  next_ = kNever;
  for (const auto& e : engines_) next_ = std::min(next_, e.next);
}

}  // namespace trn
