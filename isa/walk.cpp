#include "isa/walk.h"

#include <algorithm>

namespace trn {

Complaint complaint_of(const Error& e) {
  constexpr std::pair<std::string_view, RuleKind> kKinds[] = {{kDeadlock, RuleKind::deadlock},
                                                              {kUnderflow, RuleKind::semaphore_underflow},
                                                              {kIndexOutOfBounds, RuleKind::bounds}};
  Complaint c{e.fault(), e.rule() + "; " + e.context()};
  for (const auto& [beginning, kind] : kKinds)
    if (e.rule().starts_with(beginning)) c.kind = kind;
  return c;
}

Walk::Walk(const Program& p, const Spec& s, Walker& walker, Loads& loads, const Options& options)
    : p_(p), spec_(s), walker_(walker), options_(options), streams_(streams(p)) {
  loads.of_stream.resize(streams_.size());
  for (size_t i = 0; i < streams_.size(); ++i)
    engines_.push_back(
        {Sequencer(p, streams_[i], options.memory[i / kEngines], loads.of_stream[i], loads.stand_in), {}, {}});
  size_t semaphores = 0;
  for (const Instruction& in : p.instructions) {
    if (in.update != Instruction::kNoUpdate) semaphores = std::max<size_t>(semaphores, in.update + 1);
    for (const Wait& w : p.waits_of(in)) semaphores = std::max<size_t>(semaphores, w.semaphore + 1);
    placed_by_.push_back(row(in).registers(p.raw_args(in)));
  }
  semaphores_.resize(semaphores);
}

void Walk::run() {
  for (bool any = true; any;) {
    any = false;
    for (uint32_t s = 0; s < engines_.size(); ++s)
      for (uint64_t n = 0; n < options_.turn && !engines_[s].sequencer.done(); ++n) {
        if (options_.may_end_early && steps_ >= options_.most_steps) return;
        if (!go_on(s)) break;
        any = true;
      }
  }
  for (const Waiting& w : engines_)
    if (!w.sequencer.done()) stuck();
}

// Issues the stream's next instruction; false if it must wait.
bool Walk::go_on(uint32_t stream) {
  Waiting& w = engines_[stream];
  const Instruction& i = p_.instructions[w.sequencer.index()];
  if (w.in_meeting) return false;
  try {
    if (!met(w, i)) return false;
    count_step(i);
    const void* args = arguments(w, i);
    if (row(i).flow == Flow::meeting) return meet(stream, i);
    walker_.issue(stream, w.sequencer.index(), args, w.waits);
    if (row(i).step) row(i).step(args, w.sequencer);
  } catch (const Error& e) {
    throw Error(e.fault(), e.rule(),
                e.context() + (e.context().empty() ? "" : ", ") + p_.name + " " + describe(p_, w.sequencer.index()));
  }
  complete(stream, i);
  return true;
}

// Thresholds are made definite; a negative one is met.
bool Walk::met(Waiting& w, const Instruction& i) {
  w.waits.clear();
  for (const Wait& wait : p_.waits_of(i)) {
    int64_t threshold = wait.value;
    if (wait.is_dynamic()) {
      const Word word = w.sequencer.registers.read(wait.reg);
      if (!w.sequencer.can_go_on_with(word))
        throw Error(Fault::unmodelled, "a wait's count depends on a value that register_load reads");
      threshold += int64_t{wait.per} * word.value;
    }
    if (threshold > 0 && semaphores_[wait.semaphore] < static_cast<uint64_t>(threshold)) return false;
    w.waits.push_back({wait.semaphore, static_cast<uint32_t>(std::clamp<int64_t>(threshold, 0, UINT32_MAX))});
  }
  return true;
}

const void* Walk::arguments(Waiting& w, const Instruction& i) {
  const void* args = p_.raw_args(i);
  const uint64_t registers = placed_by_[w.sequencer.index()];
  w.args.clear();
  if (!registers) return args;
  const auto* words = static_cast<const uint64_t*>(args);
  w.args.assign(words, words + (row(i).args_bytes + 7) / 8);
  row(i).resolve(w.args.data(), w.sequencer.registers);
  if (w.sequencer.registers.knows(registers))
    if (const Verdict bad = check_operands(p_, i, w.args.data(), spec_))
      throw Error(bad->fault, std::string(kIndexOutOfBounds) + ": with its registers' values, " + bad->rule);
  return w.args.data();
}

bool Walk::meet(uint32_t stream, const Instruction& i) {
  const int core = i.core;
  auto& here = meetings_[{i.card, row(i).tag(p_.raw_args(i))}];
  auto& others = here[static_cast<size_t>(1 - core)];
  if (others.empty()) {
    here[static_cast<size_t>(core)].push_back(stream);
    engines_[stream].in_meeting = true;
    return false;
  }
  const uint32_t other = others.front();
  others.erase(others.begin());
  const auto side = [&](uint32_t s) -> Walker::Side {
    Waiting& w = engines_[s];
    const uint32_t index = w.sequencer.index();
    return {s, index, w.args.empty() ? p_.raw_args(p_.instructions[index]) : w.args.data(), w.waits};
  };
  if (core == 0)
    walker_.meet(side(stream), side(other));
  else
    walker_.meet(side(other), side(stream));
  engines_[other].in_meeting = false;
  complete(other, p_.instructions[engines_[other].sequencer.index()]);
  complete(stream, i);
  return true;
}

void Walk::complete(uint32_t stream, const Instruction& i) {
  if (i.update != Instruction::kNoUpdate) ++semaphores_[i.update];
  engines_[stream].sequencer.advance();
}

void Walk::count_step(const Instruction& i) {
  if (options_.cancelled && options_.cancelled->load(std::memory_order_relaxed))
    throw Error(Fault::undefined, "interrupted before the Program's end");
  if (++steps_ > options_.most_steps)
    throw Error(Fault::undefined, "more than " + std::to_string(options_.most_steps) +
                                      " instructions in one run: a loop on the " + std::string(name(i.engine)) +
                                      " engine does not end");
}

// By an engine that has not come to its end; a loop or branch may lead it back, so all of its stream counts.
bool Walk::may_be_posted(uint16_t semaphore) const {
  return std::any_of(engines_.begin(), engines_.end(), [&](const Waiting& w) {
    const auto& all = w.sequencer.stream().instructions;
    return !w.sequencer.done() &&
           std::any_of(all.begin(), all.end(), [&](uint32_t i) { return p_.instructions[i].update == semaphore; });
  });
}

void Walk::stuck() const {
  std::string text, lacking;
  for (const Waiting& w : engines_) {
    if (w.sequencer.done()) continue;
    const uint32_t index = w.sequencer.index();
    const Instruction& i = p_.instructions[index];
    text += (text.empty() ? "" : "; ") + describe(p_, index) + " on core " + std::to_string(i.core) + " " +
            std::string(name(i.engine)) + " waits for";
    if (w.in_meeting) text += " the other core";
    for (const Wait& wait : p_.waits_of(i)) {
      const int64_t least =
          wait.value + (wait.is_dynamic() ? int64_t{wait.per} * w.sequencer.registers.read(wait.reg).value : 0);
      const uint64_t now = semaphores_[wait.semaphore];
      if (least <= 0 || now >= static_cast<uint64_t>(least)) continue;
      const std::string semaphore = "S[" + std::to_string(wait.semaphore) + "]";
      text += " " + semaphore + ">=" + std::to_string(least) + " (is " + std::to_string(now) + ")";
      if (lacking.empty() && !may_be_posted(wait.semaphore)) lacking = semaphore;
    }
  }
  if (lacking.empty()) throw Error(Fault::undefined, std::string(kDeadlock) + ": no instruction can start", text);
  throw Error(Fault::undefined, std::string(kUnderflow) + ": nothing is left that posts " + lacking, text);
}

}  // namespace trn
