#include <algorithm>
#include <bitset>

#include "isa/isa.h"
#include "sim/hazards.h"

namespace trn {
namespace {

using Mask = std::bitset<128>;

// PSUM of one core as what wrote it last: rectangles of bytes and partitions, by bank.
class LastWriters {
 public:
  struct Part {
    ByteRange bytes;
    Mask partitions;
    uint32_t writer;
    bool read;  // any of it, since
  };

  LastWriters(int64_t bytes, int64_t bank) : bank_(bank), banks_(static_cast<size_t>((bytes + bank - 1) / bank)) {}

  void write(const Access& a, uint32_t writer) {
    for_each_piece(a, [&](std::vector<Part>& parts, const ByteRange& r, const Mask& m) {
      remove(parts, r, m);
      parts.push_back({r, m, writer, false});
    });
  }

  // visit(part, bytes of it that `a` touches over all its partitions); returns the bytes that nothing wrote.
  template <class Visit>
  int64_t each_writer(const Access& a, Visit&& visit) {
    int64_t unwritten = 0;
    for_each_piece(a, [&](std::vector<Part>& parts, const ByteRange& r, const Mask& m) {
      unwritten += (r.end - r.begin) * static_cast<int64_t>(m.count());
      for (Part& part : parts) {
        const int64_t bytes = std::min(part.bytes.end, r.end) - std::max(part.bytes.begin, r.begin);
        const int64_t shared = bytes <= 0 ? 0 : bytes * static_cast<int64_t>((part.partitions & m).count());
        if (shared == 0) continue;
        unwritten -= shared;
        visit(part, shared);
      }
    });
    return unwritten;
  }

 private:
  template <class Visit>
  void for_each_piece(const Access& a, Visit&& visit) {
    if (!byte_runs(a, runs_)) return;
    const Partitions p = partitions_of(a);
    Mask m;
    for (int i = p.begin; i < p.end; ++i) m.set(static_cast<size_t>(i));
    for (const ByteRange& r : runs_)
      for (int64_t bank = r.begin / bank_; bank * bank_ < r.end; ++bank)
        visit(banks_[static_cast<size_t>(bank)],
              ByteRange{std::max(r.begin, bank * bank_), std::min(r.end, (bank + 1) * bank_)}, m);
  }

  static void remove(std::vector<Part>& parts, const ByteRange& r, const Mask& m) {
    const size_t before = parts.size();
    for (size_t i = 0; i < before; ++i) {
      const Part part = parts[i];
      const ByteRange both{std::max(part.bytes.begin, r.begin), std::min(part.bytes.end, r.end)};
      if (both.begin >= both.end || (part.partitions & m).none()) continue;
      parts[i].partitions = part.partitions & ~m;
      parts[i].bytes = both;
      if (part.bytes.begin < both.begin)
        parts.push_back({{part.bytes.begin, both.begin}, part.partitions, part.writer, part.read});
      if (both.end < part.bytes.end)
        parts.push_back({{both.end, part.bytes.end}, part.partitions, part.writer, part.read});
    }
    std::erase_if(parts, [](const Part& part) { return part.partitions.none(); });
  }

  int64_t bank_;
  std::vector<std::vector<Part>> banks_;
  std::vector<ByteRange> runs_;
};

// What an instruction means for accumulation groups: matmuls start them or add to them, everything else only writes.
enum class Group : uint8_t { none, starts, adds };

template <class C>
Group group_of(const void* raw) {
  if constexpr (requires(typename C::Args a) { a.accumulate; }) {
    const auto& args = *static_cast<const typename C::Args*>(raw);
    if constexpr (requires { args.is_transpose; })
      if (args.is_transpose) return Group::none;
    return args.accumulate ? Group::adds : Group::starts;
  }
  return Group::none;
}

template <class... C>
constexpr auto group_table(std::type_identity<std::tuple<C...>>) {
  return std::array{&group_of<C>...};
}
constexpr auto kGroups = group_table(std::type_identity<Isa>{});

Group group_of(const Program& p, uint32_t i) { return kGroups[p.instructions[i].card](p.raw_args(p.instructions[i])); }

}  // namespace

// nki.isa.nc_matmul: accumulation is only valid where an nc_matmul with accumulate=False has written; on what anything
// else has written it is undefined on NeuronCore v2 and v3 (trn2.md section 2). A group that starts on sums which
// nothing has read is advice: an accumulate=True that was forgotten, or a product that only warms the array up.
Findings find_psum_misuse(const Program& p, const Spec& s, size_t most) {
  Findings found;
  const auto multiplies = [&](const Instruction& in) { return kGroups[in.card](p.raw_args(in)) != Group::none; };
  if (std::none_of(p.instructions.begin(), p.instructions.end(), multiplies)) return found;
  const auto bytes = static_cast<int64_t>(s.psum_partition_bytes);
  std::vector<LastWriters> psum(p.cores, LastWriters(bytes, bytes / static_cast<int64_t>(s.psum_banks)));
  const auto report = [&](uint32_t i, uint32_t other, const Sentence& rule, const Access& dst) {
    found.push_back(
        {.kind = RuleKind::psum_group,
         .fault = Fault::undefined,
         .rule = who(i) + " accumulates onto " + rule,
         .instruction = i,
         .other = other,
         .notes = {"operand " + to_string(dst),
                   "missing: an nc_matmul with accumulate=False that starts the group on all of these bytes"}});
  };
  const auto overwritten = [&](uint32_t i, uint32_t lost, const Access& dst) {
    found.push_back({.kind = RuleKind::psum_group,
                     .fault = Fault::unpredictable,
                     .rule = who(i) + " starts a group on the sums of " + who(lost) + ", which nothing has read",
                     .instruction = i,
                     .other = lost,
                     .notes = {"operand " + to_string(dst), "missing: accumulate=True, or a read of the sums before"},
                     .advice = true});
  };
  for (uint32_t i = 0; i < p.instructions.size() && found.size() < most; ++i) {
    const Instruction& in = p.instructions[i];
    if (row(in).is_dma) continue;
    const AccessList list = accesses(p, in);
    for (int k = 0; k < list.count; ++k)
      if (!list.written[k] && list.access[k]->space == Space::psum)
        psum[in.core].each_writer(*list.access[k], [](LastWriters::Part& part, int64_t) { part.read = true; });
    for (int k = 0; k < list.count; ++k) {
      const Access& a = *list.access[k];
      if (!list.written[k] || a.space != Space::psum) continue;
      if (group_of(p, i) == Group::starts) {
        uint32_t lost = Finding::kNobody;
        psum[in.core].each_writer(a, [&](const LastWriters::Part& part, int64_t) {
          if (!part.read && group_of(p, part.writer) != Group::none) lost = part.writer;
        });
        if (lost != Finding::kNobody) overwritten(i, lost, a);
      }
      if (group_of(p, i) == Group::adds) {
        uint32_t culprit = Finding::kNobody;
        const int64_t unwritten = psum[in.core].each_writer(a, [&](const LastWriters::Part& part, int64_t) {
          if (group_of(p, part.writer) == Group::none) culprit = part.writer;
        });
        if (culprit != Finding::kNobody)
          report(i, culprit, "what " + who(culprit) + " wrote, which starts no group", a);
        else if (unwritten > 0)
          report(i, culprit,
                 std::to_string(unwritten) + " of " + std::to_string(a.bytes()) +
                     " bytes of PSUM that no matmul of this Program wrote",
                 a);
      }
      psum[in.core].write(a, i);
    }
  }
  return found;
}

}  // namespace trn
