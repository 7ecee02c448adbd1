#include "memory/hbm.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

namespace trn {

namespace {

// Freed blocks at least this large give their pages back to the host.
constexpr int64_t kReturnToHost = int64_t{16} << 20;

// Address space becomes usable in steps of this size, so that the host's limits (ulimit -d) see what is used, not what
// a device has.
constexpr int64_t kCommit = int64_t{64} << 20;

bool protection_wanted() {
  const char* text = std::getenv("TRNSIM_PROTECT");
  return text && std::string_view(text) == "1";
}

int64_t aligned(int64_t bytes) {
  return (std::max<int64_t>(bytes, 1) + HbmStack::kAlignment - 1) / HbmStack::kAlignment * HbmStack::kAlignment;
}

void set_protection(std::byte* base, int64_t bytes, int protection) {
  if (mprotect(base, static_cast<size_t>(bytes), protection) != 0)
    throw Error(Fault::internal, "the protection of device memory cannot be changed");
}

}  // namespace

HbmStack::HbmStack(int64_t capacity) : capacity_(capacity / kAlignment * kAlignment), protected_(protection_wanted()) {
  if (capacity_ <= 0)
    throw Error(Fault::illegal, "an HBM stack needs at least " + std::to_string(kAlignment) + " bytes");
  void* p =
      mmap(nullptr, static_cast<size_t>(capacity_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(Fault::unsupported, "this host cannot reserve address space for device memory",
                std::to_string(capacity_) + " bytes; is there a limit (ulimit -v, vm.overcommit_memory)?");
  madvise(p, static_cast<size_t>(capacity_), MADV_HUGEPAGE);
  base_ = static_cast<std::byte*>(p);
  free_.emplace(0, capacity_);
  by_size_.emplace(capacity_, 0);
}

HbmStack::~HbmStack() { munmap(base_, static_cast<size_t>(capacity_)); }

std::byte* HbmStack::allocate(int64_t bytes) {
  if (bytes < 0) throw Error(Fault::illegal, "a block cannot have a negative size", std::to_string(bytes));
  if (bytes > capacity_) return nullptr;
  const int64_t wanted = aligned(bytes);
  const std::lock_guard lock(mutex_);
  const auto best = by_size_.lower_bound({wanted, 0});
  if (best == by_size_.end()) return nullptr;
  const auto [size, offset] = *best;
  if (!commit(offset + wanted)) return nullptr;
  by_size_.erase(best);
  free_.erase(offset);
  if (size > wanted) {
    free_.emplace(offset + wanted, size - wanted);
    by_size_.emplace(size - wanted, offset + wanted);
  }
  taken_.emplace(offset, wanted);
  used_ += wanted;
  peak_used_ = std::max(peak_used_, used_);
  ++allocations_;
  return base_ + offset;
}

bool HbmStack::commit(int64_t end) {
  if (end <= committed_) return true;
  const int64_t next = std::min(capacity_, (end + kCommit - 1) / kCommit * kCommit);
  const int protection = protected_ && openers_ == 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
  if (mprotect(base_ + committed_, static_cast<size_t>(next - committed_), protection) != 0) return false;
  committed_ = next;
  return true;
}

void HbmStack::free(std::byte* p) {
  const std::lock_guard lock(mutex_);
  const auto block = taken_.find(p - base_);
  if (block == taken_.end()) throw Error(Fault::illegal, "only the start of an allocated block can be freed");
  int64_t offset = block->first, size = block->second;
  taken_.erase(block);
  used_ -= size;
  if (size >= kReturnToHost) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    const int64_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
    madvise(base_ + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
  }
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && offset + size == after->first) {
    size += after->second;
    by_size_.erase({after->second, after->first});
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      offset = before->first;
      size += before->second;
      by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  free_.emplace(offset, size);
  by_size_.emplace(size, offset);
}

bool HbmStack::owns(const void* p) const {
  const auto* b = static_cast<const std::byte*>(p);
  return b >= base_ && b < base_ + capacity_;
}

int64_t HbmStack::size_of_block(const std::byte* p) const {
  const std::lock_guard lock(mutex_);
  const auto block = taken_.find(p - base_);
  return block == taken_.end() ? 0 : block->second;
}

HbmStack::Statistics HbmStack::statistics() const {
  const std::lock_guard lock(mutex_);
  return {.capacity = capacity_,
          .used = used_,
          .peak_used = peak_used_,
          .largest_free = by_size_.empty() ? 0 : by_size_.rbegin()->first,
          .blocks = static_cast<int64_t>(taken_.size()),
          .allocations = allocations_};
}

void HbmStack::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_used_ = used_;
}

void HbmStack::open() {
  const std::lock_guard lock(mutex_);
  if (openers_++ == 0) set_protection(base_, committed_, PROT_READ | PROT_WRITE);
}

void HbmStack::close() {
  const std::lock_guard lock(mutex_);
  if (--openers_ == 0) set_protection(base_, committed_, PROT_NONE);
}

}  // namespace trn
