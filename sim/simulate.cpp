#include "sim/simulate.h"

#include <algorithm>
#include <optional>
#include <string>

#include "isa/dispatch.h"
#include "sim/dma.h"
#include "sim/event_queue.h"
#include "sim/tensor_engine.h"

namespace trn {
namespace {

// Everything that one timed run needs; lives as long as the run.
class Run {
 public:
  Run(const Program& p, const Spec& s, Observer* observer, const SimOptions& options);
  Timing go();

 private:
  enum class Kind : uint8_t { post, first_packet, dma, ready };  // in order of priority at one tick
  struct Event {
    Kind kind;
    uint8_t core;
    uint32_t id;  // post, first_packet: instruction; ready: stream
  };

  struct Stream {
    std::vector<uint32_t> instructions;
    size_t next = 0;
    Tick free = 0;     // when the engine can start its next instruction
    Tick busy_to = 0;  // end of the union of busy intervals so far
    double cycle_ticks = 0;
    Tick wait_latency = 0;   // from a semaphore's post to the start of an instruction that waited for it
    uint16_t waits_for = 0;  // semaphore, while blocked
    bool blocked = false;
    Tick wake = DmaEngines::kNever;  // of its pending ready event; later ones are not needed
    int table = -1;                  // scalar engine: activation table loaded
    Tick trigger_end = -1;           // end of the last DMA trigger
    EngineTotals totals;
  };

  struct Semaphore {
    uint32_t value = 0;
    Tick at = 0;  // of the last post
    uint32_t poster = WaitEvent::kNobody;
    std::vector<uint32_t> waiting;  // streams
  };

  struct Queue {
    std::vector<Tick> completions;  // of its transfers, in order; kNever while in flight
    std::vector<uint32_t> transfers;
    size_t done = 0;
  };

  struct Core {
    std::optional<TensorEngine> tensor;
    std::optional<DmaEngines> dma;
    std::vector<Queue> queues;
    Tick dma_from = 0, dma_active = 0;
    int in_flight = 0;
    Tick swdge_free = 0;
  };

  void try_start(uint32_t stream, Tick now);
  void wake(uint32_t stream, Tick at);
  bool met(const Instruction& i, Tick& ready, uint16_t& missing, uint32_t& blocker) const;
  void start_compute(Stream& st, uint32_t index, Tick at, const Cost& cost);
  void start_tensor(Stream& st, uint32_t index, Tick at, const Cost& cost);
  bool start_dma(uint32_t stream, uint32_t index, Tick at, Tick now, const Cost& cost);
  void finish(Stream& st, uint32_t index, Tick start, Tick end, Tick free);
  void post(uint32_t index, Tick now);
  void packets_done(uint8_t core, Tick now);
  void waited(Stream& st, uint32_t index, Tick begin, Tick end, Reason reason, uint32_t blocker);
  void watch_hbm(Tick now);
  [[noreturn]] void deadlock() const;
  std::string describe(uint32_t index) const;

  const Program& p_;
  const Spec& s_;
  const Clock clock_;
  Observer* observer_;
  EventQueue<Event> events_;
  std::vector<Stream> streams_;
  std::vector<Semaphore> semaphores_;
  std::vector<Core> cores_;
  std::vector<Tick> first_packet_;  // by instruction, DMA only
  std::vector<Tick> dma_planned_;   // by core: time of the DMA event in the queue, to avoid duplicates
  Timing timing_;
  const Tick post_latency_, queue_stall_;
};

Run::Run(const Program& p, const Spec& s, Observer* observer, const SimOptions& options)
    : p_(p),
      s_(s),
      clock_(s),
      observer_(observer),
      post_latency_(clock_.from_ns(s.semaphore_post_ns)),
      queue_stall_(clock_.from_ns(s.dma_queue_stall_ns)) {
  const std::array<double, kEngines> ghz{s.tensor_ghz, s.vector_ghz, s.scalar_ghz, s.gpsimd_ghz, s.sync_ghz};
  const std::array<double, kEngines> wait_ns{s.semaphore_wait_tensor_ns, s.semaphore_wait_vector_ns,
                                             s.semaphore_wait_vector_ns, s.semaphore_wait_vector_ns,
                                             s.semaphore_wait_sync_ns};
  streams_.resize(static_cast<size_t>(p.cores) * kEngines);
  const Tick start = clock_.from_ns(s.program_preamble_ns);
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].cycle_ticks = clock_.ticks_per_ns / ghz[i % kEngines];
    streams_[i].wait_latency = clock_.from_ns(wait_ns[i % kEngines]);
    streams_[i].free = streams_[i].busy_to = start;
  }
  cores_.resize(p.cores);
  for (auto& c : cores_) {
    c.tensor.emplace(s, clock_, options.throttle_eighths, options.throttle_phase_cycles);
    c.dma.emplace(s, clock_);
    c.queues.resize(static_cast<size_t>(s.dma_queues));
  }
  dma_planned_.assign(p.cores, DmaEngines::kNever);
  size_t semaphores = 0;
  bool any_dma = false;
  for (uint32_t i = 0; i < p.instructions.size(); ++i) {
    const Instruction& in = p.instructions[i];
    streams_[in.core * kEngines + static_cast<size_t>(in.engine)].instructions.push_back(i);
    if (in.update != Instruction::kNoUpdate) semaphores = std::max<size_t>(semaphores, in.update + 1);
    for (const Wait& w : p.waits_of(in)) semaphores = std::max<size_t>(semaphores, w.semaphore + 1);
    any_dma = any_dma || row(in).is_dma;
  }
  semaphores_.resize(semaphores);
  if (any_dma) first_packet_.assign(p.instructions.size(), 0);
}

Timing Run::go() {
  for (uint32_t i = 0; i < streams_.size(); ++i)
    if (!streams_[i].instructions.empty()) wake(i, streams_[i].free);
  while (!events_.empty()) {
    const auto e = events_.pop();
    switch (e.payload.kind) {
      case Kind::post: post(e.payload.id, e.at); break;
      case Kind::first_packet: {
        const Instruction& in = p_.instructions[e.payload.id];
        Core& core = cores_[in.core];
        if (core.in_flight++ == 0) core.dma_from = e.at;
        watch_hbm(e.at);
        const Cost cost = row(in).cost(p_.raw_args(in), in.engine, s_);
        core.dma->submit(e.payload.id, in.queue, cost.transfer, e.at);
        packets_done(in.core, e.at);
        break;
      }
      case Kind::dma:
        if (dma_planned_[e.payload.core] == e.at) {
          dma_planned_[e.payload.core] = DmaEngines::kNever;
          packets_done(e.payload.core, e.at);
        }
        break;
      case Kind::ready:
        if (streams_[e.payload.id].wake != e.at) break;  // an earlier one came first
        streams_[e.payload.id].wake = DmaEngines::kNever;
        try_start(e.payload.id, e.at);
        break;
    }
  }
  for (const Stream& st : streams_)
    if (st.next < st.instructions.size()) deadlock();
  for (size_t i = 0; i < streams_.size(); ++i) {
    EngineTotals& total = timing_.engines[i % kEngines];
    total.instructions += streams_[i].totals.instructions;
    total.busy += streams_[i].totals.busy;
    for (size_t r = 0; r < total.waits.size(); ++r) total.waits[r] += streams_[i].totals.waits[r];
  }
  for (const Core& c : cores_) timing_.dma_active += c.dma_active / static_cast<Tick>(cores_.size());
  timing_.makespan += clock_.from_ns(s_.program_postamble_ns);
  return timing_;
}

// All waits of `i` met? Then `ready` is when the last of them lets it start, and `blocker` who posted that one.
bool Run::met(const Instruction& i, Tick& ready, uint16_t& missing, uint32_t& blocker) const {
  for (const Wait& w : p_.waits_of(i)) {
    const Semaphore& sem = semaphores_[w.semaphore];
    if (sem.value < w.value) {
      missing = w.semaphore;
      return false;
    }
    if (sem.value == w.value && sem.at > ready) {
      ready = sem.at;
      blocker = sem.poster;
    }
  }
  return true;
}

void Run::wake(uint32_t stream, Tick at) {
  if (at >= streams_[stream].wake) return;
  streams_[stream].wake = at;
  events_.push(at, static_cast<uint8_t>(Kind::ready), {Kind::ready, 0, stream});
}

void Run::try_start(uint32_t stream, Tick now) {
  Stream& st = streams_[stream];
  const uint16_t listed = st.blocked ? st.waits_for : Instruction::kNoUpdate;
  st.blocked = false;
  while (st.next < st.instructions.size()) {
    const uint32_t index = st.instructions[st.next];
    const Instruction& in = p_.instructions[index];
    Tick posted = -1;
    uint16_t missing = 0;
    uint32_t blocker = WaitEvent::kNobody;
    if (!met(in, posted, missing, blocker)) {
      st.blocked = true;
      st.waits_for = missing;
      if (listed != missing) semaphores_[missing].waiting.push_back(stream);
      return;
    }
    const Tick at = std::max(st.free, posted < st.free ? st.free : posted + st.wait_latency);
    if (at > now) {  // engines see each other's posts only up to now: come back then
      wake(stream, at);
      st.blocked = true;
      st.waits_for = Instruction::kNoUpdate;
      return;
    }
    const CardRow& card = row(in);
    const Cost cost = card.cost(p_.raw_args(in), in.engine, s_);
    const Tick idle_from = std::min(st.free, at);
    if (card.is_dma) {
      if (!start_dma(stream, index, at, now, cost)) return;
    } else if (in.engine == Engine::tensor) {
      start_tensor(st, index, at, cost);
    } else {
      start_compute(st, index, at, cost);
    }
    if (posted >= 0 && posted + st.wait_latency == at) waited(st, index, idle_from, at, Reason::semaphore, blocker);
    ++st.next;
  }
}

void Run::start_compute(Stream& st, uint32_t index, Tick at, const Cost& cost) {
  if (cost.table_load && cost.table != st.table) {
    const Tick loaded = at + clock_.from_ns(s_.scalar_table_load_ns);
    waited(st, index, at, loaded, Reason::table_load, WaitEvent::kNobody);
    st.table = cost.table;
    at = loaded;
  }
  const Tick end = at + std::llround(cost.latency * st.cycle_ticks);
  finish(st, index, at, end, at + std::llround(cost.busy * st.cycle_ticks));
}

void Run::start_tensor(Stream& st, uint32_t index, Tick at, const Cost& cost) {
  const uint8_t core = p_.instructions[index].core;
  const auto slot = cores_[core].tensor->run(at, cost, [&](Tick when, int eighths) {
    if (observer_) observer_->throttle({core, when, eighths});
  });
  if (slot.throttled > 0)
    waited(st, index, slot.stream_to - slot.throttled, slot.stream_to, Reason::throttle, WaitEvent::kNobody);
  timing_.flops += cost.flops;
  timing_.tensor_stream += slot.stream_to - slot.stream_from;
  finish(st, index, slot.stream_from, slot.end, slot.stream_from);
}

// A DMA instruction: the trigger holds its engine's sequencer, then the transfer runs on its queue. False when the
// queue is full: try again later.
bool Run::start_dma(uint32_t stream, uint32_t index, Tick at, Tick now, const Cost& cost) {
  Stream& st = streams_[stream];
  const Instruction& in = p_.instructions[index];
  Core& core = cores_[in.core];
  Queue& q = core.queues[in.queue];
  const Transfer& t = cost.transfer;

  const auto depth = static_cast<size_t>(s_.dma_queue_depth);
  if (q.transfers.size() >= depth) {
    const size_t earlier = q.transfers.size() - depth;
    const Tick drained = q.completions[earlier];
    if (drained == DmaEngines::kNever || drained + queue_stall_ > now) {
      const Tick again = drained == DmaEngines::kNever ? DmaEngines::kNever : drained + queue_stall_;
      if (again != DmaEngines::kNever) wake(stream, again);
      st.blocked = true;
      st.waits_for = Instruction::kNoUpdate;
      return false;
    }
    if (drained + queue_stall_ > at) waited(st, index, at, now, Reason::dma_queue_full, q.transfers[earlier]);
    at = std::max(at, drained + queue_stall_);
  }

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
  q.transfers.push_back(index);
  q.completions.push_back(DmaEngines::kNever);
  first_packet_[index] = packets;
  events_.push(packets, static_cast<uint8_t>(Kind::first_packet), {Kind::first_packet, in.core, index});

  const int64_t bytes = t.rows * t.chunks * t.chunk_bytes;
  ++timing_.dma_transfers;
  timing_.dma_bytes += bytes;
  if (t.reads_hbm) timing_.hbm_read_bytes += bytes;
  if (t.writes_hbm) timing_.hbm_write_bytes += bytes;
  st.free = trigger;
  ++st.totals.instructions;
  st.totals.busy += trigger - std::max(at, std::min(st.busy_to, trigger));
  st.busy_to = std::max(st.busy_to, trigger);
  if (observer_) observer_->instruction({index, at, trigger});
  return true;
}

// Departures of a core's DMA engines at `now`, then the next event is planned.
void Run::packets_done(uint8_t index, Tick now) {
  Core& core = cores_[index];
  core.dma->progress(now, [&](uint32_t id) {
    const Instruction& in = p_.instructions[id];
    const Cost cost = row(in).cost(p_.raw_args(in), in.engine, s_);
    const bool store = cost.transfer.writes_hbm && !cost.transfer.software;
    const Tick end = now + clock_.from_ns(store ? s_.dma_completion_store_ns : s_.dma_completion_load_ns);
    if (--core.in_flight == 0) core.dma_active += now - core.dma_from;
    watch_hbm(now);
    events_.push(end, static_cast<uint8_t>(Kind::post), {Kind::post, index, id});
    timing_.makespan = std::max(timing_.makespan, end);
    const int64_t bytes = cost.transfer.rows * cost.transfer.chunks * cost.transfer.chunk_bytes;
    if (observer_) observer_->transfer({id, in.core, in.queue, first_packet_[id], end, bytes});
    Queue& q = core.queues[in.queue];
    for (size_t i = q.done; i < q.transfers.size(); ++i)
      if (q.transfers[i] == id) q.completions[i] = end;
    while (q.done < q.transfers.size() && q.completions[q.done] != DmaEngines::kNever) ++q.done;
    for (uint32_t s = 0; s < streams_.size(); ++s)  // triggers that a full queue held back
      if (streams_[s].blocked && streams_[s].waits_for == Instruction::kNoUpdate && s / kEngines == index)
        wake(s, end + queue_stall_);
  });
  const Tick next = core.dma->next();
  if (next != DmaEngines::kNever && next < dma_planned_[index]) {
    dma_planned_[index] = next;
    events_.push(next, static_cast<uint8_t>(Kind::dma), {Kind::dma, index, 0});
  }
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
    if (next != DmaEngines::kNever && next != dma_planned_[c]) {
      dma_planned_[c] = next;
      events_.push(next, static_cast<uint8_t>(Kind::dma), {Kind::dma, c, 0});
    }
  }
}

void Run::finish(Stream& st, uint32_t index, Tick start, Tick end, Tick free) {
  if (p_.instructions[index].update != Instruction::kNoUpdate)
    events_.push(end + post_latency_, static_cast<uint8_t>(Kind::post),
                 {Kind::post, p_.instructions[index].core, index});
  st.free = free;
  ++st.totals.instructions;
  st.totals.busy += end - std::max(start, std::min(st.busy_to, end));
  st.busy_to = std::max(st.busy_to, end);
  timing_.makespan = std::max(timing_.makespan, end);
  if (observer_) observer_->instruction({index, start, end});
}

void Run::post(uint32_t index, Tick now) {
  const uint16_t which = p_.instructions[index].update;
  if (which == Instruction::kNoUpdate) return;
  Semaphore& sem = semaphores_[which];
  if (++sem.value > static_cast<uint32_t>(s_.semaphore_max))
    throw Error(Fault::undefined, "a semaphore counted past its largest value", describe(index));
  sem.at = now;
  sem.poster = index;
  std::vector<uint32_t> waiting;
  waiting.swap(sem.waiting);
  for (const uint32_t stream : waiting) {
    streams_[stream].waits_for = Instruction::kNoUpdate;  // no longer listed
    try_start(stream, now);
  }
}

void Run::waited(Stream& st, uint32_t index, Tick begin, Tick end, Reason reason, uint32_t blocker) {
  if (end <= begin) return;
  st.totals.waits[static_cast<size_t>(reason)] += end - begin;
  if (observer_) observer_->wait({index, begin, end, reason, blocker});
}

std::string Run::describe(uint32_t index) const {
  const Instruction& in = p_.instructions[index];
  return "#" + std::to_string(index) + " " + std::string(row(in).name) + " on core " + std::to_string(in.core) + " " +
         std::string(name(in.engine));
}

void Run::deadlock() const {
  std::string text;
  for (const Stream& st : streams_) {
    if (st.next >= st.instructions.size()) continue;
    const Instruction& in = p_.instructions[st.instructions[st.next]];
    text += (text.empty() ? "" : "; ") + describe(st.instructions[st.next]) + " waits for";
    for (const Wait& w : p_.waits_of(in))
      if (semaphores_[w.semaphore].value < w.value)
        text += " S[" + std::to_string(w.semaphore) + "]>=" + std::to_string(w.value) + " (is " +
                std::to_string(semaphores_[w.semaphore].value) + ")";
  }
  throw Error(Fault::undefined, "deadlock: no instruction can start", text);
}

}  // namespace

Timing simulate(const Program& p, const Spec& s, Observer* observer, const SimOptions& options) {
  return Run(p, s, observer, options).go();
}

}  // namespace trn
