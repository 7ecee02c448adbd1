#include "backend/runtime/core.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "backend/runtime/clock.h"
#include "backend/runtime/log.h"
#include "backend/runtime/model.h"
#include "backend/runtime/process.h"

namespace trn::runtime {
namespace {

constexpr std::string_view kInterrupted = "interrupted before it was done";

// One copy inside the core's HBM by one DMA instruction spread over all engines; bytes cross the stack twice.
double device_copy_ns(const Spec& s, size_t bytes) {
  const double rate = std::min<double>(s.dma_engines * s.dma_bytes_per_ns, s.hbm_stack_bytes_per_ns / 2);
  return s.dma_trigger_1d_ns + s.dma_first_packet_hbm_ns + static_cast<double>(bytes) / rate +
         s.dma_completion_store_ns;
}

void add(std::atomic<double>& sum, double ns) { sum.fetch_add(ns, std::memory_order_relaxed); }

std::string described(const Work& w) {
  std::string text;
  switch (w.kind) {
    case WorkKind::launch: text = "Program " + w.launch->executable->program().name; break;
    case WorkKind::write: text = "tensor write"; break;
    case WorkKind::read: text = "tensor read"; break;
    case WorkKind::copy: text = "tensor copy"; break;
    case WorkKind::fill: text = "tensor memset"; break;
    default: text = "event"; break;
  }
  if (const std::string& source = interned(w.origin.source); !source.empty()) text += " from " + source;
  return text;
}

void notify(int core, uint32_t model, uint64_t number, NRT_STATUS status) {
  Process& p = process();
  Process::Callback c;
  {
    const std::lock_guard lock(p.callback_mutex);
    c = p.callback;
  }
  if (c.function) c.function(c.parameters, model, static_cast<uint32_t>(core), number, status);
}

}  // namespace

void let_go(Mark* m) {
  if (m && m->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete m;
}

ErrorTrackers& error_trackers() {
  static ErrorTrackers& table = *new ErrorTrackers;
  return table;
}
Events& events() {
  static Events& table = *new Events;
  return table;
}

nrta_seq_t sequence(int core, int lane, uint64_t number) {
  return static_cast<uint64_t>(core) << 53 | static_cast<uint64_t>(lane) << 48 | (number & NRTA_SEQ_NUM_MASK);
}

Core::Core(const Machine& m, int index, int logical)
    : index_(index),
      logical_(logical),
      lnc_(m.lnc),
      spec_(*m.spec),
      ticks_(spec_),
      exec_timeout_ns_(m.exec_timeout_s * 1e9),
      strict_(m.strict),
      memory_({.own = m.hbm_bytes(), .usable = m.usable_hbm_bytes()}, m.lnc,
              {.device = logical * m.lnc / static_cast<int>(spec_.cores_per_chip),
               .core = logical,
               .hbm = logical * m.lnc % static_cast<int>(spec_.cores_per_chip) * static_cast<int>(spec_.hbm_stacks) /
                      static_cast<int>(spec_.cores_per_chip)}),
      queue_(*this) {}

nrta_seq_t Core::submit(Work w, nrta_xu_t unit, int queue) {
  w.mode = current_mode();
  w.lane = static_cast<uint16_t>(unit << 2 | queue);
  w.origin = current_origin();
  w.submitted_ns = host_clock().now();
  return sequence(index_, w.lane, queue_.enqueue(w));
}

void Core::submit_and_wait(Work w, nrta_xu_t unit) {
  Failure outcome;
  w.outcome = &outcome;
  const uint64_t number = submit(w, unit) & NRTA_SEQ_NUM_MASK;
  queue_.wait(number);
  host_clock().reach(finished_ns(number));
  if (outcome.status != NRT_SUCCESS) throw StatusError(outcome.status, outcome.text);
}

double Core::host_copy_ns(uint64_t bytes) const {
  return spec_.host_copy_fixed_ns + static_cast<double>(bytes) / spec_.host_copy_bytes_per_ns;
}

void Core::synchronise() {
  queue_.drain();
  const double before = host_clock().now(), after = clock_ns();
  if (after <= before) return;
  host_clock().reach(after);
  recorder().add(HostRecord{HostWork::synchronise, index_, current_origin(), before, after, 0});
}

Failure Core::take_pending() {
  const std::lock_guard lock(pending_mutex_);
  return std::exchange(pending_, {});
}

void Core::interrupt() {
  cancel_through_.store(queue_.enqueued(), std::memory_order_seq_cst);
  cancelled_.store(true, std::memory_order_seq_cst);
}

void Core::reserve_scratch(int64_t bytes) {
  const std::lock_guard lock(scratch_mutex_);  // a running Program that has scratch holds it
  if (bytes <= scratch_bytes_) return;
  // Growth by at least half keeps the number of moves small while an eager model meets its Programs one by one.
  constexpr int64_t kStep = int64_t{1} << 20;
  const int64_t roomy = (std::max(bytes, scratch_bytes_ * 3 / 2) + kStep - 1) / kStep * kStep;
  std::byte* larger = memory_.allocate(memory_.fits(roomy) ? roomy : bytes, Usage::shared_scratchpad, "scratchpad");
  if (scratch_) memory_.free(scratch_, Usage::shared_scratchpad);
  scratch_ = larger;
  scratch_bytes_ = memory_.block_bytes(scratch_);
}

void Core::serve(const Work& w, uint64_t number) noexcept {
  Failure f;
  if (number > cancel_through_.load(std::memory_order_acquire)) cancelled_.store(false, std::memory_order_relaxed);
  try {
    if (cancelled_.load(std::memory_order_relaxed) && w.kind != WorkKind::mark)
      fail(NRT_FAILURE, std::string(kInterrupted));
    perform(w);
  } catch (...) {
    f = current_failure(true);
  }
  (*finished_ns_)[number % Queue::kCapacity].store(clock_ns(), std::memory_order_relaxed);
  report(w, number, std::move(f));
}

void Core::perform(const Work& w) {
  switch (w.kind) {
    case WorkKind::launch: return launch(w);
    case WorkKind::mark: {
      w.mark->ns = std::max(clock_ns(), w.submitted_ns);
      w.mark->done.store(true, std::memory_order_release);
      return;
    }
    case WorkKind::wait_mark: return await(*w.mark);
    default: return copy(w);
  }
}

// The other core's event; `done` is stored before its request counts as completed.
void Core::await(const Mark& m) {
  while (!m.queue->wait(m.number, 10'000))
    if (cancelled_) fail(NRT_FAILURE, std::string(kInterrupted));
  clock_ns_ = std::max(clock_ns(), m.ns.load());
}

void Core::copy(const Work& w) {
  {
    const HbmAccess access(memory_.stack());
    if (w.kind == WorkKind::fill)
      std::memset(w.to, w.value, w.bytes);
    else
      std::memmove(w.to, w.from, w.bytes);
  }
  const bool from_host = w.kind == WorkKind::write, to_host = w.kind == WorkKind::read;
  if (from_host) counters().bytes_to_device += w.bytes;
  if (to_host) counters().bytes_to_host += w.bytes;
  const double start = std::max(clock_ns(), w.submitted_ns);
  if (w.mode == Mode::function) return;
  const double end = start + (from_host || to_host ? host_copy_ns(w.bytes) : device_copy_ns(spec_, w.bytes));
  clock_ns_ = end;
  if (from_host || to_host)
    recorder().add(HostRecord{from_host ? HostWork::copy_to_device : HostWork::copy_from_device, index_, w.origin,
                              start, end, static_cast<int64_t>(w.bytes)});
}

void Core::check_time(double duration_ns) const {
  if (duration_ns > exec_timeout_ns_)
    fail(NRT_TIMEOUT, "takes " + std::to_string(duration_ns * 1e-9) + " s of device time, NEURON_RT_EXEC_TIMEOUT is " +
                          std::to_string(exec_timeout_ns_ * 1e-9) + " s");
}

void Core::launch(const Work& w) {
  Executable& e = *w.launch->executable;
  if (strict_)
    if (const Failure* hazard = e.hazard()) throw StatusError(hazard->status, hazard->text);
  const auto wall = std::chrono::steady_clock::now();
  LaunchRecord r{
      .what = e.loaded(), .core = index_, .origin = w.origin, .repeat = w.value, .submitted_ns = w.submitted_ns};
  const bool timed = w.mode != Mode::function, computed = w.mode != Mode::time;
  const bool by_run = timed && computed && e.loads_registers();  // its time may depend on what each run reads
  if (timed && e.timing_known()) ++counters().timings_cached;
  if (timed && !by_run) r.timing = e.timing();
  const double duration = r.timing ? ticks_.to_ns(r.timing->makespan) : 0;
  r.start_ns = std::max(clock_ns(), w.submitted_ns) + (timed ? spec_.host_launch_ns.value : 0);
  r.end_ns = r.start_ns + duration * w.value;
  check_time(duration);
  clock_ns_ = r.end_ns;  // also if it fails below: the core was busy
  std::exception_ptr failed;
  std::optional<Failure> numeric;
  try {
    for (int i = 0; computed && i < w.value; ++i) {
      RunResult run = run_function(*w.launch);
      if (run.nan && !numeric) numeric = std::move(run.nan);
      if (!by_run) continue;
      r.loads = std::make_shared<const Loads>(std::move(run.loads));
      r.timing = e.timing(r.loads);
      const double one = ticks_.to_ns(r.timing->makespan);
      check_time(one);
      clock_ns_ = r.end_ns += one;
    }
    if (numeric) r.status = numeric->status;
  } catch (...) {
    failed = std::current_exception();
    r.status = current_failure(true).status;
  }
  r.wall_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - wall).count();
  ++counters().launches;
  add(counters().device_ns, r.end_ns - r.start_ns);
  recorder().add(std::move(r));
  if (failed) std::rethrow_exception(failed);
  for (const void* handle : w.launch->written)
    if (Tensor* t = tensors().find(handle))
      t->completions.fetch_add(static_cast<uint64_t>(w.value), std::memory_order_release);
  if (numeric) throw StatusError(numeric->status, numeric->text);
}

Core::RunResult Core::run_function(Launch& l) {
  if (states_.empty())
    for (int i = 0; i < lnc_; ++i) states_.push_back(std::make_unique<CoreState>(spec_));
  std::unique_lock<std::mutex> scratch_in_use;
  if (!l.executable->scratch().empty()) scratch_in_use = std::unique_lock(scratch_mutex_);
  for (const Executable::Scratch& s : l.executable->scratch())
    l.slots[s.slot] = {scratch_ + s.offset, static_cast<size_t>(s.bytes)};
  std::array<CoreState*, 2> cores{};
  for (int i = 0; i < lnc_; ++i) cores[static_cast<size_t>(i)] = states_[static_cast<size_t>(i)].get();
  const HbmAccess access(memory_.stack());
  const auto run = [&] {
    return execute(l.executable->program(), std::span(cores).first(static_cast<size_t>(lnc_)), l.slots, &cancelled_);
  };
  if (!strict_) return {run(), {}};
  const NumericErrors& numeric = l.executable->numeric_errors();
  const bool had_nan = numeric.in_place_inputs_have_nan(l.slots);
  Loads loads = run();
  if (l.executable->loads_registers())
    if (const auto hazard = l.executable->hazard(loads)) throw StatusError(hazard->status, hazard->text);
  const auto nan = numeric.find(l.slots, had_nan);
  if (!nan) return {std::move(loads), {}};
  return {std::move(loads), Failure{status_of(nan->kind), as_error(*nan, l.executable->program()).what()}};
}

void Core::report(const Work& w, uint64_t number, Failure f) noexcept {
  if (f.status != NRT_SUCCESS) {
    ++counters().errors;
    f.text = described(w) + ": " + f.text;
    log(Level::error, Component::nmgr, "execute", f.text);
  }
  const uint32_t model = w.launch ? w.launch->executable->loaded()->id : 0;
  const NRT_STATUS status = f.status;
  if (w.launch) w.launch->executable->give_back(w.launch);
  if (w.mark) let_go(w.mark);
  if (w.outcome) {
    *w.outcome = std::move(f);
  } else if (status != NRT_SUCCESS) {
    ErrorTracker* tracker = w.tracker ? error_trackers().find(w.tracker) : nullptr;
    if (tracker) {
      const std::lock_guard lock(tracker->mutex);
      tracker->errors.push_back({sequence(index_, w.lane, number), static_cast<uint64_t>(status)});
    } else if (!w.notifies) {
      const std::lock_guard lock(pending_mutex_);
      // NaN is news only while there is nothing worse.
      if (pending_.status == NRT_SUCCESS || pending_.status == NRT_EXEC_COMPLETED_WITH_NUM_ERR) pending_ = std::move(f);
    }
  }
  if (w.notifies) notify(index_, model, number, status);
}

}  // namespace trn::runtime
