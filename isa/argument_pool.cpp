#include "isa/argument_pool.h"

#include <algorithm>

#include "memory/error.h"

namespace trn {
namespace {

uint32_t hash_of(std::span<const uint64_t> arguments) {
  uint64_t h = arguments.size();
  for (const uint64_t word : arguments) {
    h = (h ^ word) * 0x9E3779B97F4A7C15;
    h ^= h >> 32;
  }
  return static_cast<uint32_t>(h);
}

}  // namespace

uint32_t ArgumentPool::append(std::span<const uint64_t> arguments, std::vector<uint64_t>& words) {
  const size_t at = words.size();
  if (at >= UINT32_MAX) throw Error(Fault::unsupported, "the arguments of a Program take more than 2^32 words");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return static_cast<uint32_t>(at);
}

uint32_t ArgumentPool::find_or_append(std::span<const uint64_t> arguments, std::vector<uint64_t>& words) {
  if (2 * used_ >= entries_.size() && entries_.size() < kMost) grow();
  const uint32_t hash = hash_of(arguments);
  for (const Entry& e : bucket(hash)) {
    if (e.hash != hash || e.place > words.size() || arguments.size() > words.size() - e.place) continue;
    if (std::equal(arguments.begin(), arguments.end(), words.begin() + e.place)) return e.place;
  }
  const uint32_t at = append(arguments, words);
  remember({hash, at});
  return at;
}

std::span<ArgumentPool::Entry> ArgumentPool::bucket(uint32_t hash) {
  return {entries_.data() + hash % (entries_.size() / kWays) * kWays, kWays};
}

// In a full bucket any one gives way: what comes often comes back.
void ArgumentPool::remember(Entry e) {
  const auto ways = bucket(e.hash);
  const auto free = std::find_if(ways.begin(), ways.end(), [](const Entry& x) { return x.empty(); });
  if (free != ways.end()) ++used_;
  (free != ways.end() ? *free : ways[e.place % kWays]) = e;
}

void ArgumentPool::grow() {
  const std::vector<Entry> old = std::move(entries_);
  entries_ = std::vector<Entry>(std::max(kLeast, 4 * old.size()));
  used_ = 0;
  for (const Entry& e : old)
    if (!e.empty()) remember(e);
}

}  // namespace trn
