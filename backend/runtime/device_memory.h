#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "memory/hbm.h"

namespace trn::runtime {

// What HBM is used for: the columns of the runtime's usage table (Neuron docs: device-memory).
enum class Usage : unsigned char {
  model_code,
  model_constants,
  tensors,
  shared_scratchpad,
  scratchpad,
  runtime,
  dma_rings_io,
  dma_rings_spill,
  dma_rings_collectives,
  dma_rings_runtime,
  collectives,
  profiler_buffers,
};
inline constexpr size_t kUsages = 12;

// The HBM of one logical core: its share of a stack, with the micro-code of its physical cores already in it.
class DeviceMemory {
 public:
  // Where a core is, for messages and addresses.
  struct Place {
    int device, core, hbm;  // chip; logical core; stack of the chip
  };
  // Bytes: what the machine has, and what may be used (more, to study what does not fit).
  struct Capacity {
    int64_t own, usable;
  };
  DeviceMemory(Capacity capacity, int physical_cores, Place place);

  // The first use of more than the machine's own capacity is logged. Throws StatusError (NRT_RESOURCE) with the text
  // that users of the Neuron runtime search for, after logging who uses what.
  std::byte* allocate(int64_t bytes, Usage usage, std::string_view name);
  void free(std::byte* at, Usage usage);
  bool fits(int64_t bytes) { return stack().statistics().largest_free >= bytes; }

  HbmStack& stack();
  int64_t used() const;
  int64_t capacity() const { return capacity_.usable; }
  int64_t used_for(Usage u) const { return usage_[static_cast<size_t>(u)]; }
  int64_t block_bytes(const std::byte* at) { return stack().size_of_block(at); }
  uint64_t physical_address(const std::byte* at);
  const Place& place() const { return place_; }

 private:
  [[noreturn]] void out_of_memory(int64_t bytes, Usage usage, std::string_view name);
  std::string table() const;
  void log_exceeded();

  Capacity capacity_;
  int64_t microcode_;
  Place place_;
  std::once_flag made_, exceeded_;
  std::unique_ptr<HbmStack> stack_;  // address space is reserved at the first use
  std::byte* base_ = nullptr;
  std::array<std::atomic<int64_t>, kUsages> usage_{};
};

}  // namespace trn::runtime
