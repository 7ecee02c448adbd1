#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "isa/sequencer.h"
#include "sim/observer.h"

namespace trn {

// What one timed Program looked like. Ticks count from the Program's start.
struct Timeline {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Loads> loads;  // what this run's registers read, where its time depended on that; else null
  Timing timing;
  std::vector<InstructionEvent> instructions;
  std::vector<WaitEvent> waits;
  std::vector<TransferEvent> transfers;
  std::vector<ThrottleEvent> throttles;
};

// Keeps everything it is told.
class TimelineRecorder : public Observer {
 public:
  void instruction(const InstructionEvent& e) override { timeline_.instructions.push_back(e); }
  void wait(const WaitEvent& e) override { timeline_.waits.push_back(e); }
  void transfer(const TransferEvent& e) override { timeline_.transfers.push_back(e); }
  void throttle(const ThrottleEvent& e) override { timeline_.throttles.push_back(e); }
  Timeline take(std::shared_ptr<const Program> program, const Timing& timing) {
    timeline_.program = std::move(program);
    timeline_.timing = timing;
    return std::exchange(timeline_, {});
  }

 private:
  Timeline timeline_;
};

}  // namespace trn
