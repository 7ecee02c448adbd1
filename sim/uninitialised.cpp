#include "memory/written.h"
#include "sim/hazards.h"

#include "isa/dispatch.h"

namespace trn {
namespace {

// Bytes that a Program finds on a core are another Program's, or poison; so are those of its scratch and, before it
// writes them, of its outputs. What an index chooses is believed to be written.
class Uninitialised {
 public:
  Uninitialised(const Program& p, size_t most) : p_(p), most_(most), chip_(p.cores * 2u), slots_(p.slots.size()) {
    watched_.resize(p.slots.size());
    for (const Instruction& i : p.instructions) {
      if (!row(i).is_dma) continue;
      const AccessList list = accesses(p, i);
      for (int k = 0; k < list.count; ++k) {
        const Access& a = *list.access[k];
        if (a.space != Space::hbm || list.written[k]) continue;
        const SlotUse use = p.slots[a.buffer].use;
        watched_[a.buffer] = use == SlotUse::scratch || use == SlotUse::output;
      }
    }
  }

  Findings find() {
    for (uint32_t i = 0; i < p_.instructions.size() && found_.size() < most_; ++i) {
      const Instruction& in = p_.instructions[i];
      const bool indirect = row(in).indirect(p_.raw_args(in));
      const AccessList list = accesses(p_, in);
      for (int k = 0; k < list.count; ++k)
        if (!list.written[k]) read(i, *list.access[k], indirect);
      for (int k = 0; k < list.count; ++k)
        if (list.written[k]) write(in, *list.access[k]);
    }
    return std::move(found_);
  }

 private:
  WrittenBytes* memory_of(const Access& a, uint8_t core) {
    if (a.on_chip()) return &chip_[core * 2u + (a.space == Space::psum)];
    return watched_[a.buffer] ? &slots_[a.buffer] : nullptr;
  }

  void write(const Instruction& in, const Access& a) {
    if (WrittenBytes* m = memory_of(a, in.core)) m->add(a);
  }

  void read(uint32_t i, const Access& a, bool indirect) {
    if (indirect && !a.on_chip()) return;
    WrittenBytes* m = memory_of(a, p_.instructions[i].core);
    if (!m) return;
    const auto missing = m->missing(a);
    if (!missing) return;
    found_.push_back({.kind = RuleKind::uninitialised,
                      .fault = Fault::undefined,
                      .rule = who(p_, i) + " reads what nothing in this Program has written before",
                      .instruction = i,
                      .notes = {describe(a, *missing, p_), "operand " + to_string(a),
                                "missing: a write of these bytes before #" + std::to_string(i)}});
    m->add(a);  // once is enough
  }

  const Program& p_;
  size_t most_;
  std::vector<WrittenBytes> chip_, slots_;  // by (core, space); by slot
  std::vector<bool> watched_;
  Findings found_;
};

}  // namespace

Findings find_uninitialised_reads(const Program& p, size_t most) { return Uninitialised(p, most).find(); }

}  // namespace trn
