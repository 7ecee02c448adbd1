#include "memory/written.h"

#include <algorithm>
#include <bit>

namespace trn {

WrittenBytes::Mask WrittenBytes::mask_of(const Access& a) {
  const Partitions p = partitions_of(a);
  Mask m;
  for (int word = 0; word < 2; ++word) {
    const int begin = std::clamp(p.begin - 64 * word, 0, 64), end = std::clamp(p.end - 64 * word, 0, 64);
    if (begin < end) m.bits[static_cast<size_t>(word)] = (~uint64_t{0} >> (64 - (end - begin))) << begin;
  }
  return m;
}

std::vector<WrittenBytes::Interval>::iterator WrittenBytes::after(int64_t at) {
  return std::partition_point(intervals_.begin(), intervals_.end(), [&](const Interval& i) { return i.end <= at; });
}

bool WrittenBytes::covers(const ByteRange& r, const Mask& m) {
  int64_t at = r.begin;
  for (auto i = after(at); i != intervals_.end() && i->begin <= at && has(i->partitions, m); ++i)
    if ((at = i->end) >= r.end) return true;
  return false;
}

void WrittenBytes::add(const Access& a) {
  const Mask m = mask_of(a);
  const ByteRange range = ByteWalk(a).range();
  if (covers(range, m)) return;
  if ((intervals_.empty() || intervals_.back().end < range.begin) && ByteWalk(a).is_dense()) {
    constexpr size_t kFew = 8;
    if (intervals_.empty()) intervals_.reserve(kFew);
    intervals_.push_back({range.begin, range.end, m});
    return;
  }
  if (!byte_runs(a, runs_)) runs_.assign(1, range);  // too fine to tell: nothing is reported that was perhaps written
  // Intervals from the one that touches the first run to the one that touches the last are merged with the runs.
  const auto first = std::partition_point(intervals_.begin(), intervals_.end(),
                                          [&](const Interval& i) { return i.end < range.begin; });
  const auto last =
      std::partition_point(first, intervals_.end(), [&](const Interval& i) { return i.begin <= range.end; });
  merged_.clear();
  const auto put = [&](int64_t begin, int64_t end, const Mask& partitions) {
    if (begin >= end) return;
    if (!merged_.empty() && merged_.back().end == begin && merged_.back().partitions == partitions)
      merged_.back().end = end;
    else
      merged_.push_back({begin, end, partitions});
  };
  auto old = first;
  size_t run = 0;
  Interval rest = old != last ? *old : Interval{};
  while (old != last || run < runs_.size()) {
    if (run == runs_.size() || (old != last && rest.begin < runs_[run].begin)) {
      const int64_t end = run < runs_.size() ? std::min(rest.end, runs_[run].begin) : rest.end;
      put(rest.begin, end, rest.partitions);
      rest.begin = end;
    } else if (old == last || runs_[run].begin < rest.begin) {
      const int64_t end = old != last ? std::min(runs_[run].end, rest.begin) : runs_[run].end;
      put(runs_[run].begin, end, m);
      runs_[run].begin = end;
    } else {
      const int64_t end = std::min(runs_[run].end, rest.end);
      put(rest.begin, end, {{rest.partitions.bits[0] | m.bits[0], rest.partitions.bits[1] | m.bits[1]}});
      rest.begin = runs_[run].begin = end;
    }
    if (old != last && rest.begin == rest.end && ++old != last) rest = *old;
    if (run < runs_.size() && runs_[run].begin == runs_[run].end) ++run;
  }
  const auto replaced = std::min(merged_.size(), static_cast<size_t>(last - first));
  const auto at = std::copy_n(merged_.begin(), replaced, first);
  if (replaced < merged_.size())
    intervals_.insert(at, merged_.begin() + static_cast<std::ptrdiff_t>(replaced), merged_.end());
  else
    intervals_.erase(at, last);
}

std::optional<CommonBytes> WrittenBytes::missing(const Access& a) {
  const Mask m = mask_of(a);
  if (covers(ByteWalk(a).range(), m) || !byte_runs(a, runs_)) return {};
  std::optional<CommonBytes> found;
  const auto lack = [&](int64_t begin, int64_t end, uint64_t low, uint64_t high) {
    if (begin >= end || (low == 0 && high == 0)) return;
    const int first = low ? std::countr_zero(low) : 64 + std::countr_zero(high);
    const int last = high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
    if (!found) found = CommonBytes{{first, last}, {begin, end}, 0};
    if (found->bytes > 0 && found->first.end == begin) found->first.end = end;
    found->bytes += end - begin;
  };
  for (const ByteRange& r : runs_) {
    int64_t at = r.begin;
    for (auto i = after(at); at < r.end; ++i) {
      const int64_t begin = i == intervals_.end() ? r.end : std::min(i->begin, r.end);
      lack(at, begin, m.bits[0], m.bits[1]);
      if (begin >= r.end) break;
      const int64_t from = std::max(at, begin), end = std::min(i->end, r.end);
      lack(from, end, m.bits[0] & ~i->partitions.bits[0], m.bits[1] & ~i->partitions.bits[1]);
      at = end;
    }
  }
  return found;
}

}  // namespace trn
