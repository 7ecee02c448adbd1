#include <cmath>
#include <map>

#include "isa/isa.h"
#include "isa/streams.h"
#include "sim/hazards.h"

namespace trn {
namespace {

// How often a loop's body runs; 0 where a register decides.
double rounds(const Loop::Args& a) {
  if (a.start.is_register() || a.stop.is_register() || a.stop.immediate <= a.start.immediate) return 0;
  const double reach = static_cast<double>(a.stop.immediate) - a.start.immediate;
  return std::ceil(reach / a.step);
}

struct Count {
  double posts = 0;
  uint32_t last = Finding::kNobody;  // one that posts
};

// Posts that certainly happen: behind a branch, and where a register bounds a loop, nothing is certain.
void count_posts(const Program& p, const Stream& stream, std::map<uint16_t, Count>& counts) {
  std::vector<double> times{1};
  for (const uint32_t i : stream.instructions) {
    const Instruction& in = p.instructions[i];
    switch (row(in).flow) {
      case Flow::branch: return;
      case Flow::loop: times.push_back(times.back() * rounds(p.args<Loop>(in))); break;
      case Flow::end_loop: times.pop_back(); break;
      default: break;
    }
    if (in.update == Instruction::kNoUpdate || times.back() == 0) continue;
    Count& c = counts[in.update];
    c.posts += times.back();
    c.last = i;
  }
}

}  // namespace

Findings find_endless_counts(const Program& p, const Spec& s, size_t most) {
  std::map<uint16_t, Count> counts;
  for (const Stream& stream : streams(p)) count_posts(p, stream, counts);
  Findings found;
  for (const auto& [semaphore, c] : counts) {
    if (c.posts <= s.semaphore_max || found.size() == most) continue;
    const std::string name = "s" + std::to_string(semaphore);
    found.push_back({.kind = RuleKind::semaphore_overflow,
                     .fault = Fault::undefined,
                     .rule = who(c.last) + " raises " + name + " past its largest value " +
                             std::to_string(static_cast<int64_t>(s.semaphore_max)),
                     .instruction = c.last,
                     .notes = {name + " is posted " + std::to_string(static_cast<int64_t>(c.posts)) + " times",
                               "missing: a second semaphore for the later ones"}});
  }
  return found;
}

}  // namespace trn
