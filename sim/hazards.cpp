#include "sim/hazards.h"

#include <iterator>

#include "isa/dispatch.h"
#include "isa/unroll.h"
#include "sim/order.h"

namespace trn {
namespace {

void append(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool can_be_read(const Findings& broken) {
  for (const Finding& f : broken)
    if (f.kind == RuleKind::structure) return false;
  return true;
}

// A target that overlaps an operand is fine where each element takes its own place.
bool in_place(const Access& written, const Access& read) {
  if (size_of(written.dtype) != size_of(read.dtype) || written.offset != read.offset ||
      written.partition != read.partition)
    return false;
  const Access w = simplified(written), r = simplified(read);
  return w.ndim == r.ndim && w.dims == r.dims;
}

}  // namespace

Findings find_broken_rules(const Program& p, const Spec& s, size_t most) {
  Findings found;
  if (const Verdict bad = check_slots(p))
    return {{.kind = bad->kind, .fault = bad->fault, .rule = bad->rule, .notes = {}}};
  const bool control = has_control(p);
  for (uint32_t i = 0; i < p.instructions.size() && found.size() < most; ++i)
    if (Verdict bad = check_instruction(p, i, s, control))
      found.push_back(
          {.kind = bad->kind, .fault = bad->fault, .rule = std::move(bad->rule), .instruction = i, .notes = {}});
  return found;
}

Findings find_overlapping_operands(const Program& p, size_t most) {
  Findings found;
  for (uint32_t i = 0; i < p.instructions.size() && found.size() < most; ++i) {
    const AccessList list = accesses(p, p.instructions[i]);
    for (int w = 0; w < list.count; ++w)
      for (int r = 0; r < list.count; ++r) {
        const Access &written = *list.access[w], &read = *list.access[r];
        if (!list.written[w] || list.written[r] || written.space != read.space) continue;
        if (!written.on_chip() && written.buffer != read.buffer) continue;
        if (in_place(written, read) || !overlaps(written, read)) continue;
        const auto common = common_bytes(written, read);
        if (!common) continue;
        found.push_back(
            {.kind = RuleKind::overlap,
             .fault = Fault::undefined,
             .rule = who(p, i) + " writes over an operand that it still reads",
             .instruction = i,
             .notes = {describe(written, *common, p), "operands " + to_string(written) + " and " + to_string(read),
                       "missing: a target of its own, or exactly the operand's place"}});
      }
  }
  return found;
}

namespace {

// Of a straight line whose instructions keep their rules. Its order must be one that can be met for the rest to be
// asked.
Findings find_in_line(const Program& p, const Spec& s, size_t most) {
  const Streams streams(p);
  Findings found = find_stuck_waits(p, streams, s, most);
  if (!found.empty()) return found;
  append(found, find_races(p, streams, s, most));
  append(found, find_uninitialised_reads(p, most));
  append(found, find_psum_misuse(p, s, most));
  append(found, find_overlapping_operands(p, most));
  append(found, find_full_queues(p, streams, s, most));
  append(found, find_reserved_memory(p, s, most));
  append(found, find_bank_conflicts(p, streams, s, most));
  if (found.size() > most) found.resize(most);
  return found;
}

// "#12" of a run becomes the number of the instruction that was issued there.
void renumber(std::string& text, const std::vector<uint32_t>& origin) {
  for (size_t at = 0; (at = text.find('#', at)) != std::string::npos; ++at) {
    size_t end = at + 1, number = 0;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') number = number * 10 + (text[end++] - '0');
    if (end > at + 1 && number < origin.size()) text.replace(at + 1, end - at - 1, std::to_string(origin[number]));
  }
}

// With control flow: those of the one run that needs no data, up to kMostCheckedSteps instructions. The timing of its
// engines is as free as in a straight line. A run that depends on data is judged while it is executed.
Findings find_in_run(const Program& p, const Spec& s, size_t most) {
  if (const Verdict bad = check(p, s))
    return {{.kind = bad->kind, .fault = bad->fault, .rule = bad->rule, .notes = {}}};
  try {
    const Unrolled run = unroll(p, s, {}, kMostCheckedSteps);
    Findings found = find_in_line(run.program, s, most);
    for (Finding& f : found) {
      renumber(f.rule, run.origin);
      for (std::string& note : f.notes) renumber(note, run.origin);
      for (uint32_t* i : {&f.instruction, &f.other})
        if (*i != Finding::kNobody) *i = run.origin[*i];
    }
    return found;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

Findings find_hazards(const Program& p, const Spec& s, size_t most) {
  Findings found = find_broken_rules(p, s, most);
  if (!can_be_read(found)) return found;
  const bool control = has_control(p);
  if (found.empty()) return control ? find_in_run(p, s, most) : find_in_line(p, s, most);
  // Operands may lie anywhere: only waits can be looked at.
  if (!control) append(found, find_stuck_waits(p, Streams(p), s, most));
  return found;
}

}  // namespace trn
