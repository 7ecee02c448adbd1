#include <array>

#include "isa/isa.h"
#include "memory/written.h"
#include "sim/hazards.h"

namespace trn {
namespace {

// What an instruction does with the sums that its engine keeps.
template <class C>
ReduceCmd reduce_cmd_of(const void* raw) {
  if constexpr (requires(typename C::Args a) { a.reduce_cmd; })
    return static_cast<const typename C::Args*>(raw)->reduce_cmd;
  return ReduceCmd::idle;
}
template <class... C>
constexpr auto reduce_cmds(std::type_identity<std::tuple<C...>>) {
  return std::array{&reduce_cmd_of<C>...};
}
constexpr auto kReduceCmds = reduce_cmds(std::type_identity<Isa>{});

// Bytes that a Program finds on a core are another Program's, or poison; so are the sums that its engines keep, those
// of its scratch and, before it writes them, of its outputs. What an index chooses is believed to be written once
// anything of its table is.
class Uninitialised {
 public:
  Uninitialised(const Program& p, size_t most) : p_(p), most_(most), slots_(p.slots.size()) {
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
      const Access* table = row(in).indexed(p_.raw_args(in));
      sums(i);
      const AccessList list = accesses(p_, in);
      for (int k = 0; k < list.count; ++k)
        if (!list.written[k]) read(i, *list.access[k], list.access[k] == table);
      if (table && in.card == card_index<DmaCompute>) {  // added to
        const Access& dst = static_cast<const DmaCompute::Args*>(p_.raw_args(in))->dst;
        read(i, dst, &dst == table);
      }
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

  void sums(uint32_t i) {
    const Instruction& in = p_.instructions[i];
    const ReduceCmd cmd = kReduceCmds[in.card](p_.raw_args(in));
    if (cmd == ReduceCmd::idle) return;
    bool& known = sums_[in.core * size_t{kEngines} + static_cast<size_t>(in.engine)];
    if (!known && cmd == ReduceCmd::reduce)
      found_.push_back({.kind = RuleKind::uninitialised,
                        .fault = Fault::undefined,
                        .rule = who(i) + " adds to sums that its engine has kept from before this Program",
                        .instruction = i,
                        .notes = {"missing: reduce_cmd=reset_reduce, or a reset before " + mention(i)}});
    known = true;
  }

  void write(const Instruction& in, const Access& a) {
    if (WrittenBytes* m = memory_of(a, in.core)) m->add(a);
  }

  // `indexed`: of a table in HBM some rows are read, nobody knows which.
  void read(uint32_t i, const Access& a, bool indexed) {
    WrittenBytes* m = memory_of(a, p_.instructions[i].core);
    if (!m || (indexed && !a.on_chip() && !m->empty())) return;
    const auto missing = m->missing(a);
    if (!missing) return;
    found_.push_back({.kind = RuleKind::uninitialised,
                      .fault = Fault::undefined,
                      .rule = who(i) + " reads what nothing in this Program has written before",
                      .instruction = i,
                      .notes = {describe(a, *missing, p_), "operand " + to_string(a),
                                "missing: a write of these bytes before " + mention(i)}});
    m->add(a);  // once is enough
  }

  const Program& p_;
  size_t most_;
  std::array<WrittenBytes, 4> chip_;  // by (core, space)
  std::vector<WrittenBytes> slots_;
  std::vector<bool> watched_;
  std::array<bool, 2 * kEngines> sums_{};  // of an engine, that this Program has set
  Findings found_;
};

}  // namespace

Findings find_uninitialised_reads(const Program& p, size_t most) { return Uninitialised(p, most).find(); }

}  // namespace trn
