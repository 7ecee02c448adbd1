#include "sim/run.h"

#include <algorithm>
#include <utility>

#include "memory/error.h"

namespace trn {

Timing Run::go() {
  for (uint32_t i = 0; i < streams_.size(); ++i)
    if (streams_[i].next != streams_[i].end) wake(i, streams_[i].free);
  while (!events_.empty()) {
    const auto e = events_.pop();
    switch (e.payload.kind) {
      case Kind::preset: preset(w_.presets[e.payload.id], e.at); break;
      case Kind::post: post(e.payload.id, e.at); break;
      case Kind::dma:
        if (cores_[e.payload.id].planned == e.at) run_dma(static_cast<uint8_t>(e.payload.id), e.at);
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
  for (const Core& c : cores_) timing_.dma_active += c.dma.active() / static_cast<Tick>(cores_.size());
  if (options_.program_overhead) timing_.makespan += clock_.from_ns(s_.program_postamble_ns);
  return timing_;
}

void Run::wake(uint32_t stream, Tick at) {
  if (at >= streams_[stream].wake) return;
  streams_[stream].wake = at;
  events_.push(at, static_cast<uint8_t>(Kind::ready), {Kind::ready, stream});
}

// When its sequencer comes to `r`.
Tick Run::turn(const Stream& st, const Record& r) const {
  if (r.unit == Unit::pipeline) return st.free;
  return r.unit == Unit::dma && w_.costs[r.cost].transfer.software ? st.software_free : st.control_free;
}

// A stream runs ahead of the clock where nothing can come in between: its instruction's waits are met, and what it
// starts concerns no other stream before it completes.
void Run::try_start(uint32_t stream, Tick now) {
  Stream& st = streams_[stream];
  for (int ahead = 0; st.next != st.end; ++ahead) {
    const uint32_t index = *st.next;
    const Record& r = w_.records[index];
    const Tick turn = this->turn(st, r);
    if (!st.met) {
      if (!rising_ && turn > now) return wake(stream, turn);
      if (!waits_met(stream, r, now)) return;
    }
    const Tick at = std::max(turn, st.posted + (r.unit == Unit::sequencer ? st.event_latency : st.wait_latency));
    if (at > now && (r.unit == Unit::dma || ahead == kMostAhead)) return wake(stream, at);
    const Tick idle_from = std::min(r.unit == Unit::pipeline ? std::max(st.free, st.pipe_free) : st.control_free, at);
    if (!start(stream, index, at, now)) return;
    if (st.posted > DmaEngines::kNone) waited(st, index, idle_from, at, Reason::semaphore, st.poster);
    st.met = false;
    ++st.next;
  }
}

// Are all waits of the stream's next instruction met? Then `posted` is when the last of them came true, as far as that
// can still be told, and `poster` whose doing that was.
bool Run::waits_met(uint32_t stream, const Record& r, Tick now) {
  Stream& st = streams_[stream];
  const uint16_t blocked_on = std::exchange(st.blocked_on, kNoSemaphore);
  st.posted = DmaEngines::kNone;
  st.poster = WaitEvent::kNobody;
  for (const SemaphoreWait& w : w_.waits_of(r)) {
    const Semaphore& sem = semaphores_[w.semaphore];
    if (!w.met_by(sem.value)) {
      block(stream, w.semaphore);
      return false;
    }
    const bool just_now = w.semaphore == blocked_on && sem.at == now;
    if ((sem.value == w.value || just_now) && sem.at > st.posted) {
      st.posted = sem.at;
      st.poster = sem.poster;
    }
  }
  return st.met = true;
}

void Run::block(uint32_t stream, uint16_t semaphore) {
  Semaphore& sem = semaphores_[semaphore];
  streams_[stream].blocked_on = semaphore;
  streams_[stream].next_blocked = kNoStream;
  (sem.first_blocked == kNoStream ? sem.first_blocked : streams_[sem.last_blocked].next_blocked) = stream;
  sem.last_blocked = stream;
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
    const Tick from = std::max(at, st.pipe_free), loaded = from + table_load_;
    waited(st, index, from, loaded, Reason::table_load, WaitEvent::kNobody);
    st.table = cost.table;
    st.pipe_free = loaded;
  }
  const auto ticks = [&](double cycles) { return to_tick(cycles * st.cycle_ticks); };
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
  const auto slot = cores_[core].tensor.run(at, cost, [&](Tick when, int eighths) {
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
  const Tick end = at + to_tick(cost.latency * st.cycle_ticks);
  st.control_free = st.software_free = at + to_tick(cost.busy * st.cycle_ticks);
  st.free = std::min(st.control_free, end + st.compute_gap);
  finish(st, index, at, end);
}

// The pipeline has the instruction since `at` and starts it at `start`; its sequencer goes on.
void Run::handed_over(Stream& st, Tick at, Tick start) {
  st.handed[st.oldest] = start;
  if (++st.oldest == st.handed.size()) st.oldest = 0;
  // The oldest has to start before another one is taken.
  st.free = st.control_free = st.software_free = std::max(at + issue_interval_, st.handed[st.oldest]);
}

void Run::finish(Stream& st, uint32_t index, Tick start, Tick end) {
  if (w_.records[index].updates > 0)
    events_.push(end + post_latency_, static_cast<uint8_t>(Kind::post), {Kind::post, index});
  occupy(st, index, start, end);
}

void Run::occupy(Stream& st, uint32_t index, Tick start, Tick end) {
  ++st.totals.instructions;
  st.totals.busy += end - std::max(start, std::min(st.busy_to, end));
  st.busy_to = std::max(st.busy_to, end);
  timing_.makespan = std::max(timing_.makespan, end);
  if (observer_) observer_->instruction({index, start, end});
}

void Run::expect_preset() {
  if (presets_.empty()) return;
  const Tick at = clock_.from_ns(w_.presets[presets_.back()].at_ns);
  events_.push(at, static_cast<uint8_t>(Kind::preset), {Kind::preset, presets_.back()});
  presets_.pop_back();
}

void Run::preset(const Preset& p, Tick now) {
  expect_preset();
  raise(p.semaphore, p.value, WaitEvent::kNobody, now);
}

void Run::post(uint32_t id, Tick now) {
  for (const SemaphoreUpdate& u : w_.updates_of(w_.records[id])) {
    const int64_t step = u.value, before = semaphores_[u.semaphore].value;
    const int64_t after = u.change == Change::set ? step : u.change == Change::add ? before + step : before - step;
    if (after > static_cast<int64_t>(s_.semaphore_max))
      throw Error(Fault::undefined, "a semaphore counted past its largest value", describe(id));
    if (after < 0) throw Error(Fault::undefined, "a semaphore counted below zero", describe(id));
    raise(u.semaphore, static_cast<uint32_t>(after), id, now);
  }
}

void Run::raise(uint16_t which, uint32_t value, uint32_t poster, Tick now) {
  Semaphore& sem = semaphores_[which];
  sem.value = value;
  sem.at = now;
  sem.poster = poster;
  uint32_t stream = std::exchange(sem.first_blocked, kNoStream);
  while (stream != kNoStream) try_start(std::exchange(stream, streams_[stream].next_blocked), now);
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
