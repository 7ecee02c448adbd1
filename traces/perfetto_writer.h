#pragma once
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace trn::perfetto {

// The wire forms that a trace needs (protobuf encoding guide).
class Message {
 public:
  Message& number(int field, uint64_t value);
  Message& text(int field, std::string_view value);
  Message& message(int field, const Message& m) { return text(field, m.bytes_); }
  const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void varint(uint64_t v);
  std::string bytes_;
};

// The details of one slice: its name and notes.
class Slice {
 public:
  explicit Slice(std::string_view name);
  Slice& note(std::string_view key, std::string_view value);
  Slice& note(std::string_view key, int64_t value);
  const Message& message() const { return message_; }

 private:
  Message message_;
};

// Tracks and slices, written as they come: nothing is kept but the tracks' names. Times in nanoseconds.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}
  uint64_t process(int pid, std::string_view title);
  uint64_t child(uint64_t parent, std::string_view title);
  void slice(uint64_t track, double start_ns, double end_ns, const Slice& details);

 private:
  void write(const Message& m);
  std::ostream& out_;
  uint64_t last_track_ = 0;
};

// Slices of one track must nest; work that overlaps goes to a further lane of the same name.
class Lanes {
 public:
  Lanes(Writer& w, uint64_t parent, std::string title) : writer_(&w), parent_(parent), title_(std::move(title)) {}
  void slice(double start_ns, double end_ns, const Slice& details);

 private:
  struct Lane {
    uint64_t track;
    double free;  // from here on
  };
  Writer* writer_;
  uint64_t parent_;
  std::string title_;
  std::vector<Lane> lanes_;
};

}  // namespace trn::perfetto
