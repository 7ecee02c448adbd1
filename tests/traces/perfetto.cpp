#include "traces/perfetto.h"

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "sim/simulate.h"
#include "tests/sim/programs.h"
#include "tests/traces/session.h"

using namespace trn;
using namespace trn::test;

namespace {

// The fields of one protobuf message: numbers, and bytes of strings and of messages within.
struct Fields {
  std::multimap<int, uint64_t> numbers;
  std::multimap<int, std::string> texts;

  explicit Fields(std::string_view bytes) {
    size_t at = 0;
    const auto varint = [&] {
      uint64_t v = 0;
      for (int shift = 0;; shift += 7) {
        const auto b = static_cast<unsigned char>(bytes.at(at++));
        v |= uint64_t{b & 0x7Fu} << shift;
        if (b < 0x80) return v;
      }
    };
    while (at < bytes.size()) {
      const uint64_t key = varint(), value = varint();
      const auto field = static_cast<int>(key >> 3);
      if ((key & 7) == 0) {
        numbers.emplace(field, value);
      } else {
        texts.emplace(field, bytes.substr(at, value));
        at += value;
      }
    }
  }
  uint64_t number(int field) const { return numbers.find(field)->second; }
  std::string text(int field) const {
    const auto at = texts.find(field);
    return at == texts.end() ? "" : at->second;
  }
};

// "Vector: tensor_copy 0..230" for each slice, by track; fields as numbered in perfetto's trace_packet.proto.
std::multimap<std::string, std::string> slices(const std::string& trace) {
  std::map<uint64_t, std::string> names;
  std::map<uint64_t, std::pair<std::string, uint64_t>> open;
  std::multimap<std::string, std::string> found;
  const Fields all(trace);
  for (const auto& [field, bytes] : all.texts) {
    REQUIRE(field == 1);
    const Fields packet(bytes);
    if (const std::string d = packet.text(60); !d.empty()) {
      const Fields track(d);
      names[track.number(1)] = track.text(2);
      continue;
    }
    const Fields event(packet.text(11));
    const uint64_t track = event.number(11), at = packet.number(8);
    if (event.number(9) == 1) {
      open[track] = {event.text(23), at};
    } else {
      const auto& [name, from] = open.at(track);
      found.emplace(names.at(track), name + " " + std::to_string(from) + ".." + std::to_string(at));
    }
  }
  return found;
}

Program load_and_copy() {
  Program p;
  p.name = "p";
  p.slots.push_back({"x", SlotUse::input, Dtype::float32, 128 * 512 * 4, 0, {}});
  add<DmaCopy>(p, Engine::sync, dma(sbuf(Dtype::float32, 128, 0, 512), hbm(Dtype::float32, 0, 128, 512)), {}, 0);
  add<TensorCopy>(p, Engine::vector, copy(sbuf(Dtype::float32, 128, 4096, 512), sbuf(Dtype::float32, 128, 0, 512)),
                  {{0, 1}});
  return p;
}

// Tells how long the trace is while the simulation goes on.
struct Watched : PerfettoStream {
  Watched(const Program& p, std::ostringstream& out) : PerfettoStream(p, trn2(), out), out_(out) {}
  void instruction(const InstructionEvent& e) override {
    PerfettoStream::instruction(e);
    sizes.push_back(out_.str().size());
  }
  std::vector<size_t> sizes;

 private:
  std::ostringstream& out_;
};

}  // namespace

TEST_CASE("a session's launches, engines and waits are tracks of slices") {
  std::ostringstream out;
  write_perfetto(session(), out);
  const auto found = slices(out.str());
  CHECK(found.count("0 Programs") == 2);
  const auto on = [&](const std::string& track) {
    std::vector<std::string> all;
    for (auto [at, end] = found.equal_range(track); at != end; ++at) all.push_back(at->second);
    return all;
  };
  CHECK(on("1 Vector") == std::vector<std::string>{"tensor_copy 300..500", "tensor_copy 2800..3000"});
  CHECK(on("2 waits of Vector") == std::vector<std::string>{"semaphore 200..300", "semaphore 2700..2800"});
}

TEST_CASE("a streamed trace has what a recorded one has, and is written as it happens") {
  const Program p = load_and_copy();
  std::ostringstream streamed, recorded;
  Watched stream(p, streamed);
  const Timing t = simulate(p, trn2(), &stream);
  stream.end(t);
  REQUIRE(stream.sizes.size() == 2);
  CHECK(stream.sizes[0] > 0);
  CHECK(stream.sizes[1] > stream.sizes[0]);

  TimelineRecorder recorder;
  simulate(p, trn2(), &recorder);
  Session s;
  s.spec = &trn2();
  const auto timeline = std::make_shared<const Timeline>(recorder.take(std::make_shared<const Program>(p), t));
  s.launches.push_back({timeline, 0, "", 0, 0, Clock(trn2()).to_ns(t.makespan)});
  write_perfetto(s, recorded);
  CHECK(slices(streamed.str()) == slices(recorded.str()));
}
