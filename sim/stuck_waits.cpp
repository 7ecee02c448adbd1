#include <algorithm>

#include "sim/hazards.h"
#include "sim/order.h"

namespace trn {
namespace {

std::string text(const Wait& w) { return "s" + std::to_string(w.semaphore) + ">=" + std::to_string(w.value); }

std::string posts_of(const Streams& streams, uint16_t semaphore) {
  const size_t n = streams.posts(semaphore).size();
  return n == 0 ? "nothing posts s" + std::to_string(semaphore)
                : "only " + std::to_string(n) + (n == 1 ? " instruction posts s" : " instructions post s") +
                      std::to_string(semaphore);
}

Findings find_unmeetable(const Program& p, const Streams& streams, size_t most) {
  Findings found;
  for (uint32_t i = 0; i < p.instructions.size() && found.size() < most; ++i)
    for (const Wait& w : p.waits_of(p.instructions[i]))
      if (w.value > streams.posts(w.semaphore).size())
        found.push_back(
            {.kind = RuleKind::semaphore_underflow,
             .fault = Fault::undefined,
             .rule = who(i) + " waits for " + text(w) + ", but " + posts_of(streams, w.semaphore),
             .instruction = i,
             .notes = {"missing: " + std::to_string(w.value - streams.posts(w.semaphore).size()) + " posts of s" +
                       std::to_string(w.semaphore) + " that do not wait for " + mention(i)}});
  return found;
}

Findings find_overflows(const Streams& streams, const Spec& s, size_t most) {
  Findings found;
  const auto largest = static_cast<size_t>(s.semaphore_max);
  for (uint16_t semaphore = 0; semaphore < streams.semaphores() && found.size() < most; ++semaphore) {
    const auto posts = streams.posts(semaphore);
    if (posts.size() <= largest) continue;
    found.push_back(
        {.kind = RuleKind::semaphore_overflow,
         .fault = Fault::undefined,
         .rule = who(posts[largest]) + " raises s" + std::to_string(semaphore) + " past its largest value " +
                 std::to_string(largest),
         .instruction = posts[largest],
         .notes = {"s" + std::to_string(semaphore) + " is posted " + std::to_string(posts.size()) + " times",
                   "missing: a second semaphore for the later ones"}});
  }
  return found;
}

// Who waits for whom, from the first engine that is stuck to where it closes.
class Deadlock {
 public:
  Deadlock(const Program& p, const Streams& streams, const EagerRun& run) : p_(p), streams_(streams), run_(run) {}

  Findings find() const {
    for (int start = 0; start < streams_.issuers(); ++start) {
      std::vector<int> path;
      int at = start;
      while (at >= 0 && std::find(path.begin(), path.end(), at) == path.end()) {
        path.push_back(at);
        at = next(at);
      }
      if (at >= 0) return {cycle({std::find(path.begin(), path.end(), at), path.end()})};
    }
    return {};
  }

 private:
  const Wait* unmet(int issuer) const {
    const uint32_t i = run_.stuck(issuer);
    if (i == EagerRun::kNobody) return nullptr;
    for (const Wait& w : p_.waits_of(p_.instructions[i]))
      if (run_.value(w.semaphore) < w.value) return &w;
    return nullptr;
  }
  // The instruction that would post next what `w` lacks.
  uint32_t poster(const Wait& w) const {
    for (const uint32_t i : streams_.posts(w.semaphore))
      if (!run_.started(i)) return i;
    return EagerRun::kNobody;
  }
  int next(int issuer) const {
    const Wait* w = unmet(issuer);
    if (!w) return -1;
    const uint32_t i = poster(*w);
    return i == EagerRun::kNobody ? -1 : streams_.of(i).issuer;
  }

  Finding cycle(const std::vector<int>& path) const {
    Finding f{.kind = RuleKind::deadlock, .fault = Fault::undefined, .rule = {}, .notes = {}};
    f.instruction = run_.stuck(path.front());
    f.rule = path.size() == 1 ? who(f.instruction) + " waits for what only comes after it"
                              : Sentence(std::to_string(path.size()) + " engines wait for each other in a circle");
    for (const int issuer : path) {
      const Wait& w = *unmet(issuer);
      const uint32_t stuck = run_.stuck(issuer), post = poster(w), before = run_.stuck(streams_.of(post).issuer);
      Sentence line = who(stuck) + " waits for " + text(w) + ", which is " + std::to_string(run_.value(w.semaphore)) +
                      " until " + who(post) + " posts";
      if (post != before) line = std::move(line) + "; that stands behind " + who(before);
      f.notes.push_back(std::move(line));
    }
    return f;
  }

  const Program& p_;
  const Streams& streams_;
  const EagerRun& run_;
};

// The first wait that is not met when the instructions run in the Program's own sequence.
Findings find_wrong_order(const Program& p, const Streams& streams) {
  std::vector<uint32_t> values(streams.semaphores());
  for (uint32_t i = 0; i < p.instructions.size(); ++i) {
    const Instruction& in = p.instructions[i];
    for (const Wait& w : p.waits_of(in))
      if (w.value > (w.semaphore < values.size() ? values[w.semaphore] : 0))
        return {{.kind = RuleKind::order,
                 .fault = Fault::illegal,
                 .rule = who(i) + " waits for " + text(w) + ", but earlier instructions bring it to " +
                         std::to_string(w.semaphore < values.size() ? values[w.semaphore] : 0),
                 .instruction = i,
                 .notes = {"a Program's sequence is one in which it can run from front to back"}}};
    if (in.update != Instruction::kNoUpdate) ++values[in.update];
  }
  return {};
}

}  // namespace

Findings find_stuck_waits(const Program& p, const Streams& streams, const Spec& s, size_t most) {
  Findings found = find_unmeetable(p, streams, most);
  const auto append = [&](Findings more) {
    found.insert(found.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  append(find_overflows(streams, s, most));
  if (Findings wrong = find_wrong_order(p, streams); !wrong.empty()) {
    const EagerRun run(p, streams);
    append(Deadlock(p, streams, run).find());
    if (found.empty()) append(std::move(wrong));
  }
  return found;
}

}  // namespace trn
