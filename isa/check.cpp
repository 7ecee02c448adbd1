#include <cmath>

#include "isa/dispatch.h"
#include "isa/rules.h"
#include "isa/walk.h"

namespace trn {

namespace {

using rules::breaks;

Verdict check_slot(const Program& p, const Slot& s) {
  if (s.bytes < 0) return breaks(RuleKind::structure, "slot ", s.name, " has a negative size");
  if (s.use != SlotUse::constant) return {};
  const auto have = static_cast<int64_t>(p.constants.size());
  if (s.constant_offset < 0 || s.constant_offset > have || s.bytes > have - s.constant_offset)
    return breaks(RuleKind::structure, "constant slot ", s.name, " lies outside the Program's ", have,
                  " bytes of constants");
  return {};
}

// Indices and enums of an instruction, so that its arguments may be looked at.
Verdict check_frame(const Program& p, const Instruction& i, const Spec& s) {
  const CardRow& r = row(i);
  if (static_cast<int>(i.engine) >= kEngines)
    return breaks(RuleKind::structure, "there is no engine number ", static_cast<int>(i.engine));
  if (!r.engines.has(i.engine))
    return breaks(RuleKind::engine, r.name, " does not run on the ", name(i.engine), " engine");
  if (i.core >= p.cores) return breaks(RuleKind::structure, "core ", int{i.core}, " of a Program for ", int{p.cores});
  if (r.is_dma && i.queue >= s.dma_queues)
    return breaks(RuleKind::queue_overflow, "there is no DMA queue ", int{i.queue});
  const size_t words = (r.args_bytes + 7) / 8;
  if (i.args > p.words.size() || words > p.words.size() - i.args)
    return breaks(RuleKind::structure, "arguments lie outside the Program's words");
  if (i.first_wait > p.waits.size() || i.waits > p.waits.size() - i.first_wait)
    return breaks(RuleKind::structure, "waits lie outside the Program's waits");
  for (const Wait& w : p.waits_of(i)) {
    if (w.semaphore >= s.semaphores)
      return breaks(RuleKind::semaphore_overflow, "semaphore ", w.semaphore, " of ", static_cast<int>(s.semaphores));
    if (w.is_dynamic() ? w.reg >= kRegisters : w.per != 0)
      return breaks(RuleKind::structure, "a wait names a register that does not exist");
  }
  if (r.flow == Flow::meeting && p.cores < 2)
    return breaks(RuleKind::structure, r.name, " needs two physical cores (LNC 2), the Program is for ", int{p.cores});
  if (i.source >= p.sources.size())
    return breaks(RuleKind::structure, "source ", i.source, " is not in the Program's table");
  if (i.update != Instruction::kNoUpdate && i.update >= s.semaphores)
    return breaks(RuleKind::semaphore_overflow, "semaphore ", i.update, " of ", static_cast<int>(s.semaphores));
  if (const auto field = r.damaged(p.raw_args(i)); !field.empty())
    return breaks(RuleKind::structure, "field ", field, " has a value that does not exist");
  return {};
}

// Pattern in range of double's exact integers, so that byte_range cannot overflow.
bool is_sane(const Access& a) {
  double reach = std::abs(static_cast<double>(a.offset));
  for (int i = 0; i < a.ndim; ++i) {
    if (a.dims[i].count < 1) return false;
    reach += std::abs(static_cast<double>(a.dims[i].step)) * a.dims[i].count * size_of(a.dtype);
  }
  return reach < 0x1p52;
}

// Moved behind the start of its memory, for what a register will move back to there.
void move_inside(Access& a) {
  constexpr int64_t kStep = 64;
  if (const ByteRange r = byte_range(a); r.begin < 0) a.offset += (-r.begin + kStep - 1) / kStep * kStep;
}

// The arguments as if every register held 0.
std::vector<uint64_t> nominal(const Program& p, const Instruction& i) {
  const auto* words = static_cast<const uint64_t*>(p.raw_args(i));
  std::vector<uint64_t> args(words, words + (row(i).args_bytes + 7) / 8);
  AccessList before, after;
  row(i).accesses(p.raw_args(i), before);
  row(i).resolve(args.data(), RegisterFile::zeros());
  row(i).accesses(args.data(), after);
  for (int k = 0; k < after.count; ++k) {
    Access& a = *const_cast<Access*>(after.access[k]);  // ours: `args`
    if (registers_of(*before.access[k]) && is_sane(a)) move_inside(a);
  }
  return args;
}

Verdict check_bounds(const Program& p, const Access& a, bool written, const Spec& s) {
  if (!is_sane(a))
    return breaks(RuleKind::bounds, "pattern ", to_string(a), " has an empty dim or does not fit any memory");
  const ByteRange r = byte_range(a);
  if (!a.on_chip()) {
    if (a.buffer >= p.slots.size())
      return breaks(RuleKind::bounds, "slot ", a.buffer, " of ", static_cast<int64_t>(p.slots.size()));
    const Slot& slot = p.slots[a.buffer];
    if (r.begin < 0 || r.end > slot.bytes)
      return breaks(RuleKind::bounds, "bytes [", r.begin, ",", r.end, ") of slot ", slot.name, ", which has ",
                    slot.bytes);
    if (written && (slot.use == SlotUse::input || slot.use == SlotUse::constant))
      return breaks(RuleKind::bounds, "slot ", slot.name, " is an ", name(slot.use), " and cannot be written");
    return {};
  }
  if (a.ndim > 0) {
    const int64_t last = a.partition + int64_t{a.dims[0].step} * (a.dims[0].count - 1);
    if (a.dims[0].step < 0 || last >= s.partitions || a.partition >= s.partitions)
      return breaks(RuleKind::bounds, "partitions ", int{a.partition}, " to ", last, " of ",
                    static_cast<int>(s.partitions));
  }
  const auto bytes = static_cast<int64_t>(a.space == Space::sbuf ? s.sbuf_partition_bytes : s.psum_partition_bytes);
  if (r.begin < 0 || r.end > bytes)
    return breaks(r.begin < 0 ? RuleKind::bounds : RuleKind::capacity, "bytes [", r.begin, ",", r.end, ") of a ",
                  space_name(a.space), " partition, which has ", bytes);
  return {};
}

// Semaphores as the Program's own order would leave them: every wait must be met by then.
class Semaphores {
 public:
  explicit Semaphores(const Spec& s)
      : values_(static_cast<size_t>(s.semaphores)), most_(static_cast<uint64_t>(s.semaphore_max)) {}

  Verdict step(const Program& p, const Instruction& i) {
    for (const Wait& w : p.waits_of(i)) {
      if (w.is_dynamic())
        return breaks(RuleKind::order, "a wait's count depends on a register that no instruction sets");
      if (w.value > values_[w.semaphore])
        return breaks(RuleKind::order, "waits for semaphore ", w.semaphore, " >= ", w.value,
                      ", but earlier instructions bring it to ", values_[w.semaphore]);
    }
    if (i.update != Instruction::kNoUpdate && ++values_[i.update] > most_)
      return breaks(RuleKind::semaphore_overflow, "semaphore ", i.update, " passes its largest value ", most_);
    return {};
  }

 private:
  std::vector<uint64_t> values_;
  uint64_t most_;
};

// Without its waits. In a Program without control flow nothing sets a register.
Verdict check_alone(const Program& p, const Instruction& i, const Spec& s, bool control) {
  if (auto bad = check_frame(p, i, s)) return bad;
  if (!row(i).registers(p.raw_args(i))) return check_operands(p, i, p.raw_args(i), s);
  if (!control) return breaks(RuleKind::structure, "an operand's place depends on a register that no instruction sets");
  return check_operands(p, i, nominal(p, i).data(), s);
}

// Goes through the control flow without data, as far as that leads.
Verdict dry_run(const Program& p, const Spec& s) {
  struct Nobody : Walker {
    void issue(uint32_t, uint32_t, const void*, std::span<const Wait>) override {}
    void meet(const Side&, const Side&) override {}
  } nobody;
  Loads none;
  Walk walk(p, s, nobody, none, {.most_steps = kMostCheckedSteps});
  try {
    walk.run();
  } catch (const Error& e) {
    if (e.fault() == Fault::unmodelled || walk.steps() > kMostCheckedSteps) return {};
    return complaint_of(e);
  }
  return {};
}

}  // namespace

std::string describe(const Program& p, size_t index) {
  const Instruction& i = p.instructions[index];
  std::string text = "instruction " + std::to_string(index);
  if (i.card < isa().size()) text += " (" + std::string(row(i).name) + ")";
  if (i.source < p.sources.size() && !p.sources[i.source].empty()) text += " from " + p.sources[i.source];
  return text;
}

Verdict check_operands(const Program& p, const Instruction& i, const void* args, const Spec& s) {
  AccessList operands;
  row(i).accesses(args, operands);
  for (int k = 0; k < operands.count; ++k)
    if (auto bad = check_bounds(p, *operands.access[k], operands.written[k], s)) return bad;
  return row(i).check(args, i.engine, s);
}

Verdict check_slots(const Program& p) {
  if (p.cores < 1 || p.cores > 2)
    return breaks(RuleKind::structure, "a Program runs on 1 or 2 physical cores, not ", int{p.cores});
  for (const Slot& slot : p.slots)
    if (auto bad = check_slot(p, slot)) return bad;
  return {};
}

Verdict check_instruction(const Program& p, size_t index, const Spec& s, bool control) {
  const Instruction& i = p.instructions[index];
  if (i.card >= isa().size()) return breaks(RuleKind::structure, "there is no card number ", i.card);
  return check_alone(p, i, s, control);
}

Verdict check(const Program& p, const Spec& s) {
  if (auto bad = check_slots(p)) return bad;
  for (size_t i = 0; i < p.instructions.size(); ++i)
    if (p.instructions[i].card >= isa().size())
      return breaks(RuleKind::structure, "there is no card number ", p.instructions[i].card, "; ", describe(p, i));
  const bool control = has_control(p);
  Semaphores semaphores(s);
  for (size_t i = 0; i < p.instructions.size(); ++i) {
    auto bad = check_instruction(p, i, s, control);
    if (!bad && !control) bad = semaphores.step(p, p.instructions[i]);  // else the walk finds the rest
    if (!bad) continue;
    bad->rule += "; " + describe(p, i);
    return bad;
  }
  if (!control) return {};
  try {
    streams(p);
  } catch (const Error& e) {
    return Complaint{e.fault(), e.rule() + "; " + e.context()};
  }
  return dry_run(p, s);
}

}  // namespace trn
