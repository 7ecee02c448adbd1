#pragma once
#include <optional>
#include <vector>

#include "isa/program.h"
#include "isa/streams.h"

namespace trn {

// The words that each stream's register_load instructions read, in order. Timing depends on data through these alone:
// the same Program with the same Loads takes the same time.
struct Loads {
  std::vector<std::vector<int32_t>> of_stream;  // by core * kEngines + engine
  // What to go on with where these end: the words stay unknown, but loops, branches and waits take them for it.
  std::optional<int32_t> stand_in;
  friend bool operator==(const Loads&, const Loads&) = default;
};

// One engine's sequencer: its registers and its place in its stream. The control cards' step() acts on it.
class Sequencer {
 public:
  // With `memory`, loads read it and stores write it; loads are added to `log`. Without, loads are taken from `log`,
  // and are unknown once it has no more.
  Sequencer(const Program& p, const Stream& stream, const CoreMemory* memory, std::vector<int32_t>& log,
            std::optional<int32_t> stand_in = {})
      : program_(&p), stream_(&stream), memory_(memory), log_(&log), stand_in_(stand_in) {}

  bool done() const { return place_ >= stream_->instructions.size(); }
  uint32_t index() const { return stream_->instructions[place_]; }  // in Program::instructions
  const Stream& stream() const { return *stream_; }
  // To the next instruction, or to where the last step() said.
  void advance() {
    place_ = next_;
    ++next_;
  }

  RegisterFile registers;

  // A loop over [start, stop): its bounds are read once, on entry; the counter is written at the start of each
  // iteration. Bounds and conditions that are not known, and have no stand-in, throw trn::Error(unmodelled).
  void begin_loop(Register counter, Word start, Word stop, int32_t step);
  void end_loop();
  void branch(Word condition);  // to the instruction's label if it is not 0
  void load(Register dst, const Access& src);
  void store(const Access& dst, Register src);
  bool can_go_on_with(Word w) const { return w.known || stand_in_; }

 private:
  struct Loop {
    uint32_t body;  // place of the first instruction of its body
    Register counter;
    int64_t value, stop, step;
  };

  void must_know(const Word& w, const char* what) const;

  const Program* program_;
  const Stream* stream_;
  const CoreMemory* memory_;
  std::vector<int32_t>* log_;
  std::optional<int32_t> stand_in_;
  size_t loaded_ = 0;
  uint32_t place_ = 0, next_ = 1;
  std::vector<Loop> loops_;
};

}  // namespace trn
