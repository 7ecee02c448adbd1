#include "memory/footprints.h"

namespace trn {

Footprints::Memory Footprints::add(int64_t bytes, int64_t grain) {
  const Memory m{static_cast<uint32_t>(buckets_.size()), static_cast<uint32_t>((bytes + grain - 1) / grain), grain};
  buckets_.resize(buckets_.size() + m.count);
  return m;
}

Footprints::Memory Footprints::add_spread(int64_t bytes, int64_t writes, int64_t reach) {
  constexpr int64_t kWritesPerBucket = 4;
  const int64_t buckets = writes / kWritesPerBucket + 1;
  bytes = std::max<int64_t>(bytes, 1);
  return add(bytes, std::max((bytes + buckets - 1) / buckets, reach / std::max<int64_t>(writes, 1)));
}

bool Footprints::meet(const Record& r, const Record& use) {
  if (r.end <= use.begin || use.end <= r.begin || r.partition_end <= use.partition || use.partition_end <= r.partition)
    return false;
  return (r.dense && use.dense) || !r.access || !use.access || overlaps(ByteWalk(*r.access), ByteWalk(*use.access));
}

// Cuts off what the write replaces; true if nothing remains.
bool Footprints::replaces(const Record& write, Record& r) {
  if (write.dense && write.partition <= r.partition && write.partition_end >= r.partition_end) {
    if (write.begin <= r.begin && r.end <= write.end) return true;
    if (write.begin <= r.begin) r.begin = write.end;
    if (write.end >= r.end) r.end = write.begin;
    return false;
  }
  return r.access && write.access && *r.access == *write.access;
}

void Footprints::insert(uint32_t& head, const Record& r) {
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

}  // namespace trn
