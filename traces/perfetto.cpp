#include "traces/perfetto.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "isa/dispatch.h"

namespace trn {
namespace {

// The five wire forms that a trace needs (protobuf encoding guide).
class Message {
 public:
  Message& number(int field, uint64_t value) {
    varint(static_cast<uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& text(int field, std::string_view value) {
    varint(static_cast<uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  Message& message(int field, const Message& m) { return text(field, m.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_.push_back(static_cast<char>(v | 0x80));
    bytes_.push_back(static_cast<char>(v));
  }
  std::string bytes_;
};

// Field numbers of perfetto's TracePacket, TrackDescriptor, TrackEvent and DebugAnnotation.
namespace packet {
constexpr int in_trace = 1, timestamp = 8, sequence = 10, track_event = 11, track_descriptor = 60;
}
namespace track {
constexpr int uuid = 1, name = 2, process = 3, parent = 5, pid = 1, process_name = 6, ordering = 11;
}
namespace event {
constexpr int annotation = 4, type = 9, uuid = 11, name = 23, begin = 1, end = 2;
constexpr int annotation_name = 10, annotation_int = 4, annotation_text = 6;
}  // namespace event

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  uint64_t process(int pid, const std::string& title) {
    Message descriptor;
    descriptor.number(track::uuid, ++last_track_)
        .message(track::process,
                 Message().number(track::pid, static_cast<uint64_t>(pid)).text(track::process_name, title));
    write(Message().message(packet::track_descriptor, descriptor));
    return last_track_;
  }
  uint64_t child(uint64_t parent, const std::string& title) {
    Message descriptor;
    descriptor.number(track::uuid, ++last_track_).number(track::parent, parent).text(track::name, title);
    write(Message().message(packet::track_descriptor, descriptor));
    return last_track_;
  }
  void slice(uint64_t on, double start_ns, double end_ns, const Message& details) {
    const auto from = static_cast<uint64_t>(std::llround(start_ns)),
               to = std::max(from, static_cast<uint64_t>(std::llround(end_ns)));
    Message begin = details;
    begin.number(event::type, event::begin).number(event::uuid, on);
    write(Message().number(packet::timestamp, from).message(packet::track_event, begin));
    write(Message()
              .number(packet::timestamp, to)
              .message(packet::track_event, Message().number(event::type, event::end).number(event::uuid, on)));
  }

 private:
  void write(Message m) {
    m.number(packet::sequence, 1);
    const std::string bytes = Message().message(packet::in_trace, m).bytes();
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::ostream& out_;
  uint64_t last_track_ = 0;
};

Message named(std::string_view title) { return std::move(Message().text(event::name, title)); }
Message& note(Message& m, std::string_view key, std::string_view value) {
  return m.message(event::annotation, Message().text(event::annotation_name, key).text(event::annotation_text, value));
}
Message& note(Message& m, std::string_view key, int64_t value) {
  return m.message(
      event::annotation,
      Message().text(event::annotation_name, key).number(event::annotation_int, static_cast<uint64_t>(value)));
}

// Slices of one track must nest; work that overlaps goes to a further lane of the same name.
class Lanes {
 public:
  Lanes(Writer& w, uint64_t parent, std::string title) : writer_(w), parent_(parent), title_(std::move(title)) {}
  void slice(double start, double end, const Message& details) {
    size_t lane = 0;
    while (lane < free_.size() && free_[lane] > start) ++lane;
    if (lane == free_.size()) {
      free_.push_back(0);
      tracks_.push_back(writer_.child(parent_, lane ? title_ + " +" + std::to_string(lane) : title_));
    }
    free_[lane] = std::max(start, end);
    writer_.slice(tracks_[lane], start, end, details);
  }

 private:
  Writer& writer_;
  uint64_t parent_;
  std::string title_;
  std::vector<double> free_;
  std::vector<uint64_t> tracks_;
};

struct CoreTracks {
  uint64_t process = 0;
  std::map<std::string, Lanes> lanes;
};

}  // namespace

void write_perfetto(const Session& s, std::ostream& out) {
  Writer w(out);
  if (!s.spec) return;
  const Clock clock(*s.spec);
  const uint64_t host = w.process(1, "host (simulated)");
  std::map<HostWork, Lanes> host_lanes;
  for (const HostSpan& h : s.host) {
    auto& lane = host_lanes.try_emplace(h.work, w, host, std::string(name(h.work))).first->second;
    Message m = named(h.what);
    if (h.bytes) note(m, "bytes", h.bytes);
    lane.slice(h.start_ns, h.end_ns, m);
  }

  std::map<int, CoreTracks> cores;
  for (const Launch& l : s.launches) {
    CoreTracks& core = cores[l.core];
    if (!core.process)
      core.process = w.process(100 + l.core, "neuron:" + std::to_string(l.core) + " (simulated " + s.spec->name + ")");
    const Program& program = *l.what->program;
    const auto lanes = [&](const std::string& title) -> Lanes& {
      return core.lanes.try_emplace(title, w, core.process, title).first->second;
    };
    const auto physical = [&](uint8_t c) { return program.cores > 1 ? " nc" + std::to_string(c) : std::string(); };

    Message launch = named(l.op.empty() ? program.name : l.op);
    note(launch, "program", program.name);
    note(launch, "queued_ns", static_cast<int64_t>(l.start_ns - l.submitted_ns));
    lanes("0 Programs").slice(l.start_ns, l.end_ns, launch);
    const auto at = [&](Tick t) { return l.start_ns + clock.to_ns(t); };
    for (const InstructionEvent& e : l.what->instructions) {
      const Instruction& in = program.instructions[e.instruction];
      Message m = named(row(in).name);
      note(m, "pc", static_cast<int64_t>(e.instruction));
      if (in.source) note(m, "source", program.sources[in.source]);
      const AccessList operands = accesses(program, in);
      for (int i = 0; i < operands.count; ++i)
        note(m, operands.written[i] ? "dst" : "src", to_string(*operands.access[i]));
      lanes("1 " + std::string(kEngineNames[static_cast<size_t>(in.engine)].profiler) + physical(in.core))
          .slice(at(e.start), at(e.end), m);
    }
    for (const WaitEvent& e : l.what->waits) {
      const Instruction& in = program.instructions[e.instruction];
      Message m = named(name(e.reason));
      note(m, "who", row(in).name);
      if (e.blocker != WaitEvent::kNobody)
        note(m, "for", std::string(row(program.instructions[e.blocker]).name) + " #" + std::to_string(e.blocker));
      lanes("2 waits of " + std::string(kEngineNames[static_cast<size_t>(in.engine)].profiler) + physical(in.core))
          .slice(at(e.begin), at(e.end), m);
    }
    for (const TransferEvent& e : l.what->transfers) {
      Message m = named(row(program.instructions[e.instruction]).name);
      note(m, "bytes", e.bytes);
      lanes("3 DMA queue " + std::to_string(e.queue) + physical(e.core)).slice(at(e.begin), at(e.end), m);
    }
    for (size_t i = 0; i < l.what->throttles.size(); ++i) {
      const ThrottleEvent& e = l.what->throttles[i];
      const Tick until = i + 1 < l.what->throttles.size() ? l.what->throttles[i + 1].at : l.what->timing.makespan;
      lanes("4 Tensor rate" + physical(e.core)).slice(at(e.at), at(until), named(std::to_string(e.eighths) + "/8"));
    }
  }
}

}  // namespace trn
