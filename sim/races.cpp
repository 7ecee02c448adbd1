#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "memory/footprints.h"
#include "sim/hazards.h"
#include "sim/order.h"

namespace trn {
namespace {

class Races {
 public:
  Races(const Program& p, Order& order, const Spec& s, size_t most)
      : p_(p), streams_(order.streams()), order_(order), most_(most) {
    for (size_t core = 0; core < p.cores; ++core) {
      chip_[2 * core] = used_.add(static_cast<int64_t>(s.sbuf_partition_bytes));
      chip_[2 * core + 1] = used_.add(static_cast<int64_t>(s.psum_partition_bytes));
    }
    // Only slots that the Program writes can have races.
    struct Writes {
      int64_t count = 0, reach = 0;
    };
    std::vector<Writes> writes(p.slots.size());
    for (const Instruction& i : p.instructions) {
      if (!row(i).is_dma) continue;
      const AccessList list = accesses(p, i);
      for (int k = 0; k < list.count; ++k)
        if (const Access& a = *list.access[k]; a.space == Space::hbm && list.written[k]) {
          const ByteRange r = byte_range(a);
          ++writes[a.buffer].count;
          writes[a.buffer].reach += r.end - r.begin;
        }
    }
    slots_.resize(p.slots.size());
    for (size_t slot = 0; slot < writes.size(); ++slot)
      if (const Writes& w = writes[slot]; w.count > 0)
        slots_[slot] = used_.add_spread(p.slots[slot].bytes, w.count, w.reach);
    used_.reserve(p.instructions.size());
  }

  Findings find() {
    order_.restart();
    for (uint32_t i = 0; i < p_.instructions.size() && found_.size() < most_; ++i) {
      order_.next();
      const AccessList list = accesses(p_, p_.instructions[i]);
      for (bool written : {false, true})
        for (int k = 0; k < list.count; ++k)
          if (list.written[k] == written) touch(i, *list.access[k], written);
    }
    return std::move(found_);
  }

 private:
  const Footprints::Memory& memory_of(const Access& a, uint8_t core) const {
    if (a.space == Space::hbm) return slots_[a.buffer];
    return chip_[core * 2u + (a.space == Space::psum)];
  }

  void touch(uint32_t i, const Access& a, bool written) {
    used_.touch(
        memory_of(a, p_.instructions[i].core), a, written, i, false,
        [&](uint32_t earlier, bool was_written) { meet(earlier, was_written, i, a, written); },
        [&](uint32_t earlier, uint32_t) { return streams_.of(earlier).completer == streams_.of(i).completer; });
  }

  void meet(uint32_t earlier, bool was_written, uint32_t i, const Access& a, bool written) {
    if (earlier == i || order_.is_over(earlier, was_written)) return;
    const Hazard hazard = !was_written ? Hazard::write_after_read
                          : written    ? Hazard::write_after_write
                                       : Hazard::read_after_write;
    if (is_met_by_engine_order(p_.instructions[earlier], p_.instructions[i], hazard)) return;
    suspect(earlier, was_written, i, a, hazard);
  }

  // Where bytes may be shared and no order is known: exact answers, one by one.
  void suspect(uint32_t earlier, bool was_written, uint32_t i, const Access& a, Hazard hazard) {
    const AccessList list = accesses(p_, p_.instructions[earlier]);
    for (int k = 0; k < list.count; ++k) {
      const Access& b = *list.access[k];
      if (list.written[k] != was_written || b.space != a.space || (!a.on_chip() && a.buffer != b.buffer)) continue;
      const auto common = common_bytes(a, b);
      if (!common) continue;
      if (can_meet(earlier, i) && reported_.insert({earlier, i}).second)
        report(earlier, i, hazard, describe(a, *common, p_));
      return;
    }
  }

  bool can_meet(uint32_t earlier, uint32_t i) {
    const auto [known, fresh] = can_meet_.emplace(std::pair{earlier, i}, false);
    if (!fresh) return known->second;
    work_ += p_.instructions.size();
    return known->second = work_ <= kMostWork && EagerRun(p_, streams_, earlier).started(i);
  }

  void report(uint32_t earlier, uint32_t i, Hazard hazard, std::string bytes) {
    constexpr std::string_view kVerbs[] = {"reads what ", "overwrites what ", "overwrites what "};
    constexpr std::string_view kStates[] = {" may still be writing", " may still be reading", " may still be writing"};
    const auto h = static_cast<size_t>(hazard);
    found_.push_back({.kind = RuleKind::race,
                      .fault = Fault::undefined,
                      .rule = who(i) + " " + kVerbs[h] + who(earlier) + kStates[h],
                      .instruction = i,
                      .other = earlier,
                      .notes = {std::move(bytes), "missing: " + remedy(earlier, i)}});
  }

  Sentence remedy(uint32_t earlier, uint32_t i) const {
    const Sentence at = mention(i), before = mention(earlier);
    const uint16_t semaphore = p_.instructions[earlier].update;
    if (semaphore == Instruction::kNoUpdate)
      return "a wait of " + at + " for a semaphore that " + before + " posts; now it posts none";
    const auto posts = streams_.posts(semaphore);
    const auto nth = std::find(posts.begin(), posts.end(), earlier) - posts.begin() + 1;
    const bool alone = std::all_of(posts.begin(), posts.end(), [&](uint32_t other) {
      return streams_.of(other).completer == streams_.of(earlier).completer;
    });
    if (alone) return "wait=s" + std::to_string(semaphore) + ">=" + std::to_string(nth) + " of " + at;
    return "a semaphore for " + before + " alone, and a wait of " + at + " for it: s" + std::to_string(semaphore) +
           " is also posted by others, who can raise it in its stead";
  }

  const Program& p_;
  const Streams& streams_;
  Order& order_;
  size_t most_;
  Footprints used_;
  std::array<Footprints::Memory, 4> chip_;  // by (core, space)
  std::vector<Footprints::Memory> slots_;
  // Instructions looked at for exact answers. Beyond, a Program of many streams on few semaphores is believed.
  static constexpr size_t kMostWork = size_t{1} << 28;
  size_t work_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, bool> can_meet_;
  std::set<std::pair<uint32_t, uint32_t>> reported_;
  Findings found_;
};

}  // namespace

Findings find_races(const Program& p, Order& order, const Spec& s, size_t most) {
  return Races(p, order, s, most).find();
}

}  // namespace trn
