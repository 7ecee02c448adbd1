#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "memory/access.h"
#include "memory/error.h"

namespace trn {

// 128 partitions of equal size, as in SBUF and PSUM. Rows are skewed on the host so that equal offsets of different
// partitions do not share cache sets. Fresh memory is poisoned: 0xFF bytes, which read as NaN in every float dtype.
class PartitionedMemory {
 public:
  PartitionedMemory(int partitions, int64_t bytes_per_partition);
  ~PartitionedMemory();
  PartitionedMemory(const PartitionedMemory&) = delete;
  PartitionedMemory& operator=(const PartitionedMemory&) = delete;

  std::byte* at(int partition, int64_t offset) const { return base_ + partition * pitch_ + offset; }
  int64_t pitch() const { return pitch_; }  // host bytes between partitions
  int partitions() const { return partitions_; }
  int64_t bytes_per_partition() const { return bytes_per_partition_; }
  void poison();

 private:
  int partitions_;
  int64_t bytes_per_partition_;
  int64_t pitch_;
  std::byte* base_;
  size_t mapped_;
};

struct EngineState;  // isa/engine_state.h

// What one physical core's instructions can reach while a Program runs: its SBUF and PSUM, the HBM slots bound for
// this run, and what its engines remember between instructions.
struct CoreMemory {
  PartitionedMemory* sbuf = nullptr;
  PartitionedMemory* psum = nullptr;
  std::span<const std::span<std::byte>> slots;  // by slot number; size = bytes bound
  EngineState* engines = nullptr;
};

// Host address of the first element of `a`.
std::byte* address(const Access& a, const CoreMemory& m);

// Host distance in bytes of one step of dims[i] of `a`.
ptrdiff_t host_step(const Access& a, int i, const CoreMemory& m);

}  // namespace trn
