#include <algorithm>

#include "isa/by_engine.h"
#include "sim/run.h"

namespace trn {
namespace {

// Two cores share an HBM stack: what one moves changes how fast the other does, so neither may run ahead of the clock.
Tick dma_lookahead(const Work& w, const DmaIssue& issue) {
  return w.cores > 1 ? 0 : std::max<Tick>(0, issue.soonest_packet() - 1);
}

}  // namespace

Run::Run(const Work& w, const Spec& s, Observer* observer, const SimOptions& options)
    : w_(w),
      s_(s),
      clock_(s),
      observer_(observer),
      options_(options),
      issue_(s, clock_),
      post_latency_(clock_.from_ns(s.semaphore_post_ns)),
      issue_interval_(clock_.from_ns(s.sequencer_issue_ns)),
      table_load_(clock_.from_ns(s.scalar_table_load_ns)),
      dma_lookahead_(dma_lookahead(w, issue_)) {
  for (int i = 0; i < w.cores; ++i) {
    Core& c = cores_.emplace_back(
        Core{{s, clock_, options.throttle_eighths, options.throttle_phase_cycles}, {s, clock_}, {}});
    c.queues.resize(static_cast<size_t>(s.dma_queues));
  }
  set_up_streams();
  set_up_semaphores();
}

void Run::set_up_streams() {
  const std::array<double, kEngines> skew_ns{0, 0, s_.program_skew_scalar_ns, s_.program_skew_gpsimd_ns, 0};
  streams_.resize(cores_.size() * kEngines);
  for (size_t i = 0; i < streams_.size(); ++i) {
    const auto e = static_cast<Engine>(i % kEngines);
    Stream& st = streams_[i];
    const Tick start =
        clock_.from_ns(skew_ns[i % kEngines] + (options_.program_overhead ? s_.program_preamble_ns : 0.0));
    st.cycle_ticks = clock_.ticks_per_ns / by_engine::ghz(e, s_);
    st.wait_latency = clock_.from_ns(by_engine::semaphore_wait_ns(e, s_));
    st.event_latency = e == Engine::tensor ? clock_.from_ns(s_.semaphore_wait_event_tensor_ns) : st.wait_latency;
    st.gap = clock_.from_ns(by_engine::sequencer_gap_ns(e, s_));
    st.compute_gap = e == Engine::scalar ? clock_.from_ns(s_.sequencer_compute_gap_ns) : st.gap;
    st.doorbell = clock_.from_ns(by_engine::doorbell_ns(e, s_));
    st.free = st.control_free = st.software_free = st.pipe_free = st.busy_to = start;
    st.handed.assign(std::max<size_t>(1, static_cast<size_t>(s_.sequencer_queue_depth)), DmaEngines::kNone);
  }
  sort_streams();
}

void Run::set_up_semaphores() {
  size_t count = 0;
  for (const SemaphoreWait& wait : w_.waits) {
    count = std::max<size_t>(count, wait.semaphore + 1u);
    rising_ = rising_ && (wait.compare == Compare::at_least || wait.compare == Compare::above);
  }
  for (const SemaphoreUpdate& update : w_.updates) {
    count = std::max<size_t>(count, update.semaphore + 1u);
    rising_ = rising_ && update.change == Change::add;
  }
  for (const Preset& preset : w_.presets) count = std::max<size_t>(count, preset.semaphore + 1u);
  semaphores_.resize(count);
  for (uint32_t i = 0; i < w_.presets.size(); ++i) {
    const Preset& preset = w_.presets[i];
    if (preset.at_ns <= 0)
      semaphores_[preset.semaphore].value = preset.value;
    else
      presets_.push_back(i);
  }
  rising_ = rising_ && presets_.empty();
  std::stable_sort(presets_.begin(), presets_.end(),
                   [&](uint32_t a, uint32_t b) { return w_.presets[a].at_ns > w_.presets[b].at_ns; });
  expect_preset();
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

}  // namespace trn
