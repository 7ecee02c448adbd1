#pragma once
#include <algorithm>

#include "isa/card.h"
#include "sim/observer.h"

namespace trn {

// The PE array of one core: weights of the next matmul load behind the current stream, and a dI/dt throttle halves the
// rate.
//
// Throttle (trn2.md sections 2, 10, 11): time is cut into windows of 8192 PE cycles. A window in which rows streamed
// for at least 3/8 of its cycles keeps the next one at full rate, somewhat more raises it; otherwise the next one runs
// at half rate. Half rate is a bucket of throttle_burst_cycles that fills by half a cycle a cycle: a stream takes
// exactly twice its rows and hides its fixed cycles, and after idling twice the bucket goes at full rate.
class TensorEngine {
 public:
  TensorEngine(const Spec& s, const Clock& clock, int eighths, double phase_cycles)
      : cycle_(static_cast<Tick>(std::llround(clock.ticks_per_ns / s.tensor_ghz))),
        window_(static_cast<Tick>(s.throttle_window_cycles) * cycle_),
        drop_(static_cast<Tick>(std::llround(s.throttle_threshold * s.throttle_window_cycles)) * cycle_),
        raise_(static_cast<Tick>(std::llround(s.throttle_raise_threshold * s.throttle_window_cycles)) * cycle_),
        bucket_(std::llround(s.throttle_burst_cycles) * cycle_),
        fixed_(std::llround(s.pe_fixed_cycles) * cycle_),
        load_fixed_(std::llround(s.ldweights_fixed_cycles) * cycle_),
        latency_full_(clock.from_ns(s.pe_latency_ns)),
        latency_half_(clock.from_ns(s.pe_latency_throttled_ns)),
        load_latency_full_(clock.from_ns(s.ldweights_latency_ns)),
        load_latency_half_(clock.from_ns(s.ldweights_latency_throttled_ns)),
        eighths_(eighths),
        tokens_(bucket_),
        window_end_(window_ - std::llround(phase_cycles * static_cast<double>(cycle_))) {}

  struct Slot {
    Tick start;  // as a profile reports it: weights, dispatch or the end of the stream before
    Tick stream_from, stream_to, end;
    Tick throttled;  // ticks lost to the half rate
  };

  // Runs what `cost` asks for, dispatched at `at`: a weight load, the stream of a matmul, or both. `on_change` is told
  // of every rate change up to its end.
  template <class OnChange>
  Slot run(Tick at, const Cost& cost, OnChange&& on_change) {
    Slot s{};
    if (cost.preload > 0) load(at, to_tick(cost.preload * static_cast<double>(cycle_)), s, on_change);
    if (cost.busy <= 0) return s;
    s.start = std::max(at, stream_to_);
    s.stream_from = std::max(s.start, loaded_);
    const Tick rows = std::max<Tick>(to_tick(cost.busy * static_cast<double>(cycle_)) - fixed_, cycle_);
    s.stream_to = stream(s.stream_from, rows, s.throttled, on_change);
    s.end = s.stream_to + (eighths_ == 8 ? latency_full_ : latency_half_);
    stream_from_ = s.stream_from;
    stream_to_ = s.stream_to;
    return s;
  }

 private:
  // Two sets of weights: the next ones load while the stream before uses the others.
  template <class OnChange>
  void load(Tick at, Tick columns, Slot& s, OnChange&& on_change) {
    s.start = s.stream_from = s.stream_to = std::max(at, stream_from_);
    const bool foreground = s.start >= stream_to_;
    if (foreground) {
      skip_to(s.start, on_change);
      loaded_ = burst(s.start, columns);
    } else {
      loaded_ = s.start + (eighths_ == 8 ? columns : 2 * columns);
    }
    const bool full = eighths_ == 8 || (foreground && tokens_ > 0);
    if (full) loaded_ += load_fixed_;
    s.end = loaded_ + (full ? load_latency_full_ : load_latency_half_);
  }

  void refill(Tick now) {
    tokens_ = eighths_ == 8 ? bucket_ : std::min(bucket_, tokens_ + std::max<Tick>(0, now - filled_to_) / 2);
    filled_to_ = std::max(filled_to_, now);
  }

  // End of `rows` from `now` at the present rate, ignoring windows.
  Tick burst(Tick now, Tick rows) {
    refill(now);
    if (eighths_ == 8) return now + rows;
    const Tick quick = std::min(rows, 2 * tokens_);
    tokens_ -= quick / 2;
    filled_to_ = now + quick + 2 * (rows - quick);
    return filled_to_;
  }

  // Streams `rows` ticks' worth of rows from `from`; returns when the array is free again.
  template <class OnChange>
  Tick stream(Tick from, Tick rows, Tick& throttled, OnChange&& on_change) {
    skip_to(from, on_change);
    throttled = 0;
    Tick now = from;
    bool ever_full = false;
    while (rows > 0) {
      refill(now);
      const bool full = eighths_ == 8, quick = full || tokens_ > 0;
      const Tick slowdown = quick ? 1 : 2;
      ever_full = ever_full || full;
      const Tick room = std::max<Tick>((window_end_ - now) / slowdown, 1);
      const Tick part = std::min({rows, room, full || !quick ? rows : std::max<Tick>(2 * tokens_, 1)});
      rows -= part;
      used_ += part;
      now += part * slowdown;
      throttled += part * (slowdown - 1);
      if (!full) {
        if (quick) tokens_ = std::max<Tick>(0, tokens_ - (part + 1) / 2);
        filled_to_ = now;
      }
      if (now >= window_end_) next_window(on_change);
    }
    return ever_full ? now + fixed_ : std::max(now, from + fixed_);
  }

  template <class OnChange>
  void skip_to(Tick t, OnChange&& on_change) {
    if (t < window_end_) return;
    next_window(on_change);
    if (t < window_end_) return;
    const Tick whole = (t - window_end_) / window_ + 1;  // idle windows: all below the threshold
    next_window(on_change);
    window_end_ += (whole - 1) * window_;
  }

  template <class OnChange>
  void next_window(OnChange&& on_change) {
    const int rate = used_ >= (eighths_ == 8 ? drop_ : raise_) ? 8 : 4;
    if (rate != eighths_) on_change(window_end_, rate);
    if (eighths_ == 8) filled_to_ = window_end_;
    eighths_ = rate;
    used_ = 0;
    window_end_ += window_;
  }

  Tick cycle_, window_, drop_, raise_, bucket_, fixed_, load_fixed_;
  Tick latency_full_, latency_half_, load_latency_full_, load_latency_half_;
  int eighths_;
  Tick tokens_, filled_to_ = 0;
  Tick window_end_;
  Tick used_ = 0;  // row ticks streamed in the current window
  Tick stream_from_ = 0, stream_to_ = 0, loaded_ = 0;
};

}  // namespace trn
