#include <algorithm>
#include <utility>

#include "sim/run.h"

namespace trn {

// At most Spec::dma_queue_depth stores of a hardware queue are in flight: an issue that finds more holds its sequencer
// until there is room (profiles show it on Scalar; Sync's loads follow no such rule). False when that is not known yet;
// else `room` is when.
bool Run::queue_has_room(uint32_t stream, Queue& q, Tick& room, uint32_t& blocker, Tick now) {
  const Queue::Entry& oldest = q.last[q.oldest];
  if (oldest.done == DmaEngines::kNever) {
    q.waiting.push_back(stream);
    return false;
  }
  room = oldest.done + issue_.queue_stall;
  blocker = oldest.record;
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
  const bool first = q.last.empty();
  if (first) q.last.resize(std::max<size_t>(1, static_cast<size_t>(s_.dma_queue_depth)));
  Tick room = DmaEngines::kNone;
  uint32_t blocker = WaitEvent::kNobody;
  if (t.writes_hbm && !t.software && !t.fixed_ring && !queue_has_room(stream, q, room, blocker, now)) return false;

  Tick start = at, end, packets;
  if (t.fixed_ring) {
    end = at + st.doorbell;
    packets = end + issue_.first_packet_ring;
    st.control_free = st.free = st.software_free = at + std::max(issue_.ring_interval, st.doorbell);
  } else if (t.software) {
    start = std::max(at + issue_.build, core.software_built + issue_.build_interval);
    waited(st, index, at, start, Reason::descriptors, WaitEvent::kNobody);
    core.software_built = start;
    end = start + issue_.software_trigger;
    packets = start + (t.reads_hbm ? issue_.software_first_packet_hbm : issue_.software_first_packet_sbuf);
    st.control_free = st.free = end + st.gap;
    st.software_free = at + issue_interval_;
  } else {
    const bool right_behind = at - st.trigger_end < issue_.right_behind;
    const Tick triggered = at + issue_.trigger[t.pattern_dims > 1][first][right_behind];
    end = std::max({triggered, room, now});  // now: when it had to wait
    waited(st, index, triggered, end, Reason::dma_queue_full, blocker);
    packets = end + (t.reads_hbm ? issue_.first_packet_hbm : issue_.first_packet_sbuf);
    st.control_free = st.software_free = end + st.gap;
    st.free = end + st.compute_gap;
  }
  st.trigger_end = end;

  if (free_flights_.empty()) {
    free_flights_.push_back(static_cast<uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const uint32_t flight = free_flights_.back();
  free_flights_.pop_back();
  flights_[flight] = {index, q.oldest, packets};
  q.last[q.oldest] = {DmaEngines::kNever, index};
  if (++q.oldest == q.last.size()) q.oldest = 0;
  core.dma.submit(flight, r.queue, t, packets);
  plan(r.core);

  const int64_t bytes = t.rows * t.chunks * t.chunk_bytes;
  ++timing_.dma_transfers;
  timing_.dma_bytes += bytes;
  if (t.reads_hbm) timing_.hbm_read_bytes += bytes;
  if (t.writes_hbm) timing_.hbm_write_bytes += bytes;
  occupy(st, index, start, end);
  return true;
}

// The DMA engines of a core, at `now` and as far ahead as no new transfer can come in between.
void Run::run_dma(uint8_t index, Tick now) {
  Core& core = cores_[index];
  watch_hbm(now);
  core.dma.run(now + dma_lookahead_, [&](uint32_t flight, Tick, Tick posted) { landed(flight, posted); });
  core.planned = DmaEngines::kNever;
  watch_hbm(now);
  plan(index);
}

// The last packet of a transfer has left; its semaphore shows it at `posted`.
void Run::landed(uint32_t flight, Tick posted) {
  const Flight f = flights_[flight];
  free_flights_.push_back(flight);
  const Record& r = w_.records[f.record];
  const Transfer& t = w_.costs[r.cost].transfer;
  if (r.updates > 0) events_.push(posted, static_cast<uint8_t>(Kind::post), {Kind::post, f.record});
  timing_.makespan = std::max(timing_.makespan, posted);
  if (observer_)
    observer_->transfer({f.record, r.core, r.queue, f.first_packet, posted, t.rows * t.chunks * t.chunk_bytes});
  Queue& q = cores_[r.core].queues[r.queue];
  if (Queue::Entry& e = q.last[f.entry]; e.record == f.record) e.done = posted;  // else another one has its place
  for (const uint32_t stream : q.waiting) wake(stream, posted + issue_.queue_stall);
  q.waiting.clear();
}

void Run::plan(uint8_t index) {
  Core& core = cores_[index];
  const Tick next = core.dma.next();
  if (next >= core.planned) return;
  core.planned = next;
  events_.push(next, static_cast<uint8_t>(Kind::dma), {Kind::dma, index});
}

// Two cores share one HBM stack: when both move data, each gets at most half of it.
void Run::watch_hbm(Tick now) {
  if (cores_.size() < 2) return;
  const bool both = cores_[0].dma.busy(now) && cores_[1].dma.busy(now);
  const double core_rate = s_.dma_bytes_per_ns * s_.dma_engines;
  const double factor = both ? std::max(1.0, 2 * core_rate / s_.hbm_stack_bytes_per_ns) : 1.0;
  for (uint8_t c = 0; c < cores_.size(); ++c) {
    cores_[c].dma.set_hbm_factor(factor, now);
    plan(c);
  }
}

}  // namespace trn
