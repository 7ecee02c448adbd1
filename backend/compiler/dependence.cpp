#include "backend/compiler/dependence.h"

#include <algorithm>

#include "backend/compiler/issue_model.h"
#include "isa/isa.h"

namespace trn::compiler {
namespace {

// Which cards' accumulator registers an instruction uses: their order on one engine is part of the result.
template <class C>
bool uses_registers(const void* args) {
  bool uses = false;
  for_each_field<C>(*static_cast<const typename C::Args*>(args),
                    [&](std::string_view, const auto& value, std::string_view) {
                      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, ReduceCmd>)
                        uses = value != ReduceCmd::idle;
                    });
  return uses;
}

template <class... C>
constexpr auto register_table(std::tuple<C...>*) {
  return std::array{&uses_registers<C>...};
}
constexpr auto kUsesRegisters = register_table(static_cast<Isa*>(nullptr));

}  // namespace

Dependences::Dependences(const TileProgram& p, const Spec& s)
    : p_(p), placed_(p.allocated), registers_(2 * kEngines, kNone) {
  if (placed_) {
    for (int core = 0; core < p.program.cores; ++core) {
      tiles_.push_back(used_.add(static_cast<int64_t>(s.sbuf_partition_bytes)));
      tiles_.push_back(used_.add(static_cast<int64_t>(s.psum_partition_bytes)));
    }
  } else {
    tiles_.reserve(p.tiles.size());
    for (const VirtualTile& t : p.tiles) tiles_.push_back(used_.add(t.bytes));
  }
  // Only slots that the Program writes can have hazards.
  std::vector<int64_t> writes(p.program.slots.size()), reach(writes.size());
  for (const Instruction& i : p.program.instructions) {
    if (!row(i).is_dma) continue;
    const AccessList list = accesses(p.program, i);
    for (int k = 0; k < list.count; ++k)
      if (const Access& a = *list.access[k]; a.space == Space::hbm && list.written[k]) {
        const ByteRange r = byte_range(a);
        ++writes[a.buffer];
        reach[a.buffer] += r.end - r.begin;
      }
  }
  slots_.resize(p.program.slots.size());
  for (size_t slot = 0; slot < writes.size(); ++slot)
    if (writes[slot] > 0) slots_[slot] = used_.add_spread(p.program.slots[slot].bytes, writes[slot], reach[slot]);
  used_.reserve(p.program.instructions.size());
}

const Footprints::Memory& Dependences::memory_of(const Access& a, uint8_t core) const {
  if (a.space == Space::hbm) return slots_[a.buffer];
  return tiles_[placed_ ? core * 2 + (a.space == Space::psum) : a.buffer];
}

const std::vector<Dependences::Edge>& Dependences::next() {
  edges_.clear();
  const Instruction& i = p_.program.instructions[at_];
  const AccessList list = accesses(p_.program, i);
  const Access* table = row(i).indexed(p_.program.raw_args(i));
  for (bool written : {false, true})
    for (int k = 0; k < list.count; ++k)
      if (list.written[k] == written)
        touch(*list.access[k], written, i, list.access[k] == table && table->space == Space::hbm);
  if (kUsesRegisters[i.card](p_.program.raw_args(i))) {
    uint32_t& last = registers_[i.core * kEngines + static_cast<int>(i.engine)];
    if (last != kNone) edges_.push_back({last, Hazard::engine_order});
    last = at_;
  }
  ++at_;
  return edges_;
}

// `anywhere`: which rows an indirect DMA reaches only the index's values know.
void Dependences::touch(const Access& a, bool written, const Instruction& i, bool anywhere) {
  if (anywhere && !written) return read_anywhere(a, i);
  if (written && a.space == Space::hbm)
    for (auto r = indexed_.lower_bound({a.buffer, 0}); r != indexed_.end() && r->first.first == a.buffer; ++r) {
      if (r->second.last != at_) edges_.push_back({r->second.last, Hazard::write_after_read});
      r->second.stale = true;
    }
  used_.touch(memory_of(a, i.core), a, written, at_, anywhere, [&](uint32_t earlier, bool was_written) {
    if (earlier == at_) return;
    const Hazard hazard = !was_written ? Hazard::write_after_read
                          : written    ? Hazard::write_after_write
                                       : Hazard::read_after_write;
    edges_.push_back({earlier, hazard});
  });
}

void Dependences::read_anywhere(const Access& a, const Instruction& i) {
  const Footprints::Memory& m = memory_of(a, i.core);
  if (!m.watched()) return;
  IndexedRead& read = indexed_[{a.buffer, engine_stream(i)}];
  if (read.stale)
    used_.for_each_write(m, [&](uint32_t writer) { edges_.push_back({writer, Hazard::read_after_write}); });
  else
    edges_.push_back({read.last, Hazard::engine_order});
  read = {at_, false};
}

}  // namespace trn::compiler
