#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/ticks.h"

namespace trn {

// Pending events in time order. Ties break by `priority`, then by order of insertion, so a run is repeatable.
template <class Payload>
class EventQueue {
 public:
  struct Event {
    Tick at;
    uint64_t order;  // priority in the top byte, insertion number below
    Payload payload;
  };

  void push(Tick at, uint8_t priority, Payload payload) {
    heap_.push_back({at, static_cast<uint64_t>(priority) << 56 | count_++, payload});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  bool empty() const { return heap_.empty(); }
  Tick next() const { return heap_.front().at; }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event e = heap_.back();
    heap_.pop_back();
    return e;
  }

 private:
  static bool later(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  std::vector<Event> heap_;
  uint64_t count_ = 0;
};

}  // namespace trn
