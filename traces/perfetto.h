#pragma once
#include <array>
#include <iosfwd>
#include <map>

#include "sim/ticks.h"
#include "traces/perfetto_writer.h"
#include "traces/session.h"

namespace trn {

// Writes the session as a Perfetto trace (protobuf, https://perfetto.dev/docs/reference/trace-packet-proto): a process
// per logical core with tracks for its Programs, engines, waits and DMA queues, and one for the host. Opens in the
// Perfetto UI.
void write_perfetto(const Session& s, std::ostream& out);

namespace perfetto {

// The tracks of one logical core, made when something is first drawn on them.
class CoreTracks {
 public:
  CoreTracks(Writer& w, int core, const Spec& s);
  Lanes& lanes(const std::string& title);

 private:
  Writer& writer_;
  uint64_t process_;
  std::map<std::string, Lanes> lanes_;
};

// Draws what it is told of one launch, at once. `program` and `tracks` must outlive it.
class LaunchEvents : public Observer {
 public:
  LaunchEvents(const Program& program, CoreTracks& tracks, const Clock& clock, double start_ns)
      : program_(program), tracks_(tracks), clock_(clock), start_ns_(start_ns) {}

  void instruction(const InstructionEvent& e) override;
  void wait(const WaitEvent& e) override;
  void transfer(const TransferEvent& e) override;
  void throttle(const ThrottleEvent& e) override;
  // The Tensor engine's last rate holds until here.
  void end(Tick makespan);
  const Program& program() const { return program_; }

 private:
  double at(Tick t) const { return start_ns_ + clock_.to_ns(t); }
  std::string place(const char* what, Engine e, uint8_t core) const;
  std::string on_core(uint8_t core) const { return program_.cores > 1 ? " nc" + std::to_string(core) : std::string(); }
  void rate(uint8_t core, Tick until);

  const Program& program_;
  CoreTracks& tracks_;
  const Clock& clock_;
  double start_ns_;
  std::map<uint8_t, ThrottleEvent> rate_;  // now, by physical core
};

// What a trace of one core needs before its first event.
struct StreamParts {
  Writer writer;
  Clock clock;
  CoreTracks tracks;
  StreamParts(const Spec& s, std::ostream& out) : writer(out), clock(s), tracks(writer, 0, s) {}
};

}  // namespace perfetto

// One Program's trace, written while it is simulated: memory does not grow with the timeline. Give it to simulate() as
// the observer, then call end().
class PerfettoStream : private perfetto::StreamParts, public perfetto::LaunchEvents {
 public:
  PerfettoStream(const Program& p, const Spec& s, std::ostream& out)
      : StreamParts(s, out), LaunchEvents(p, tracks, clock, 0) {}
  void end(const Timing& t);
};

}  // namespace trn
