#include <algorithm>
#include <map>
#include <optional>

#include "isa/unroll.h"
#include "isa/walk.h"
#include "sim/hazards.h"

namespace trn {
namespace {

struct Judged {
  size_t instructions = 0;  // 0: the run came to no end
  Findings found;
};

// Is a finding about places that only data knows?
class Guesses {
 public:
  Guesses(const Program& p, const Unrolled& run) : p_(p), run_(run) {}

  bool operator()(const Finding& f) const {
    const bool first = is_placed(f.instruction), second = is_placed(f.other);
    if (!first && !second) return false;
    return f.kind != RuleKind::race || !meet_elsewhere(f.instruction, f.other);
  }

 private:
  bool is_placed(uint32_t i) const { return i != Finding::kNobody && run_.placed_by_data[i]; }
  bool is_known(uint32_t i, int operand) const {
    const AccessList all = accesses(p_, p_.instructions[run_.origin[i]]);
    return !is_placed(i) || !registers_of(*all.access[static_cast<size_t>(operand)]);
  }
  // With operands that data does not place.
  bool meet_elsewhere(uint32_t i, uint32_t k) const {
    const AccessList a = accesses(run_.program, run_.program.instructions[i]);
    const AccessList b = accesses(run_.program, run_.program.instructions[k]);
    for (int x = 0; x < a.count; ++x)
      for (int y = 0; y < b.count; ++y) {
        const Access &u = *a.access[x], &v = *b.access[y];
        if ((!a.written[x] && !b.written[y]) || u.space != v.space || (!u.on_chip() && u.buffer != v.buffer)) continue;
        if (is_known(i, x) && is_known(k, y) && common_bytes(u, v)) return true;
      }
    return false;
  }

  const Program& p_;
  const Unrolled& run_;
};

// Its kind stands before a finding's rule already.
Finding finding_of(const Complaint& c) {
  std::string_view rule = c.rule;
  const std::string kind = std::string(name(c.kind)) + ": ";
  if (rule.starts_with(kind)) rule.remove_prefix(kind.size());
  return {.kind = c.kind, .fault = c.fault, .rule = rule, .notes = {}};
}

bool same(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.instruction == b.instruction && a.other == b.other;
}

// Told of the Program: what is wrong in every round of a loop is wrong once.
Findings folded(Findings all, const Unrolled& run, size_t most) {
  Findings found;
  for (Finding& f : all) {
    f.renumber(run.origin);
    if (found.size() < most && std::none_of(found.begin(), found.end(), [&](const Finding& g) { return same(f, g); }))
      found.push_back(std::move(f));
  }
  return found;
}

// The timing of a run's engines is as free as in a straight line. Nothing where data decides that `loads` does not
// have.
std::optional<Judged> judge(const Program& p, const Spec& s, size_t most, const Loads& loads) {
  try {
    const Unrolled run = unroll_beginning(p, s, loads, kMostCheckedSteps);
    constexpr size_t kRounds = 16;  // that may find the same
    Findings found = find_in_line(run.program, s, kRounds * most);
    std::erase_if(found, Guesses(p, run));
    return Judged{run.origin.size(), folded(std::move(found), run, most)};
  } catch (const Error& e) {
    if (e.fault() == Fault::unmodelled) return {};
    return Judged{0, {finding_of(complaint_of(e))}};
  }
}

// Data decides the way. What is wrong with much data and with little is found with small numbers in its place, in every
// run from some length on; a number that leads out of memory or to waits that are not met is one that the Program is
// not made for. Only if no number but 0 leads to the end, and engines wait in a circle, is that the Program's fault.
Findings find_with_stand_ins(const Program& p, const Spec& s, size_t most) {
  constexpr int32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 64, 128, 256, 384, 512, 1024};
  constexpr size_t kLongRuns = 4;  // runs shorter than so many others may be too short to show it
  std::map<size_t, Findings> by_length;
  Findings circle;
  for (const int32_t number : kNumbers) {
    std::optional<Judged> run = judge(p, s, most, {.of_stream = {}, .stand_in = number});
    if (!run) continue;
    if (run->instructions > 0)
      by_length.emplace(run->instructions, std::move(run->found));
    else if (number > 0 && circle.empty() && run->found[0].kind == RuleKind::deadlock)
      circle = std::move(run->found);
  }
  if (by_length.size() <= 1 && !circle.empty()) return circle;
  if (by_length.empty()) return {};
  auto run = std::next(by_length.begin(), static_cast<std::ptrdiff_t>(std::min(kLongRuns, by_length.size() - 1)));
  Findings found = std::move(run->second);
  while (++run != by_length.end())
    std::erase_if(found, [&](const Finding& f) {
      return std::none_of(run->second.begin(), run->second.end(), [&](const Finding& g) { return same(f, g); });
    });
  return found;
}

}  // namespace

Findings find_in_runs(const Program& p, const Spec& s, size_t most, const Loads* loads) {
  const Verdict bad = check(p, s);
  if (bad && bad->kind == RuleKind::operand) return {finding_of(*bad)};  // perhaps of its loops
  Findings found = find_endless_counts(p, s, most);
  if (bad) found.push_back(finding_of(*bad));
  if (!found.empty()) return found;
  std::optional<Judged> run = judge(p, s, most, loads ? *loads : Loads{});
  if (run) return std::move(run->found);
  return loads ? Findings{} : find_with_stand_ins(p, s, most);
}

}  // namespace trn
