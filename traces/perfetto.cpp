#include "traces/perfetto.h"

#include <string>

#include "isa/dispatch.h"

namespace trn {
namespace perfetto {

CoreTracks::CoreTracks(Writer& w, int core, const Spec& s)
    : writer_(w), process_(w.process(100 + core, "neuron:" + std::to_string(core) + " (simulated " + s.name + ")")) {}

Lanes& CoreTracks::lanes(const std::string& title) {
  return lanes_.try_emplace(title, writer_, process_, title).first->second;
}

std::string LaunchEvents::place(const char* what, Engine e, uint8_t core) const {
  return what + std::string(kEngineNames[static_cast<size_t>(e)].profiler) + on_core(core);
}

void LaunchEvents::instruction(const InstructionEvent& e) {
  const Instruction& in = program_.instructions[e.instruction];
  Slice s(row(in).name);
  s.note("pc", static_cast<int64_t>(e.instruction));
  if (in.source) s.note("source", program_.sources[in.source]);
  const AccessList operands = accesses(program_, in);
  for (int i = 0; i < operands.count; ++i) s.note(operands.written[i] ? "dst" : "src", to_string(*operands.access[i]));
  tracks_.lanes(place("1 ", in.engine, in.core)).slice(at(e.start), at(e.end), s);
}

void LaunchEvents::wait(const WaitEvent& e) {
  const Instruction& in = program_.instructions[e.instruction];
  Slice s(name(e.reason));
  s.note("who", row(in).name);
  if (e.blocker != WaitEvent::kNobody)
    s.note("for", std::string(row(program_.instructions[e.blocker]).name) + " #" + std::to_string(e.blocker));
  tracks_.lanes(place("2 waits of ", in.engine, in.core)).slice(at(e.begin), at(e.end), s);
}

void LaunchEvents::transfer(const TransferEvent& e) {
  Slice s(row(program_.instructions[e.instruction]).name);
  s.note("bytes", e.bytes);
  tracks_.lanes("3 DMA queue " + std::to_string(e.queue) + on_core(e.core)).slice(at(e.begin), at(e.end), s);
}

void LaunchEvents::throttle(const ThrottleEvent& e) {
  rate(e.core, e.at);
  rate_[e.core] = e;
}

void LaunchEvents::end(Tick makespan) {
  for (const auto& [core, since] : rate_) rate(core, makespan);
}

void LaunchEvents::rate(uint8_t core, Tick until) {
  const auto now = rate_.find(core);
  if (now == rate_.end()) return;
  tracks_.lanes("4 Tensor rate" + on_core(core))
      .slice(at(now->second.at), at(until), Slice(std::to_string(now->second.eighths) + "/8"));
}

}  // namespace perfetto

using perfetto::CoreTracks;
using perfetto::Lanes;
using perfetto::LaunchEvents;
using perfetto::Slice;
using perfetto::Writer;

void write_perfetto(const Session& s, std::ostream& out) {
  Writer w(out);
  if (!s.spec) return;
  const Clock clock(*s.spec);
  const uint64_t host = w.process(1, "host (simulated)");
  std::map<HostWork, Lanes> host_lanes;
  for (const HostSpan& h : s.host) {
    Slice slice(h.what);
    if (h.bytes) slice.note("bytes", h.bytes);
    host_lanes.try_emplace(h.work, w, host, std::string(name(h.work))).first->second.slice(h.start_ns, h.end_ns, slice);
  }

  std::map<int, CoreTracks> cores;
  for (const Launch& l : s.launches) {
    CoreTracks& core = cores.try_emplace(l.core, w, l.core, *s.spec).first->second;
    const Program& program = *l.what->program;
    Slice launch(l.op.empty() ? program.name : l.op);
    launch.note("program", program.name).note("queued_ns", static_cast<int64_t>(l.start_ns - l.submitted_ns));
    core.lanes("0 Programs").slice(l.start_ns, l.end_ns, launch);
    LaunchEvents events(program, core, clock, l.start_ns);
    for (const InstructionEvent& e : l.what->instructions) events.instruction(e);
    for (const WaitEvent& e : l.what->waits) events.wait(e);
    for (const TransferEvent& e : l.what->transfers) events.transfer(e);
    for (const ThrottleEvent& e : l.what->throttles) events.throttle(e);
    events.end(l.what->timing.makespan);
  }
}

void PerfettoStream::end(const Timing& t) {
  LaunchEvents::end(t.makespan);
  tracks.lanes("0 Programs").slice(0, clock.to_ns(t.makespan), Slice(program().name));
}

}  // namespace trn
