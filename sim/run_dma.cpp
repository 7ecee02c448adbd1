#include <algorithm>

#include "sim/run.h"

namespace trn {

// At most Spec::dma_queue_depth transfers of a queue are in flight: a trigger that finds more stalls. True when it has
// to come back; else `at` is when it may go.
bool Run::queue_is_full(uint32_t stream, uint32_t index, Queue& q, Tick& at, Tick now) {
  if (q.triggered < q.last.size()) return false;
  const Queue::Entry& earliest = q.last[q.triggered % q.last.size()];
  if (earliest.done == DmaEngines::kNever) {
    q.waiting.push_back(stream);
    return true;
  }
  const Tick room = earliest.done + queue_stall_;
  if (room > now) {
    wake(stream, room);
    return true;
  }
  if (room > at) waited(streams_[stream], index, at, room, Reason::dma_queue_full, earliest.record);
  at = std::max(at, room);
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
  if (queue_is_full(stream, index, q, at, now)) return false;

  Tick trigger, packets;
  if (t.software) {
    const Tick built = std::max(at, core.swdge_free) + clock_.from_ns(s_.dma_swdge_build_ns);
    waited(st, index, at, built, Reason::descriptors, WaitEvent::kNobody);
    core.swdge_free = built + clock_.from_ns(s_.dma_swdge_interval_ns) - clock_.from_ns(s_.dma_swdge_build_ns);
    trigger = built;
    packets =
        built + clock_.from_ns(t.reads_hbm ? s_.dma_swdge_first_packet_hbm_ns : s_.dma_swdge_first_packet_sbuf_ns);
  } else {
    double ns = t.pattern_dims > 1 ? s_.dma_trigger_2d_ns : s_.dma_trigger_1d_ns;
    if (st.trigger_end >= 0 && at - st.trigger_end < clock_.from_ns(60)) ns += s_.dma_trigger_back_to_back_ns;
    trigger = at + clock_.from_ns(ns);
    packets = trigger + clock_.from_ns(t.reads_hbm ? s_.dma_first_packet_hbm_ns : s_.dma_first_packet_sbuf_ns);
  }
  st.trigger_end = trigger;

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
  st.free = trigger;
  occupy(st, at, trigger);
  if (observer_) observer_->instruction({index, at, trigger});
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
  cores_[index].dma->progress(now, [&](uint32_t flight) { landed(flight, index, now); });
  plan(index);
}

// The last packet of a transfer has left.
void Run::landed(uint32_t flight, uint8_t index, Tick now) {
  Core& core = cores_[index];
  const Flight f = flights_[flight];
  free_flights_.push_back(flight);
  const Record& r = w_.records[f.record];
  const Transfer& t = w_.costs[r.cost].transfer;
  const bool store = t.writes_hbm && !t.software;
  const Tick end = now + clock_.from_ns(store ? s_.dma_completion_store_ns : s_.dma_completion_load_ns);
  if (--core.in_flight == 0) core.dma_active += now - core.dma_from;
  watch_hbm(now);
  events_.push(end, static_cast<uint8_t>(Kind::post), {Kind::post, index, f.record});
  timing_.makespan = std::max(timing_.makespan, end);
  if (observer_)
    observer_->transfer({f.record, r.core, r.queue, f.first_packet, end, t.rows * t.chunks * t.chunk_bytes});
  Queue& q = core.queues[r.queue];
  q.last[f.entry].done = end;
  std::vector<uint32_t> waiting;
  waiting.swap(q.waiting);
  for (const uint32_t stream : waiting) wake(stream, end + queue_stall_);
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
