#include "sim/hazards.h"

#include <iterator>

#include "isa/dispatch.h"
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
        const Access &written = *list.access[w], &other = *list.access[r];
        const bool both = list.written[r];  // each pair once
        if (!list.written[w] || written.space != other.space || (both && r <= w)) continue;
        if (!written.on_chip() && written.buffer != other.buffer) continue;
        if ((!both && in_place(written, other)) || !overlaps(written, other)) continue;
        const auto common = common_bytes(written, other);
        if (!common) continue;
        found.push_back(
            {.kind = RuleKind::overlap,
             .fault = Fault::undefined,
             .rule =
                 who(i) + (both ? " has two results that share bytes" : " writes over an operand that it still reads"),
             .instruction = i,
             .notes = {describe(written, *common, p), "operands " + to_string(written) + " and " + to_string(other),
                       "missing: a target of its own, or exactly the operand's place"}});
      }
  }
  return found;
}

Findings find_in_line(const Program& p, const Spec& s, size_t most) {
  const Streams streams(p);
  Findings found = find_stuck_waits(p, streams, s, most);
  if (!found.empty()) return found;
  Order order(p, streams);
  append(found, find_races(p, order, s, most));
  append(found, find_uninitialised_reads(p, most));
  append(found, find_psum_misuse(p, s, most));
  append(found, find_overlapping_operands(p, most));
  append(found, find_full_queues(p, order, s, most));
  append(found, find_reserved_memory(p, s, most));
  append(found, find_bank_conflicts(p, order, s, most));
  if (found.size() > most) found.resize(most);
  return found;
}

Findings find_hazards_of_legal(const Program& p, const Spec& s, size_t most, const Loads* loads) {
  return has_control(p) ? find_in_runs(p, s, most, loads) : find_in_line(p, s, most);
}

Findings find_hazards(const Program& p, const Spec& s, size_t most, const Loads* loads) {
  Findings found = find_broken_rules(p, s, most);
  if (!can_be_read(found)) return found;
  if (found.empty()) return find_hazards_of_legal(p, s, most, loads);
  // Operands may lie anywhere: only waits can be looked at.
  if (!has_control(p)) append(found, find_stuck_waits(p, Streams(p), s, most));
  return found;
}

}  // namespace trn
