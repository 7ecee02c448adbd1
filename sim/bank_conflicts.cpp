#include <algorithm>
#include <deque>
#include <set>

#include "memory/footprints.h"
#include "sim/hazards.h"
#include "sim/order.h"

namespace trn {
namespace {

// Engines reach PSUM at full rate unless they meet in one bank (trainium2_arch: "as long as their accesses do not
// collide on the same PSUM bank"). Reported where one of the two writes: a bank that is filled while another engine
// still drains it. Their bytes differ; where they do not, it is a race.
class BankConflicts {
 public:
  BankConflicts(const Program& p, Order& order, const Spec& s, size_t most)
      : p_(p),
        streams_(order.streams()),
        order_(order),
        bank_(static_cast<int64_t>(s.psum_partition_bytes / s.psum_banks)),
        most_(most) {
    for (int core = 0; core < p.cores; ++core)
      psum_.push_back(used_.add(static_cast<int64_t>(s.psum_partition_bytes), bank_));
  }

  Findings find() {
    order_.restart();
    for (uint32_t i = 0; i < p_.instructions.size() && found_.size() < most_; ++i) {
      order_.next();
      const AccessList list = accesses(p_, p_.instructions[i]);
      for (bool written : {false, true})
        for (int k = 0; k < list.count; ++k)
          if (list.access[k]->space == Space::psum && list.written[k] == written) touch(i, *list.access[k], written);
    }
    return std::move(found_);
  }

 private:
  void touch(uint32_t i, const Access& a, bool written) {
    const ByteRange r = byte_range(a);
    const Partitions partitions = partitions_of(a);
    for (int64_t bank = r.begin / bank_; bank * bank_ < r.end; ++bank) {
      Access& all = banks_.emplace_back(Access{.space = Space::psum, .dtype = Dtype::uint8, .ndim = 2});
      all.partition = static_cast<uint8_t>(partitions.begin);
      all.offset = bank * bank_;
      all.dims = {Dim{1, partitions.end - partitions.begin}, Dim{1, static_cast<int32_t>(bank_)}};
      used_.touch(
          psum_[p_.instructions[i].core], all, written, i, false,
          [&](uint32_t earlier, bool was_written) { meet(earlier, was_written, i, bank); },
          [&](uint32_t earlier, uint32_t) { return streams_.of(earlier).completer == streams_.of(i).completer; });
    }
  }

  void meet(uint32_t earlier, bool was_written, uint32_t i, int64_t bank) {
    const Streams::Place &e = streams_.of(earlier), &now = streams_.of(i);
    if (e.issuer == now.issuer || order_.is_over(earlier, was_written)) return;
    if (is_race(earlier, i) || !reported_.insert({e.issuer, now.issuer, bank}).second) return;
    found_.push_back(
        {.kind = RuleKind::bank_conflict,
         .fault = Fault::unpredictable,
         .rule = who(i) + " may meet " + who(earlier) + " in PSUM bank " + std::to_string(bank) + ": both slow down",
         .instruction = i,
         .other = earlier,
         .notes = {"missing: another bank for one of the two, or a wait"},
         .advice = true});
  }

  bool is_race(uint32_t earlier, uint32_t i) const {
    const AccessList a = accesses(p_, p_.instructions[earlier]), b = accesses(p_, p_.instructions[i]);
    for (int x = 0; x < a.count; ++x)
      for (int y = 0; y < b.count; ++y)
        if ((a.written[x] || b.written[y]) && a.access[x]->space == Space::psum && b.access[y]->space == Space::psum &&
            overlaps(*a.access[x], *b.access[y]))
          return true;
    return false;
  }

  const Program& p_;
  const Streams& streams_;
  Order& order_;
  int64_t bank_;
  size_t most_;
  Footprints used_;
  std::vector<Footprints::Memory> psum_;
  std::deque<Access> banks_;
  std::set<std::tuple<uint16_t, uint16_t, int64_t>> reported_;
  Findings found_;
};

// Do two engines of one core use PSUM?
bool can_meet(const Program& p) {
  std::array<const Instruction*, 2> first{};
  for (const Instruction& in : p.instructions) {
    if (row(in).is_dma) continue;
    const AccessList list = accesses(p, in);
    if (std::none_of(list.access.begin(), list.access.begin() + list.count,
                     [](const Access* a) { return a->space == Space::psum; }))
      continue;
    const Instruction*& user = first[in.core];
    if (!user) user = &in;
    if (user->engine != in.engine) return true;
  }
  return false;
}

}  // namespace

Findings find_bank_conflicts(const Program& p, Order& order, const Spec& s, size_t most) {
  if (!can_meet(p)) return {};
  return BankConflicts(p, order, s, most).find();
}

}  // namespace trn
