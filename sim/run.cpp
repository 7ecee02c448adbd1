#include "sim/run.h"

#include <algorithm>

#include "isa/by_engine.h"
#include "memory/error.h"

namespace trn {

Run::Run(const Work& w, const Spec& s, Observer* observer, const SimOptions& options)
    : w_(w),
      s_(s),
      clock_(s),
      observer_(observer),
      options_(options),
      post_latency_(clock_.from_ns(s.semaphore_post_ns)),
      queue_stall_(clock_.from_ns(s.dma_queue_stall_ns)) {
  const std::array<double, kEngines> skew_ns{0, 0, s.program_skew_scalar_ns, s.program_skew_gpsimd_ns, 0};
  streams_.resize(static_cast<size_t>(w.cores) * kEngines);
  for (size_t i = 0; i < streams_.size(); ++i) {
    const auto e = static_cast<Engine>(i % kEngines);
    Stream& st = streams_[i];
    const Tick start = clock_.from_ns(skew_ns[i % kEngines] + (options.program_overhead ? s.program_preamble_ns : 0.0));
    st.cycle_ticks = clock_.ticks_per_ns / by_engine::ghz(e, s);
    st.wait_latency = clock_.from_ns(by_engine::semaphore_wait_ns(e, s));
    st.event_latency = e == Engine::tensor ? clock_.from_ns(s.semaphore_wait_event_tensor_ns) : st.wait_latency;
    st.gap = clock_.from_ns(by_engine::sequencer_gap_ns(e, s));
    st.compute_gap = e == Engine::scalar ? clock_.from_ns(s.sequencer_compute_gap_ns) : st.gap;
    st.doorbell = clock_.from_ns(by_engine::doorbell_ns(e, s));
    st.free = st.control_free = st.software_free = st.pipe_free = st.busy_to = start;
    st.handed.assign(std::max<size_t>(1, static_cast<size_t>(s.sequencer_queue_depth)), DmaEngines::kNone);
  }
  cores_.resize(w.cores);
  for (auto& c : cores_) {
    c.tensor.emplace(s, clock_, options.throttle_eighths, options.throttle_phase_cycles);
    c.dma.emplace(s, clock_);
    c.queues.resize(static_cast<size_t>(s.dma_queues));
    for (Queue& q : c.queues) q.last.resize(std::max<size_t>(1, static_cast<size_t>(s.dma_queue_depth)));
  }
  size_t semaphores = 0;
  for (const SemaphoreWait& wait : w.waits) semaphores = std::max<size_t>(semaphores, wait.semaphore + 1u);
  for (const SemaphoreUpdate& update : w.updates) semaphores = std::max<size_t>(semaphores, update.semaphore + 1u);
  for (const Preset& preset : w.presets) semaphores = std::max<size_t>(semaphores, preset.semaphore + 1u);
  semaphores_.resize(semaphores);
  for (uint32_t i = 0; i < w.presets.size(); ++i) {
    if (w.presets[i].at_ns <= 0)
      semaphores_[w.presets[i].semaphore].value = w.presets[i].value;
    else
      events_.push(clock_.from_ns(w.presets[i].at_ns), static_cast<uint8_t>(Kind::post), {Kind::preset, 0, i});
  }
  sort_streams();
}

// Counting sort of the records by stream.
void Run::sort_streams() {
  const auto stream_of = [](const Record& r) { return r.core * kEngines + static_cast<size_t>(r.engine); };
  std::vector<size_t> begin(streams_.size() + 1);
  for (const Record& r : w_.records) ++begin[stream_of(r) + 1];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  order_.resize(w_.records.size());
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].next = order_.data() + begin[i];
    streams_[i].end = order_.data() + begin[i + 1];
  }
  for (uint32_t i = 0; i < w_.records.size(); ++i) order_[begin[stream_of(w_.records[i])]++] = i;
}

Timing Run::go() {
  for (uint32_t i = 0; i < streams_.size(); ++i)
    if (streams_[i].next != streams_[i].end) wake(i, streams_[i].free);
  while (!events_.empty()) {
    const auto e = events_.pop();
    switch (e.payload.kind) {
      case Kind::post: post(e.payload.id, e.at); break;
      case Kind::preset:
        raise(w_.presets[e.payload.id].semaphore, w_.presets[e.payload.id].value, WaitEvent::kNobody, e.at);
        break;
      case Kind::first_packet: first_packet(e.payload.id, e.payload.core, e.at); break;
      case Kind::dma:
        if (cores_[e.payload.core].planned != e.at) break;
        cores_[e.payload.core].planned = DmaEngines::kNever;
        packets_done(e.payload.core, e.at);
        break;
      case Kind::ready:
        if (streams_[e.payload.id].wake != e.at) break;  // an earlier one came first
        streams_[e.payload.id].wake = DmaEngines::kNever;
        try_start(e.payload.id, e.at);
        break;
    }
  }
  for (const Stream& st : streams_)
    if (st.next != st.end) deadlock();
  for (size_t i = 0; i < streams_.size(); ++i) {
    EngineTotals& total = timing_.engines[i % kEngines];
    total.instructions += streams_[i].totals.instructions;
    total.busy += streams_[i].totals.busy;
    for (size_t r = 0; r < total.waits.size(); ++r) total.waits[r] += streams_[i].totals.waits[r];
  }
  for (const Core& c : cores_) timing_.dma_active += c.dma_active / static_cast<Tick>(cores_.size());
  if (options_.program_overhead) timing_.makespan += clock_.from_ns(s_.program_postamble_ns);
  return timing_;
}

// All waits of `r` met? Then `ready` is when the last of them came true, and `blocker` who posted that one.
bool Run::met(const Record& r, Tick& ready, uint16_t& missing, uint32_t& blocker) const {
  for (const SemaphoreWait& w : w_.waits_of(r)) {
    const Semaphore& sem = semaphores_[w.semaphore];
    if (!w.met_by(sem.value)) {
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

// When `r` starts on its sequencer, all waits met since `posted`.
Tick Run::earliest(const Stream& st, const Record& r, Tick posted) const {
  Tick ready = st.free, latency = st.wait_latency;
  if (r.unit == Unit::dma) ready = w_.costs[r.cost].transfer.software ? st.software_free : st.control_free;
  if (r.unit == Unit::sequencer) {
    ready = st.control_free;
    latency = st.event_latency;
  }
  return posted < 0 ? ready : std::max(ready, posted + latency);
}

void Run::try_start(uint32_t stream, Tick now) {
  Stream& st = streams_[stream];
  while (st.next != st.end) {
    const Record& r = w_.records[*st.next];
    Tick posted = -1;
    uint16_t missing = 0;
    uint32_t blocker = WaitEvent::kNobody;
    if (!met(r, posted, missing, blocker)) {
      if (st.waits_for != missing) semaphores_[missing].waiting.push_back(stream);
      st.waits_for = missing;
      return;
    }
    st.waits_for = kNoWait;
    const Tick at = earliest(st, r, posted);
    if (at > now) return wake(stream, at);  // engines see each other's posts only up to now: come back then
    const uint32_t index = *st.next;
    const Tick idle_from = std::min(r.unit == Unit::pipeline ? std::max(st.free, st.pipe_free) : st.control_free, at);
    if (!start(stream, index, at, now)) return;
    if (posted >= 0 && at > idle_from) waited(st, index, idle_from, at, Reason::semaphore, blocker);
    ++st.next;
  }
}

// False when the instruction has to wait for its DMA queue: the stream is woken when there is room.
bool Run::start(uint32_t stream, uint32_t index, Tick at, Tick now) {
  const Record& r = w_.records[index];
  const Cost& cost = w_.costs[r.cost];
  if (r.unit == Unit::dma) return start_dma(stream, index, at, now, cost);
  if (r.unit == Unit::sequencer)
    start_sequencer(streams_[stream], index, at, cost);
  else if (r.engine == Engine::tensor)
    start_tensor(streams_[stream], index, at, cost);
  else
    start_compute(streams_[stream], index, at, cost);
  return true;
}

void Run::start_compute(Stream& st, uint32_t index, Tick at, const Cost& cost) {
  if (cost.table_load && cost.table != st.table) {
    const Tick from = std::max(at, st.pipe_free), loaded = from + clock_.from_ns(s_.scalar_table_load_ns);
    waited(st, index, from, loaded, Reason::table_load, WaitEvent::kNobody);
    st.table = cost.table;
    st.pipe_free = loaded;
  }
  const auto ticks = [&](double cycles) { return static_cast<Tick>(std::llround(cycles * st.cycle_ticks)); };
  // An instruction that finds its pipeline idle is seen to start before the pipeline has it.
  const Tick fresh = ticks(cost.fresh), from = std::max(at + fresh, st.pipe_free);
  const Tick start = from == at + fresh ? at : from;
  const Tick end = std::max(from + ticks(cost.latency) - fresh, st.pipe_end + ticks(cost.interval));
  st.pipe_free = from + ticks(cost.busy);
  st.pipe_end = end;
  handed_over(st, at, start);
  finish(st, index, start, end);
}

void Run::start_tensor(Stream& st, uint32_t index, Tick at, const Cost& cost) {
  const uint8_t core = w_.records[index].core;
  const auto slot = cores_[core].tensor->run(at, cost, [&](Tick when, int eighths) {
    if (observer_) observer_->throttle({core, when, eighths});
  });
  if (slot.throttled > 0)
    waited(st, index, slot.stream_to - slot.throttled, slot.stream_to, Reason::throttle, WaitEvent::kNobody);
  timing_.flops += cost.flops;
  timing_.tensor_stream += slot.stream_to - slot.stream_from;
  st.pipe_free = slot.stream_from;
  handed_over(st, at, slot.start);
  finish(st, index, slot.start, slot.end);
}

void Run::start_sequencer(Stream& st, uint32_t index, Tick at, const Cost& cost) {
  const Tick end = at + std::llround(cost.latency * st.cycle_ticks);
  st.control_free = st.software_free = at + std::llround(cost.busy * st.cycle_ticks);
  st.free = std::min(st.control_free, end + st.compute_gap);
  finish(st, index, at, end);
}

// The pipeline has the instruction since `at` and starts it at `start`; its sequencer goes on.
void Run::handed_over(Stream& st, Tick at, Tick start) {
  st.handed[st.handed_count++ % st.handed.size()] = start;
  const Tick oldest = st.handed[st.handed_count % st.handed.size()];  // has to start before another one is taken
  st.free = st.control_free = st.software_free = std::max(at + clock_.from_ns(s_.sequencer_issue_ns), oldest);
}

void Run::finish(Stream& st, uint32_t index, Tick start, Tick end) {
  const Record& r = w_.records[index];
  if (r.updates > 0) events_.push(end + post_latency_, static_cast<uint8_t>(Kind::post), {Kind::post, r.core, index});
  occupy(st, start, end);
  timing_.makespan = std::max(timing_.makespan, end);
  if (observer_) observer_->instruction({index, start, end});
}

void Run::occupy(Stream& st, Tick start, Tick end) {
  ++st.totals.instructions;
  st.totals.busy += end - std::max(start, std::min(st.busy_to, end));
  st.busy_to = std::max(st.busy_to, end);
}

void Run::post(uint32_t index, Tick now) {
  for (const SemaphoreUpdate& u : w_.updates_of(w_.records[index])) {
    const int64_t step = u.value, before = semaphores_[u.semaphore].value;
    const int64_t after = u.change == Change::set ? step : u.change == Change::add ? before + step : before - step;
    if (after > static_cast<int64_t>(s_.semaphore_max))
      throw Error(Fault::undefined, "a semaphore counted past its largest value", describe(index));
    if (after < 0) throw Error(Fault::undefined, "a semaphore counted below zero", describe(index));
    raise(u.semaphore, static_cast<uint32_t>(after), index, now);
  }
}

void Run::raise(uint16_t which, uint32_t value, uint32_t poster, Tick now) {
  Semaphore& sem = semaphores_[which];
  sem.value = value;
  sem.at = now;
  sem.poster = poster;
  std::vector<uint32_t> waiting;
  waiting.swap(sem.waiting);
  for (const uint32_t stream : waiting) {
    streams_[stream].waits_for = kNoWait;  // no longer listed
    try_start(stream, now);
  }
}

void Run::waited(Stream& st, uint32_t index, Tick begin, Tick end, Reason reason, uint32_t blocker) {
  if (end <= begin) return;
  st.totals.waits[static_cast<size_t>(reason)] += end - begin;
  if (observer_) observer_->wait({index, begin, end, reason, blocker});
}

std::string Run::describe(uint32_t index) const {
  const Record& r = w_.records[index];
  return "#" + std::to_string(index) + " " + w_.names[r.name] + " on core " + std::to_string(r.core) + " " +
         std::string(name(r.engine));
}

void Run::deadlock() const {
  constexpr std::string_view kSigns[] = {">=", "==", ">", "<=", "<"};
  std::string text;
  for (const Stream& st : streams_) {
    if (st.next == st.end) continue;
    text += (text.empty() ? "" : "; ") + describe(*st.next) + " waits for";
    for (const SemaphoreWait& w : w_.waits_of(w_.records[*st.next]))
      if (const uint32_t value = semaphores_[w.semaphore].value; !w.met_by(value))
        text += " S[" + std::to_string(w.semaphore) + "]" + std::string(kSigns[static_cast<size_t>(w.compare)]) +
                std::to_string(w.value) + " (is " + std::to_string(value) + ")";
  }
  throw Error(Fault::undefined, "deadlock: no instruction can start", text);
}

}  // namespace trn
