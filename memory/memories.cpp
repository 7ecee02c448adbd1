#include "memory/memories.h"

#include <sys/mman.h>

#include <cstring>

namespace trn {

namespace {

// An odd number of cache lines: equal offsets of neighbouring partitions fall into different cache sets.
constexpr int64_t kSkew = 3 * 64;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

PartitionedMemory::PartitionedMemory(int partitions, int64_t bytes_per_partition)
    : partitions_(partitions), bytes_per_partition_(bytes_per_partition) {
  if (partitions <= 0 || bytes_per_partition <= 0) throw Error(Fault::internal, "a memory needs partitions and bytes");
  pitch_ = (bytes_per_partition + 63) / 64 * 64 + kSkew;
  mapped_ = (static_cast<size_t>(pitch_) * partitions + kHugePage - 1) / kHugePage * kHugePage;
  void* p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(Fault::unsupported, "this host has no room for an on-chip memory", std::to_string(mapped_) + " bytes");
  madvise(p, mapped_, MADV_HUGEPAGE);
  base_ = static_cast<std::byte*>(p);
  poison();
}

PartitionedMemory::~PartitionedMemory() { munmap(base_, mapped_); }

void PartitionedMemory::poison() { std::memset(base_, 0xFF, static_cast<size_t>(pitch_) * partitions_); }

std::byte* address(const Access& a, const CoreMemory& m) {
  switch (a.space) {
    case Space::sbuf: return m.sbuf->at(a.partition, a.offset);
    case Space::psum: return m.psum->at(a.partition, a.offset);
    case Space::hbm: return m.slots[a.buffer].data() + a.offset;
    case Space::none: break;
  }
  throw Error(Fault::internal, "an absent operand has no address");
}

ptrdiff_t host_step(const Access& a, int i, const CoreMemory& m) {
  if (i > 0 || !a.on_chip()) return ptrdiff_t{a.dims[i].step} * size_of(a.dtype);
  return a.dims[0].step * (a.space == Space::sbuf ? m.sbuf : m.psum)->pitch();
}

}  // namespace trn
