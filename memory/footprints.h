#pragma once
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "memory/overlap.h"

namespace trn {

// Who touched which bytes of some memories, as far as it still matters: what a later write covers is forgotten, because
// whoever meets those bytes afterwards meets that write. Bytes are kept in buckets, so that a use is compared only with
// uses nearby.
class Footprints {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFF;

  // A memory that is told apart from others, in buckets of `grain` bytes.
  struct Memory {
    uint32_t first = kNone;
    uint32_t count = 0;
    int64_t grain = 1;
    bool watched() const { return count > 0; }
  };

  static constexpr int64_t kChipGrain = 2048;  // one PSUM bank, one row of 512 fp32
  Memory add(int64_t bytes, int64_t grain = kChipGrain);
  // For HBM: buckets for about four of `writes` each, and none smaller than a write reaches on average: `reach` is the
  // sum of their byte ranges.
  Memory add_spread(int64_t bytes, int64_t writes, int64_t reach);
  void reserve(size_t uses) { records_.reserve(uses); }

  // Calls found(earlier user, earlier is a write) for each remembered use that shares bytes with this one where at
  // least one of the two writes, perhaps more than once, then remembers this one. `whole`: all of the memory, whatever
  // `a` says. `a` must outlive this. supersedes(earlier, user): a read by `user` of the same bytes makes the earlier
  // read not worth remembering.
  template <class Found, class Supersedes>
  void touch(const Memory& m, const Access& a, bool written, uint32_t user, bool whole, Found&& found,
             Supersedes&& supersedes);
  template <class Found>
  void touch(const Memory& m, const Access& a, bool written, uint32_t user, bool whole, Found&& found) {
    touch(m, a, written, user, whole, found, [](uint32_t, uint32_t) { return false; });
  }

  // Calls found(writer) for each remembered write, perhaps more than once.
  template <class Found>
  void for_each_write(const Memory& m, Found&& found) const {
    for (uint32_t b = m.first; m.watched() && b < m.first + m.count; ++b)
      for (uint32_t i = buckets_[b].writes; i != kNone; i = records_[i].next) found(records_[i].user);
  }

 private:
  // A use of part of one bucket's bytes that no later write has covered.
  struct Record {
    const Access* access;  // null: every byte between begin and end
    int64_t begin, end;
    uint32_t user;
    uint32_t next;
    uint8_t partition, partition_end;
    bool dense;
  };
  struct Bucket {
    uint32_t writes = kNone, reads = kNone;  // newest first
  };

  static bool meet(const Record& r, const Record& use);
  static bool replaces(const Record& write, Record& r);
  void insert(uint32_t& head, const Record& r);
  // visit(begin, end, dense) for the parts of an on-chip pattern that stand far apart.
  template <class Visit>
  static void for_each_row(const ByteWalk& w, Visit&& visit);
  template <class Found>
  void scan(uint32_t& head, const Record& use, bool written, bool was_written, Found& found);

  std::vector<Bucket> buckets_;
  std::vector<Record> records_;
  uint32_t free_ = kNone;
};

template <class Visit>
void Footprints::for_each_row(const ByteWalk& w, Visit&& visit) {
  constexpr int64_t kRow = 1024;  // a step of so many bytes: what it repeats is entered row by row
  constexpr int64_t kMostRows = 64;
  const ByteRange r = w.range();
  int outer = 0;
  for (int i = 1; i < w.dims; ++i)
    if (std::abs(w.step[i]) > std::abs(w.step[outer])) outer = i;
  if (w.dims == 0 || std::abs(w.step[outer]) < kRow || w.count[outer] > kMostRows || w.is_dense())
    return visit(r.begin, r.end, w.is_dense());
  ByteWalk row = w;
  row.step[outer] = w.step[w.dims - 1];
  row.count[outer] = w.count[w.dims - 1];
  --row.dims;
  for (int64_t i = 0; i < w.count[outer]; ++i, row.offset += w.step[outer]) for_each_row(row, visit);
}

template <class Found>
void Footprints::scan(uint32_t& head, const Record& use, bool written, bool was_written, Found& found) {
  for (uint32_t* link = &head; *link != kNone;) {
    const uint32_t index = *link;
    Record& r = records_[index];
    if (!meet(r, use)) {
      link = &r.next;
      continue;
    }
    found(r.user, was_written);
    if (!written || !replaces(use, r)) {
      link = &r.next;
      continue;
    }
    *link = r.next;
    r.next = free_;
    free_ = index;
  }
}

template <class Found, class Supersedes>
void Footprints::touch(const Memory& m, const Access& a, bool written, uint32_t user, bool whole, Found&& found,
                       Supersedes&& supersedes) {
  if (!m.watched()) return;
  const Partitions partitions = partitions_of(a);
  Record use{.access = whole ? nullptr : &a,
             .begin = 0,
             .end = 0,
             .user = user,
             .next = kNone,
             .partition = static_cast<uint8_t>(partitions.begin),
             .partition_end = static_cast<uint8_t>(partitions.end),
             .dense = false};
  const auto remember_read = [&](uint32_t& head) {
    for (uint32_t i = head; i != kNone; i = records_[i].next) {
      Record& r = records_[i];
      if (!supersedes(r.user, user) || !r.access || !use.access || r.begin != use.begin || r.end != use.end ||
          !(*r.access == *use.access))
        continue;
      r.user = user;
      return;
    }
    insert(head, use);
  };
  const auto enter = [&](int64_t begin, int64_t end, bool dense) {
    use.dense = dense;
    const int64_t first = std::clamp<int64_t>(begin / m.grain, 0, m.count - 1);
    const int64_t last = std::clamp<int64_t>((end - 1) / m.grain, first, m.count - 1);
    for (int64_t b = first; b <= last; ++b) {
      Bucket& bucket = buckets_[m.first + static_cast<uint32_t>(b)];
      use.begin = std::max(begin, b * m.grain);
      use.end = std::min(end, (b + 1) * m.grain);
      scan(bucket.writes, use, written, true, found);
      if (written) {
        scan(bucket.reads, use, true, false, found);
        insert(bucket.writes, use);
      } else {
        remember_read(bucket.reads);
      }
    }
  };
  if (whole) return enter(0, m.count * m.grain, false);
  const ByteWalk walk(a);
  if (a.on_chip()) return for_each_row(walk, enter);
  const ByteRange r = walk.range();
  enter(r.begin, r.end, walk.is_dense());
}

}  // namespace trn
