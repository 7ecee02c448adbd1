#pragma once
#include <cstdint>
#include <vector>

#include "sim/ticks.h"

namespace trn {

// Pending events in time order. Ties break by `priority`, then by order of insertion, so a run is repeatable. They are
// few, and most are later than the others when they come: kept sorted, searched from the back.
template <class Payload>
class EventQueue {
 public:
  struct Event {
    Tick at;
    uint8_t priority;
    Payload payload;
  };

  void push(Tick at, uint8_t priority, Payload payload) {
    if (first_ > kMostGone) forget();
    events_.push_back({at, priority, payload});
    size_t i = events_.size() - 1;
    for (; i > first_ && later(events_[i - 1], at, priority); --i) events_[i] = events_[i - 1];
    events_[i] = {at, priority, payload};
  }
  bool empty() const { return first_ == events_.size(); }
  Tick next() const { return events_[first_].at; }
  Event pop() { return events_[first_++]; }

 private:
  static bool later(const Event& e, Tick at, uint8_t priority) {
    return e.at != at ? e.at > at : e.priority > priority;
  }
  void forget() {
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }

  static constexpr size_t kMostGone = 512;
  std::vector<Event> events_;
  size_t first_ = 0;  // before it: popped
};

}  // namespace trn
