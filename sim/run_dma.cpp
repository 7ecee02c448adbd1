#include <algorithm>
#include <utility>

#include "sim/run.h"

namespace trn {

// At most Spec::dma_queue_depth stores of a hardware queue are in flight: an issue that finds more holds its sequencer
// until there is room (profiles show it on Scalar; Sync's loads follow no such rule). False when that is not known yet;
// else `room` is when.
bool Run::queue_has_room(uint32_t stream, Queue& q, Tick& room, uint32_t& blocker, Tick now) {
  if (q.triggered < q.last.size()) return true;
  const Queue::Entry& earliest = q.last[q.triggered % q.last.size()];
  if (earliest.done == DmaEngines::kNever) {
    q.waiting.push_back(stream);
    return false;
  }
  room = earliest.done + queue_stall_;
  blocker = earliest.record;
  if (room <= now) return true;
  wake(stream, room);
  return false;
}

// A DMA instruction: the trigger holds its engine's sequencer, then the transfer runs on its queue. False when the
// queue is full.
bool Run::start_dma(uint32_t stream, uint32_t index, Tick at, Tick now, const Cost& cost) {
  Stream& st = streams_[stream];
  const Record& r = w_.records[index];
  Core& core = cores_[r.core];
  Queue& q = core.queues[r.queue];
  const Transfer& t = cost.transfer;
  Tick room = DmaEngines::kNone;
  uint32_t blocker = WaitEvent::kNobody;
  if (t.writes_hbm && !t.software && !t.fixed_ring && !queue_has_room(stream, q, room, blocker, now)) return false;

  Tick start = at, end, packets;
  const auto ticks = [&](double ns) { return clock_.from_ns(ns); };
  if (t.fixed_ring) {
    end = at + st.doorbell;
    packets = end + ticks(s_.dma_first_packet_ring_ns);
    st.control_free = st.free = st.software_free = at + std::max(ticks(s_.doorbell_interval_ns), st.doorbell);
  } else if (t.software) {
    start = std::max(at + ticks(s_.dma_swdge_build_ns), core.software_built + ticks(s_.dma_swdge_interval_ns));
    waited(st, index, at, start, Reason::descriptors, WaitEvent::kNobody);
    core.software_built = start;
    end = start + ticks(s_.dma_swdge_trigger_ns);
    packets = start + ticks(t.reads_hbm ? s_.dma_swdge_first_packet_hbm_ns : s_.dma_swdge_first_packet_sbuf_ns);
    st.control_free = st.free = end + st.gap;
    st.software_free = at + ticks(s_.sequencer_issue_ns);
  } else {
    double ns = t.pattern_dims > 1 ? s_.dma_trigger_2d_ns : s_.dma_trigger_1d_ns;
    if (!q.used) ns += s_.dma_trigger_first_ns;
    if (at - st.trigger_end < ticks(60)) ns += s_.dma_trigger_back_to_back_ns;
    end = std::max(at + ticks(ns), room);
    waited(st, index, at + ticks(ns), end, Reason::dma_queue_full, blocker);
    packets = end + ticks(t.reads_hbm ? s_.dma_first_packet_hbm_ns : s_.dma_first_packet_sbuf_ns);
    st.control_free = st.software_free = end + st.gap;
    st.free = end + st.compute_gap;
  }
  q.used = true;
  st.trigger_end = end;

  const auto entry = static_cast<uint32_t>(q.triggered++ % q.last.size());
  q.last[entry] = {DmaEngines::kNever, index};
  if (free_flights_.empty()) {
    free_flights_.push_back(static_cast<uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const uint32_t flight = free_flights_.back();
  free_flights_.pop_back();
  flights_[flight] = {index, entry, packets};
  events_.push(packets, static_cast<uint8_t>(Kind::first_packet), {Kind::first_packet, r.core, flight});

  const int64_t bytes = t.rows * t.chunks * t.chunk_bytes;
  ++timing_.dma_transfers;
  timing_.dma_bytes += bytes;
  if (t.reads_hbm) timing_.hbm_read_bytes += bytes;
  if (t.writes_hbm) timing_.hbm_write_bytes += bytes;
  occupy(st, start, end);
  timing_.makespan = std::max(timing_.makespan, end);
  if (observer_) observer_->instruction({index, start, end});
  return true;
}

void Run::first_packet(uint32_t flight, uint8_t index, Tick now) {
  Core& core = cores_[index];
  if (core.in_flight++ == 0) core.dma_from = now;
  watch_hbm(now);
  const Record& r = w_.records[flights_[flight].record];
  core.dma->submit(flight, r.queue, w_.costs[r.cost].transfer, now);
  packets_done(index, now);
}

// Departures of a core's DMA engines at `now`, then the next event is planned.
void Run::packets_done(uint8_t index, Tick now) {
  cores_[index].dma->progress(now, [&](uint32_t flight, Tick end) { landed(flight, index, now, end); });
  plan(index);
}

// The last packet of a transfer has left.
void Run::landed(uint32_t flight, uint8_t index, Tick now, Tick end) {
  Core& core = cores_[index];
  const Flight f = flights_[flight];
  free_flights_.push_back(flight);
  const Record& r = w_.records[f.record];
  const Transfer& t = w_.costs[r.cost].transfer;
  if (--core.in_flight == 0) core.dma_active += now - core.dma_from;
  watch_hbm(now);
  events_.push(end, static_cast<uint8_t>(Kind::post), {Kind::post, index, f.record});
  timing_.makespan = std::max(timing_.makespan, end);
  if (observer_)
    observer_->transfer({f.record, r.core, r.queue, f.first_packet, end, t.rows * t.chunks * t.chunk_bytes});
  Queue& q = core.queues[r.queue];
  q.last[f.entry].done = end;
  for (const uint32_t stream : std::exchange(q.waiting, {})) wake(stream, end + queue_stall_);
}

void Run::plan(uint8_t index) {
  Core& core = cores_[index];
  const Tick next = core.dma->next();
  if (next >= core.planned) return;
  core.planned = next;
  events_.push(next, static_cast<uint8_t>(Kind::dma), {Kind::dma, index, 0});
}

// Two cores share one HBM stack: when both move data, each gets at most half of it.
void Run::watch_hbm(Tick now) {
  if (cores_.size() < 2) return;
  const bool both = cores_[0].in_flight > 0 && cores_[1].in_flight > 0;
  const double core_rate = s_.dma_bytes_per_ns * s_.dma_engines;
  const double factor = both ? std::max(1.0, 2 * core_rate / s_.hbm_stack_bytes_per_ns) : 1.0;
  for (uint8_t c = 0; c < cores_.size(); ++c) {
    cores_[c].dma->set_hbm_factor(factor, now);
    const Tick next = cores_[c].dma->next();
    if (next == DmaEngines::kNever || next == cores_[c].planned) continue;
    cores_[c].planned = next;
    events_.push(next, static_cast<uint8_t>(Kind::dma), {Kind::dma, c, 0});
  }
}

}  // namespace trn
