#pragma once
#include <algorithm>

#include "isa/card.h"
#include "sim/observer.h"

namespace trn {

// The PE array of one core: weights of the next matmul load behind the current stream, and a dI/dt throttle halves the
// rate.
//
// Throttle (trn2.md sections 2, 10, 11): time is cut into windows of 8192 PE cycles. A window in which rows streamed
// for at least 3/8 of its cycles makes the next one full rate; otherwise the next one runs at half rate, where a stream
// takes exactly twice its rows and hides its fixed cycles.
class TensorEngine {
 public:
  TensorEngine(const Spec& s, const Clock& clock, int eighths, double phase_cycles)
      : cycle_(static_cast<Tick>(std::llround(clock.ticks_per_ns / s.tensor_ghz))),
        window_(static_cast<Tick>(s.throttle_window_cycles) * cycle_),
        threshold_(static_cast<Tick>(std::llround(s.throttle_threshold * s.throttle_window_cycles)) * cycle_),
        fixed_(std::llround(s.pe_fixed_cycles) * cycle_),
        latency_full_(clock.from_ns(s.pe_latency_ns)),
        latency_half_(clock.from_ns(s.pe_latency_throttled_ns)),
        eighths_(eighths),
        window_end_(window_ - std::llround(phase_cycles * static_cast<double>(cycle_))) {}

  struct Slot {
    Tick weights_from, stream_from, stream_to, end;
    Tick throttled;  // ticks lost to the half rate
  };

  // Runs one matmul that is dispatched at `at`. `on_change` is told of every rate change up to its end.
  template <class OnChange>
  Slot run(Tick at, const Cost& cost, OnChange&& on_change) {
    Slot s;
    s.weights_from = std::max(at, stream_from_);
    const Tick loaded = s.weights_from + std::llround(cost.preload * static_cast<double>(cycle_));
    s.stream_from = std::max(stream_to_, loaded);
    const Tick rows = std::max<Tick>(std::llround(cost.busy * static_cast<double>(cycle_)) - fixed_, cycle_);
    s.stream_to = stream(s.stream_from, rows, s.throttled, on_change);
    s.end = s.stream_to + (eighths_ == 8 ? latency_full_ : latency_half_);
    stream_from_ = s.stream_from;
    stream_to_ = s.stream_to;
    return s;
  }

 private:
  // Streams `rows` ticks' worth of rows from `from`; returns when the array is free again.
  template <class OnChange>
  Tick stream(Tick from, Tick rows, Tick& throttled, OnChange&& on_change) {
    skip_to(from, on_change);
    throttled = 0;
    Tick now = from;
    bool ever_full = false;
    while (rows > 0) {
      const Tick slowdown = eighths_ == 8 ? 1 : 2;
      ever_full = ever_full || slowdown == 1;
      const Tick room = std::max<Tick>((window_end_ - now) / slowdown, 1);
      const Tick part = std::min(rows, room);
      rows -= part;
      used_ += part;
      now += part * slowdown;
      throttled += part * (slowdown - 1);
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
    const int rate = used_ >= threshold_ ? 8 : 4;
    if (rate != eighths_) on_change(window_end_, rate);
    eighths_ = rate;
    used_ = 0;
    window_end_ += window_;
  }

  Tick cycle_, window_, threshold_, fixed_, latency_full_, latency_half_;
  int eighths_;
  Tick window_end_;
  Tick used_ = 0;  // row ticks streamed in the current window
  Tick stream_from_ = 0, stream_to_ = 0;
};

}  // namespace trn
