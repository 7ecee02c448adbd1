#include "sim/simulate.h"

#include "isa/dispatch.h"
#include "isa/unroll.h"
#include "sim/run.h"

namespace trn {
namespace {

// Events of a straight line, told as events of the Program that it was unrolled from.
class Folded : public Observer {
 public:
  Folded(const Unrolled& u, Observer* to) : u_(u), to_(to) {}

  void instruction(const InstructionEvent& e) override {
    const Instruction& i = u_.program.instructions[e.instruction];
    if (!u_.added[e.instruction]) return to_ ? to_->instruction({origin(e.instruction), e.start, e.end}) : void();
    --surplus[static_cast<size_t>(i.engine)];
  }
  void wait(const WaitEvent& e) override {
    if (to_) to_->wait({origin(e.instruction), e.begin, e.end, e.reason, origin(e.blocker)});
  }
  void transfer(const TransferEvent& e) override {
    if (to_) to_->transfer({origin(e.instruction), e.core, e.queue, e.begin, e.end, e.bytes});
  }
  void throttle(const ThrottleEvent& e) override {
    if (to_) to_->throttle(e);
  }

  std::array<int64_t, kEngines> surplus{};  // minus the labels that stand for no instruction

 private:
  uint32_t origin(uint32_t i) const { return i == WaitEvent::kNobody ? i : u_.origin[i]; }

  const Unrolled& u_;
  Observer* to_;
};

}  // namespace

Timing simulate(const Work& w, const Spec& s, Observer* observer, const SimOptions& options) {
  return Run(w, s, observer, options).go();
}

Timing simulate(const Program& p, const Spec& s, Observer* observer, const SimOptions& options, const Loads& loads) {
  if (!has_control(p)) return simulate(work_of(p, s), s, observer, options);
  const Unrolled u = unroll(p, s, loads);
  Folded folded(u, observer);
  Timing t = simulate(work_of(u.program, s), s, &folded, options);
  for (size_t e = 0; e < t.engines.size(); ++e) t.engines[e].instructions += folded.surplus[e];
  return t;
}

}  // namespace trn
