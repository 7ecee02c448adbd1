#include "sim/dma.h"

#include <algorithm>

namespace trn {

DmaEngines::DmaEngines(const Spec& s, const Clock& clock)
    : spec_(s), ticks_per_ns_(clock.ticks_per_ns), post_interval_(clock.from_ns(s.dma_completion_interval_ns)) {
  engines_.resize(static_cast<size_t>(s.dma_engines));
  for (auto& e : engines_) e.queues.resize(static_cast<size_t>(s.dma_queues));
}

void DmaEngines::Fifo::push(const Share& s) {
  if (head > 0 && head * 2 >= shares.size()) {
    shares.erase(shares.begin(), shares.begin() + static_cast<std::ptrdiff_t>(head));
    head = 0;
  }
  shares.push_back(s);
}

// Elements are cut to the largest packet; software descriptors gather neighbours in HBM into one packet, which costs
// time by the chunk where the chunks are read (trn2.md section 11).
DmaEngines::Packets DmaEngines::packets_of(const Transfer& t) const {
  const auto most = static_cast<int64_t>(spec_.dma_max_packet_bytes);
  const int64_t chunk = std::max<int64_t>(1, t.chunk_bytes);
  const double fixed = t.cast ? spec_.dma_cast_packet_ns : spec_.dma_packet_ns;
  if (t.software && !t.cast && t.neighbours > 1 && 2 * chunk <= most) {
    const int64_t gathered = std::min(most / chunk, t.neighbours);
    const double bytes = static_cast<double>(chunk * gathered), streamed = bytes / spec_.dma_bytes_per_ns;
    const double ns = t.reads_hbm ? fixed + streamed : static_cast<double>(gathered) * spec_.dma_chunk_ns + streamed;
    return {ns, bytes, std::max<int64_t>(1, t.chunks)};
  }
  const int64_t cuts = t.fixed_ring ? 1 : std::max<int64_t>(1, (chunk + most - 1) / most);
  const double bytes = static_cast<double>(chunk) / static_cast<double>(cuts);
  return {fixed + bytes / spec_.dma_bytes_per_ns, bytes, std::max<int64_t>(1, t.chunks * cuts)};
}

void DmaEngines::submit(uint32_t id, int queue, const Transfer& t, Tick at) {
  const auto engines = static_cast<int64_t>(engines_.size());
  const Packets packet = packets_of(t);

  // Rows are dealt in groups; a transfer of few rows with many packets is spread packet by packet.
  const auto group = static_cast<int64_t>(spec_.dma_partitions_per_engine);
  const int64_t rows = std::max<int64_t>(1, t.rows);
  const double gathered = std::max(1.0, packet.bytes / static_cast<double>(std::max<int64_t>(1, t.chunk_bytes)));
  const int64_t total = rows * packet.count;
  const bool by_rows = rows > group || total < engines;
  if (moving_.size() <= id) moving_.resize(id + 1);
  Moving& moving = moving_[id];
  const bool store = t.writes_hbm && !t.software;
  const double latency = store ? spec_.dma_completion_store_ns : spec_.dma_completion_load_ns;
  moving = {0, static_cast<Tick>(std::llround(latency * ticks_per_ns_)), 0};

  for (int64_t e = 0; e < engines; ++e) {
    int64_t share = 0;
    if (by_rows) {
      const int64_t rounds = rows / (group * engines), rest = rows % (group * engines);
      share = (rounds * group + std::clamp<int64_t>(rest - e * group, 0, group)) * packet.count;
    } else {
      share = total / engines + (e < total % engines);
    }
    if (share == 0) continue;
    auto& engine = engines_[static_cast<size_t>(e)];
    auto& fifo = engine.queues[static_cast<size_t>(queue)];
    settle(engine, at);
    const double packets = std::max(1.0, static_cast<double>(share) / gathered);
    // Engines get their descriptors one after another; behind an earlier transfer that goes unnoticed.
    const double stagger = t.reads_hbm ? spec_.dma_stagger_hbm_ns : spec_.dma_stagger_sbuf_ns;
    Share s{};
    s.transfer = id;
    s.came = at;
    s.hbm = t.reads_hbm || t.writes_hbm;
    s.first = 1;
    s.packets = packets - 1;
    s.packet_ticks = packet.ns * ticks_per_ns_;
    if (t.reads_hbm && packet.bytes >= spec_.hbm_startup_packet_bytes) {
      const double by_bytes = packets * packet.bytes * spec_.hbm_startup_byte_ns;
      s.startup = std::min<double>(spec_.hbm_startup_ns, by_bytes) * ticks_per_ns_;
      s.restart = std::min<double>(spec_.hbm_restart_ns, by_bytes) * ticks_per_ns_;
    }
    if (fifo.empty()) {
      s.late = static_cast<double>(e) * stagger * ticks_per_ns_;
      fifo.reading_from = static_cast<double>(at) + s.late + s.startup + s.packet_ticks;
      engine.active.insert(std::upper_bound(engine.active.begin(), engine.active.end(), queue),
                           static_cast<uint8_t>(queue));
    }
    fifo.push(s);
    plan(engine);
    ++moving.shares;
  }
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
  for (const uint8_t q : e.active) {
    Share& head = e.queues[q].front();
    if (head.late > 0)
      head.late = head.late - elapsed < 1 ? 0 : head.late - elapsed;  // a tick's rounding leaves no sliver
    else if (head.first > 0)
      head.first = std::max(0.0, head.first - elapsed / e.cycle);
    else
      head.packets = std::max(0.0, head.packets - elapsed / e.cycle);
  }
}

void DmaEngines::plan(EngineState& e) {
  e.cycle = 0;
  double packets = std::numeric_limits<double>::max(), late = packets;
  for (const uint8_t q : e.active) {
    const Share& head = e.queues[q].front();
    if (head.late > 0) {
      late = std::min(late, head.late);
      continue;
    }
    e.cycle += packet_ticks(head);
    packets = std::min(packets, left(head));
  }
  const double soonest = std::min(late, e.cycle > 0 ? packets * e.cycle : late);
  e.next = soonest < std::numeric_limits<double>::max() ? static_cast<Tick>(std::ceil(e.settled + soonest)) : kNever;
}

void DmaEngines::depart(EngineState& e, Tick now) {
  settle(e, now);
  for (size_t i = 0; i < e.active.size();) {
    Fifo& q = e.queues[e.active[i]];
    Share& head = q.front();
    // A tick's rounding can leave a sliver of a packet.
    if (head.late > 0 || left(head) * packet_ticks(head) >= 1) {
      ++i;
      continue;
    }
    if (head.first > 0) {
      head.first = 0;
      if (head.packets * packet_ticks(head) >= 1) {
        ++i;
        continue;
      }
    }
    Moving& moving = moving_[head.transfer];
    moving.posted = std::max(now + moving.latency, moving.posted + post_interval_);
    if (--moving.shares == 0) finished_.push_back(head.transfer);
    q.pop();
    if (q.empty()) {
      e.active.erase(e.active.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    Share& after = q.front();
    after.startup = 0;
    if (after.restart > 0 && static_cast<double>(after.came) > q.reading_from) {
      after.late = after.restart;
      q.reading_from = static_cast<double>(now) + after.restart + after.packet_ticks;
    }
    ++i;
  }
  plan(e);
  if (e.next <= now) e.next = now + 1;
}

void DmaEngines::refresh() {
  next_ = kNever;
  for (const auto& e : engines_) next_ = std::min(next_, e.next);
}

}  // namespace trn
