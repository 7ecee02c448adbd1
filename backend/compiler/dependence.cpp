#include "backend/compiler/dependence.h"

#include <algorithm>

#include "isa/isa.h"

namespace trn::compiler {
namespace {

constexpr int64_t kGrain = 2048;  // on-chip bucket: one PSUM bank, one row of 512 fp32
constexpr int64_t kRow = 1024;    // a step of so many bytes on chip: what it repeats is entered row by row
constexpr int64_t kMostRows = 64;
constexpr int64_t kWritesPerBucket = 4;  // of an HBM slot, on average

// Byte steps of an operand's dims that move, with its offset.
struct Walk {
  std::array<int64_t, Access::kMaxDims> step;
  std::array<int64_t, Access::kMaxDims> count;
  int dims = 0;
  int64_t offset;
  int64_t element;

  explicit Walk(const Access& a) : offset(a.offset), element(size_of(a.dtype)) {
    for (int i = a.on_chip() ? 1 : 0; i < a.ndim; ++i) {
      if (a.dims[i].count <= 1 || a.dims[i].step == 0) continue;
      step[dims] = a.dims[i].step * element;
      count[dims++] = a.dims[i].count;
    }
  }
  void range(int64_t& begin, int64_t& end) const {
    begin = offset;
    end = offset + element;
    for (int i = 0; i < dims; ++i) (step[i] < 0 ? begin : end) += step[i] * (count[i] - 1);
  }
  // Takes out the dims that move by whole rows of `pitch` bytes. False if what remains does not stay inside one row.
  bool take_rows(int64_t pitch, int64_t& first, int64_t& last) {
    first = last = 0;
    int kept = 0;
    for (int i = 0; i < dims; ++i) {
      if (step[i] % pitch == 0) {
        (step[i] < 0 ? first : last) += step[i] / pitch * (count[i] - 1);
        continue;
      }
      step[kept] = step[i];
      count[kept++] = count[i];
    }
    dims = kept;
    int64_t begin, end;
    range(begin, end);
    const int64_t row = begin >= 0 ? begin / pitch : -((pitch - 1 - begin) / pitch);
    first += row;
    last += row;
    offset -= row * pitch;
    return end - row * pitch <= pitch;
  }
  bool is_dense() const {
    int64_t reach = element;
    for (int found = 0; found < dims; ++found) {
      int next = 0;
      while (next < dims && std::abs(step[next]) != reach) ++next;
      if (next == dims) return false;
      reach *= count[next];
    }
    return true;
  }
  // visit(begin, end, dense) for the parts of the pattern that stand far apart.
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    int64_t begin, end;
    range(begin, end);
    int outer = 0;
    for (int i = 1; i < dims; ++i)
      if (std::abs(step[i]) > std::abs(step[outer])) outer = i;
    if (dims == 0 || std::abs(step[outer]) < kRow || count[outer] > kMostRows || is_dense())
      return visit(begin, end, is_dense());
    Walk row = *this;
    row.step[outer] = step[dims - 1];
    row.count[outer] = count[dims - 1];
    --row.dims;
    for (int64_t i = 0; i < count[outer]; ++i, row.offset += step[outer]) row.for_each_row(visit);
  }
};

bool overlaps(Walk a, Walk b) {
  for (;;) {
    int64_t a0, a1, b0, b1;
    a.range(a0, a1);
    b.range(b0, b1);
    if (a1 <= b0 || b1 <= a0) return false;
    int64_t pitch = 0;
    for (const Walk* w : {&a, &b})
      for (int i = 0; i < w->dims; ++i) pitch = std::max(pitch, std::abs(w->step[i]));
    if (pitch == 0) return true;
    const bool rows = a.take_rows(pitch, a0, a1) & b.take_rows(pitch, b0, b1);
    if (!rows) return true;
    if (a1 < b0 || b1 < a0) return false;
  }
}

// Partitions [first, last) that an operand touches; one row for HBM.
std::pair<int, int> partitions(const Access& a) {
  if (!a.on_chip()) return {0, 1};
  return {a.partition, a.partition + (a.dims[0].step ? a.dims[0].count : 1)};
}

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

// An indirect DMA reaches rows that only the index's values know.
bool is_indirect(const Program& p, const Instruction& i) {
  if (i.card == card_index<DmaCopy>) return p.args<DmaCopy>(i).index.present();
  if (i.card == card_index<DmaCompute>) return p.args<DmaCompute>(i).index.present();
  return false;
}

}  // namespace

bool overlaps(const Access& a, const Access& b) {
  const auto [a0, a1] = partitions(a);
  const auto [b0, b1] = partitions(b);
  return a0 < b1 && b0 < a1 && overlaps(Walk(a), Walk(b));
}

bool is_dense(const Access& a) { return Walk(a).is_dense(); }

bool is_met_by_engine_order(const Instruction& producer, const Instruction& consumer, Hazard hazard) {
  if (row(producer).is_dma || producer.core != consumer.core || producer.engine != consumer.engine) return false;
  if (hazard == Hazard::write_after_read || hazard == Hazard::registers) return true;
  return hazard == Hazard::write_after_write && producer.engine == Engine::tensor && !row(consumer).is_dma;
}

Dependences::Dependences(const TileProgram& p, const Spec& s)
    : p_(p), placed_(p.allocated), registers_(2 * kEngines, kNone) {
  if (placed_) {
    for (int core = 0; core < p.program.cores; ++core) {
      tiles_.push_back(add_region(static_cast<int64_t>(s.sbuf_partition_bytes), kGrain));
      tiles_.push_back(add_region(static_cast<int64_t>(s.psum_partition_bytes), kGrain));
    }
  } else {
    tiles_.reserve(p.tiles.size());
    for (const VirtualTile& t : p.tiles) tiles_.push_back(add_region(t.bytes, kGrain));
  }
  // Only slots that the Program writes can have hazards.
  std::vector<int64_t> writes(p.program.slots.size());
  for (const Instruction& i : p.program.instructions) {
    if (!row(i).is_dma) continue;
    const AccessList list = accesses(p.program, i);
    for (int k = 0; k < list.count; ++k)
      if (list.access[k]->space == Space::hbm && list.written[k]) ++writes[list.access[k]->buffer];
  }
  slots_.resize(p.program.slots.size());
  for (size_t slot = 0; slot < writes.size(); ++slot) {
    const int64_t bytes = std::max<int64_t>(p.program.slots[slot].bytes, 1),
                  buckets = writes[slot] / kWritesPerBucket + 1;
    if (writes[slot] > 0) slots_[slot] = add_region(bytes, (bytes + buckets - 1) / buckets);
  }
  records_.reserve(p.program.instructions.size());
}

Dependences::Region Dependences::add_region(int64_t bytes, int64_t grain) {
  const Region r{static_cast<uint32_t>(buckets_.size()), static_cast<uint32_t>((bytes + grain - 1) / grain), grain};
  buckets_.resize(buckets_.size() + r.count);
  return r;
}

const Dependences::Region& Dependences::region_of(const Access& a, uint8_t core) const {
  if (a.space == Space::hbm) return slots_[a.buffer];
  return tiles_[placed_ ? core * 2 + (a.space == Space::psum) : a.buffer];
}

const std::vector<Dependences::Edge>& Dependences::next() {
  edges_.clear();
  const Instruction& i = p_.program.instructions[at_];
  const AccessList list = accesses(p_.program, i);
  const bool indirect = is_indirect(p_.program, i);
  for (bool written : {false, true})
    for (int k = 0; k < list.count; ++k)
      if (list.written[k] == written) touch(*list.access[k], written, i.core, indirect);
  if (kUsesRegisters[i.card](p_.program.raw_args(i))) {
    uint32_t& last = registers_[i.core * kEngines + static_cast<int>(i.engine)];
    if (last != kNone) edges_.push_back({last, Hazard::registers});
    last = at_;
  }
  ++at_;
  return edges_;
}

void Dependences::touch(const Access& a, bool written, uint8_t core, bool whole_slot) {
  const Region& region = region_of(a, core);
  if (region.first == kNone || region.count == 0) return;
  const auto [partition, partition_end] = partitions(a);
  Record use{.access = &a,
             .begin = 0,
             .end = 0,
             .instruction = at_,
             .next = kNone,
             .partition = static_cast<uint8_t>(partition),
             .partition_end = static_cast<uint8_t>(partition_end),
             .dense = false};
  const auto enter = [&](int64_t begin, int64_t end, bool dense) {
    use.dense = dense;
    const int64_t first = std::clamp<int64_t>(begin / region.grain, 0, region.count - 1);
    const int64_t last = std::clamp<int64_t>((end - 1) / region.grain, first, region.count - 1);
    for (int64_t b = first; b <= last; ++b) {
      Bucket& bucket = buckets_[region.first + b];
      use.begin = std::max(begin, b * region.grain);
      use.end = std::min(end, (b + 1) * region.grain);
      scan(bucket.writes, use, written, written ? Hazard::write_after_write : Hazard::read_after_write);
      if (written) scan(bucket.reads, use, true, Hazard::write_after_read);
      insert(written ? bucket.writes : bucket.reads, use);
    }
  };
  if (a.on_chip()) return Walk(a).for_each_row(enter);
  if (whole_slot) {
    use.access = nullptr;
    return enter(0, region.count * region.grain, false);
  }
  const Walk walk(a);
  int64_t begin, end;
  walk.range(begin, end);
  enter(begin, end, walk.is_dense());
}

bool Dependences::meet(const Record& r, const Record& use) {
  if (r.end <= use.begin || use.end <= r.begin || r.partition_end <= use.partition || use.partition_end <= r.partition)
    return false;
  return (r.dense && use.dense) || !r.access || !use.access || overlaps(Walk(*r.access), Walk(*use.access));
}

// What a write replaces needs no record: whoever comes later waits for the write. Cuts off what is replaced; true if
// nothing remains.
bool Dependences::replaces(const Record& write, Record& r) {
  if (write.dense && write.partition <= r.partition && write.partition_end >= r.partition_end) {
    if (write.begin <= r.begin && r.end <= write.end) return true;
    if (write.begin <= r.begin) r.begin = write.end;
    if (write.end >= r.end) r.end = write.begin;
    return false;
  }
  return r.access && write.access && *r.access == *write.access;
}

void Dependences::scan(uint32_t& head, const Record& use, bool written, Hazard hazard) {
  for (uint32_t* link = &head; *link != kNone;) {
    const uint32_t index = *link;
    Record& r = records_[index];
    if (!meet(r, use)) {
      link = &r.next;
      continue;
    }
    if (r.instruction != at_) edges_.push_back({r.instruction, hazard});
    if (!written || !replaces(use, r)) {
      link = &r.next;
      continue;
    }
    *link = r.next;
    r.next = free_;
    free_ = index;
  }
}

void Dependences::insert(uint32_t& head, const Record& r) {
  uint32_t index = free_;
  if (index != kNone) {
    free_ = records_[index].next;
    records_[index] = r;
  } else {
    index = static_cast<uint32_t>(records_.size());
    records_.push_back(r);
  }
  records_[index].next = head;
  head = index;
}

}  // namespace trn::compiler
