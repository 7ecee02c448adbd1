#include "isa/sequencer.h"

#include <cstring>

namespace trn {
namespace {

// Sign- or zero-extended; float32 keeps its bits.
int32_t word_at(const std::byte* at, Dtype d) {
  int32_t word = 0;
  std::memcpy(&word, at, static_cast<size_t>(size_of(d)));
  if (d == Dtype::int8) return static_cast<int8_t>(word);
  if (d == Dtype::int16) return static_cast<int16_t>(word);
  return word;
}

}  // namespace

void Sequencer::must_know(const Word& w, const char* what) const {
  if (can_go_on_with(w)) return;
  throw Error(Fault::unmodelled, std::string(what) +
                                     " depends on a value that register_load reads: the Program's time depends on its "
                                     "data, so it needs a run that computes too (TRNSIM_MODE=both)");
}

void Sequencer::begin_loop(Register counter, Word start, Word stop, int32_t step) {
  must_know(start, "a loop's first value");
  must_know(stop, "a loop's bound");
  if (start.value >= stop.value) {
    next_ = stream_->target[place_] + 1;
    return;
  }
  loops_.push_back({place_ + 1, counter, start.value, stop.value, step});
  registers.write(counter, start);
}

void Sequencer::end_loop() {
  Loop& l = loops_.back();
  l.value += l.step;
  if (l.value >= l.stop) {
    loops_.pop_back();
    return;
  }
  registers.write(l.counter, {static_cast<int32_t>(l.value)});
  next_ = l.body;
}

void Sequencer::branch(Word condition) {
  must_know(condition, "a branch");
  if (condition.value) next_ = stream_->target[place_];
}

void Sequencer::load(Register dst, const Access& src) {
  if (memory_) {
    log_->push_back(word_at(address(src, *memory_), src.dtype));
    ++loaded_;
    registers.write(dst, {log_->back()});
    return;
  }
  const bool known = loaded_ < log_->size();
  registers.write(dst, {known ? (*log_)[loaded_++] : stand_in_.value_or(0), known});
}

void Sequencer::store(const Access& dst, Register src) {
  const int32_t word = registers.read(src).value;
  if (memory_) std::memcpy(address(dst, *memory_), &word, static_cast<size_t>(size_of(dst.dtype)));
}

}  // namespace trn
