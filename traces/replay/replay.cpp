#include "traces/replay/replay.h"

#include <algorithm>
#include <cmath>

#include "memory/error.h"
#include "sim/simulate.h"
#include "traces/replay/operands.h"
#include "traces/replay/score.h"

namespace trn::replay {
namespace {

constexpr int kPhases = 64;  // of one throttle window, when the phase is unknown

// Starts, ends and completions by record.
class Recorder : public Observer {
 public:
  explicit Recorder(size_t records) : start(records, -1), end(records, -1), done(records, -1) {}
  void instruction(const InstructionEvent& e) override {
    start[e.instruction] = e.start;
    end[e.instruction] = e.end;
  }
  void transfer(const TransferEvent& e) override { done[e.instruction] = e.end; }
  std::vector<Tick> start, end, done;
};

struct Run {
  Recorder seen;
  Timing timing;
  Tick first = 0;  // start of the profile's first row
  Tick makespan = 0;
};

class Replayer {
 public:
  Replayer(const Profile& p, const Spec& s) : p_(p), s_(s), clock_(s), what_(work_of(p, s)) {
    record_of_.assign(p.instructions.size(), ProfileWork::kNoRow);
    for (uint32_t i = 0; i < what_.rows.size(); ++i)
      if (what_.rows[i] != ProfileWork::kNoRow) record_of_[what_.rows[i]] = i;
  }

  Result go(const Options& options) {
    Result r;
    r.notes = what_.notes;
    r.origin = static_cast<double>(what_.origin);
    r.phase_known = !options.unknown_phase && !p_.throttle.empty();
    const Run run = r.phase_known ? known_phase() : every_phase(r);
    fill(run, r);
    score(p_, what_, r, clock_.to_ns(run.timing.dma_active));
    if (r.phase_known) r.least_makespan = r.most_makespan = r.predicted_makespan;
    return r;
  }

 private:
  Run run(double phase_cycles, int eighths) const {
    SimOptions o;
    o.program_overhead = false;
    o.throttle_eighths = eighths;
    o.throttle_phase_cycles = phase_cycles;
    Run r{Recorder(what_.work.records.size()), {}, 0, 0};
    r.timing = simulate(what_.work, s_, &r.seen, o);
    r.first = r.seen.start[record_of_[what_.first_row]];
    Tick last = 0;
    for (const uint32_t row : what_.body) last = std::max(last, r.seen.end[record_of_[row]]);
    r.makespan = last - r.first;
    return r;
  }

  // Windows begin where the rate changed; before the first change it was the other one.
  Run known_phase() const {
    const ThrottleRow* first = &p_.throttle.front();
    for (const ThrottleRow& t : p_.throttle)
      if (t.start < first->start) first = &t;
    const double window_ns = s_.throttle_window_cycles / s_.tensor_ghz;
    const double begin = static_cast<double>(what_.origin) - clock_.to_ns(run(0, 4).first);
    double gone = std::fmod(begin - static_cast<double>(first->start), window_ns);
    if (gone < 0) gone += window_ns;
    int64_t k = first->k < first->n ? 8 : 4;
    for (const ThrottleRow& t : p_.throttle)
      if (static_cast<double>(t.start) <= begin && begin < static_cast<double>(t.start + t.duration))
        k = t.k < t.n ? 4 : 8;
    return run(gone * s_.tensor_ghz, static_cast<int>(k));
  }

  Run every_phase(Result& r) const {
    std::vector<std::pair<Tick, int>> all;
    for (int i = 0; i < kPhases; ++i) all.emplace_back(run(phase(i), 4).makespan, i);
    std::sort(all.begin(), all.end());
    r.least_makespan = clock_.to_ns(all.front().first);
    r.most_makespan = clock_.to_ns(all.back().first);
    return run(phase(all[kPhases / 2].second), 4);
  }
  double phase(int i) const { return s_.throttle_window_cycles * i / kPhases; }

  void fill(const Run& run, Result& r) const {
    const auto at = [&](Tick t) { return r.origin + clock_.to_ns(t - run.first); };
    for (const uint32_t row : what_.body) {
      const uint32_t i = record_of_[row];
      const Record& record = what_.work.records[i];
      Row x{.row = row, .start = at(run.seen.start[i]), .end = at(run.seen.end[i])};
      x.dma = record.unit == Unit::dma;
      x.compute = record.unit == Unit::pipeline;
      if (x.dma && run.seen.done[i] >= 0) x.done = at(run.seen.done[i]);
      r.rows.push_back(x);
    }
    for (const uint32_t row : what_.unmodelled)
      for (Row& x : r.rows)
        if (x.row == row) x.unmodelled = true;
    r.predicted_makespan = clock_.to_ns(run.makespan);
  }

  const Profile& p_;
  const Spec& s_;
  const Clock clock_;
  ProfileWork what_;
  std::vector<uint32_t> record_of_;
};

}  // namespace

Result replay(const Profile& p, const Spec& s, const Options& options) { return Replayer(p, s).go(options); }

}  // namespace trn::replay
