#include "traces/perfetto_writer.h"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace trn::perfetto {
namespace {

// Field numbers of perfetto's TracePacket, TrackDescriptor, TrackEvent and DebugAnnotation.
namespace packet {
constexpr int in_trace = 1, timestamp = 8, sequence = 10, track_event = 11, track_descriptor = 60;
}
namespace track {
constexpr int uuid = 1, name = 2, process = 3, parent = 5, pid = 1, process_name = 6;
}
namespace event {
constexpr int annotation = 4, type = 9, uuid = 11, name = 23, begin = 1, end = 2;
constexpr int annotation_name = 10, annotation_int = 4, annotation_text = 6;
}  // namespace event

}  // namespace

Message& Message::number(int field, uint64_t value) {
  varint(static_cast<uint64_t>(field) << 3);
  varint(value);
  return *this;
}

Message& Message::text(int field, std::string_view value) {
  varint(static_cast<uint64_t>(field) << 3 | 2);
  varint(value.size());
  bytes_.append(value);
  return *this;
}

void Message::varint(uint64_t v) {
  for (; v >= 0x80; v >>= 7) bytes_.push_back(static_cast<char>(v | 0x80));
  bytes_.push_back(static_cast<char>(v));
}

Slice::Slice(std::string_view name) { message_.text(event::name, name); }

Slice& Slice::note(std::string_view key, std::string_view value) {
  message_.message(event::annotation, Message().text(event::annotation_name, key).text(event::annotation_text, value));
  return *this;
}

Slice& Slice::note(std::string_view key, int64_t value) {
  message_.message(
      event::annotation,
      Message().text(event::annotation_name, key).number(event::annotation_int, static_cast<uint64_t>(value)));
  return *this;
}

uint64_t Writer::process(int pid, std::string_view title) {
  Message about;
  about.number(track::pid, static_cast<uint64_t>(pid)).text(track::process_name, title);
  Message descriptor;
  descriptor.number(track::uuid, ++last_track_).message(track::process, about);
  write(Message().message(packet::track_descriptor, descriptor));
  return last_track_;
}

uint64_t Writer::child(uint64_t parent, std::string_view title) {
  Message descriptor;
  descriptor.number(track::uuid, ++last_track_).number(track::parent, parent).text(track::name, title);
  write(Message().message(packet::track_descriptor, descriptor));
  return last_track_;
}

void Writer::slice(uint64_t track, double start_ns, double end_ns, const Slice& details) {
  const auto from = static_cast<uint64_t>(std::llround(start_ns)),
             to = std::max(from, static_cast<uint64_t>(std::llround(end_ns)));
  Message begin = details.message();
  begin.number(event::type, event::begin).number(event::uuid, track);
  Message end;
  end.number(event::type, event::end).number(event::uuid, track);
  write(Message().number(packet::timestamp, from).message(packet::track_event, begin));
  write(Message().number(packet::timestamp, to).message(packet::track_event, end));
}

void Writer::write(const Message& m) {
  Message whole = m;
  whole.number(packet::sequence, 1);
  const Message in_trace = Message().message(packet::in_trace, whole);
  out_.write(in_trace.bytes().data(), static_cast<std::streamsize>(in_trace.bytes().size()));
}

void Lanes::slice(double start_ns, double end_ns, const Slice& details) {
  auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& l) { return l.free <= start_ns; });
  if (lane == lanes_.end()) {
    const std::string title = lanes_.empty() ? title_ : title_ + " +" + std::to_string(lanes_.size());
    lane = lanes_.insert(lane, {writer_->child(parent_, title), 0});
  }
  lane->free = std::max(start_ns, end_ns);
  writer_->slice(lane->track, start_ns, end_ns, details);
}

}  // namespace trn::perfetto
