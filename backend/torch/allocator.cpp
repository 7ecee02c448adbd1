#include "backend/torch/allocator.h"

#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "backend/torch/block_pool.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using c10::CachingDeviceAllocator::DeviceStats;

constexpr int kMaxDevices = 128;

void increase(StatArray& stat, bool large, uint64_t amount) {
  stat[static_cast<size_t>(StatType::AGGREGATE)].increase(amount);
  stat[static_cast<size_t>(large ? StatType::LARGE_POOL : StatType::SMALL_POOL)].increase(amount);
}

void decrease(StatArray& stat, bool large, uint64_t amount) {
  stat[static_cast<size_t>(StatType::AGGREGATE)].decrease(amount);
  stat[static_cast<size_t>(large ? StatType::LARGE_POOL : StatType::SMALL_POOL)].decrease(amount);
}

template <typename F>
void for_each_stat(DeviceStats& s, F f) {
  for (StatArray* array : {&s.allocation, &s.segment, &s.active, &s.inactive_split, &s.allocated_bytes,
                           &s.reserved_bytes, &s.active_bytes, &s.inactive_split_bytes, &s.requested_bytes})
    for (auto& stat : *array) f(stat);
}

std::string gibibytes(uint64_t bytes) {
  char text[32];
  if (bytes < (1ull << 30)) {
    std::snprintf(text, sizeof text, "%.2f MiB", static_cast<double>(bytes) / (1 << 20));
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  }
  return text;
}

uint64_t segment_size(uint64_t request) {
  if (request < kSmallRequest) return kSmallSegment;
  if (request < kClassLimit) return kLargeSegment;
  return (request + kMinBlock - 1) / kMinBlock * kMinBlock;
}

// Live segments by address, for pointers that come without their block.
struct AddressMap {
  std::shared_mutex mutex;
  std::map<uint64_t, Segment*> by_address;

  Segment* find(const void* pointer) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    std::shared_lock lock(mutex);
    auto after = by_address.upper_bound(address);
    if (after == by_address.begin()) return nullptr;
    Segment* segment = std::prev(after)->second;
    return address < segment->address + segment->size ? segment : nullptr;
  }
};

AddressMap& addresses() {
  static auto* map = new AddressMap;  // outlives tensors that die during exit
  return *map;
}

// One device's pools and statistics.
class DevicePools {
 public:
  Block* allocate(c10::DeviceIndex device, uint64_t size) {
    std::unique_lock lock(mutex_);
    const bool large = size >= kSmallRequest;
    BlockPool& pool = pools_[large];
    Block* block = pool.take(size);
    if (!block) {
      grow(device, size, large, lock);
      block = pool.take(size);
      TORCH_INTERNAL_ASSERT(block);
    }
    increase(stats_.allocation, large, 1);
    increase(stats_.active, large, 1);
    increase(stats_.allocated_bytes, large, block->counted);
    increase(stats_.active_bytes, large, block->counted);
    increase(stats_.requested_bytes, large, block->requested);
    return block;
  }

  void free(Block* block) {
    std::lock_guard lock(mutex_);
    const bool large = block->segment->large;
    decrease(stats_.allocation, large, 1);
    decrease(stats_.active, large, 1);
    decrease(stats_.allocated_bytes, large, block->counted);
    decrease(stats_.active_bytes, large, block->counted);
    decrease(stats_.requested_bytes, large, block->requested);
    pools_[large].give_back(block);
  }

  void empty_cache(c10::DeviceIndex device) {
    if (!runtime_usable()) return;
    settle(device);  // queued work may still use the segments that are about to go
    std::lock_guard lock(mutex_);
    release_empty();
  }

  DeviceStats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_peak() {
    std::lock_guard lock(mutex_);
    for_each_stat(stats_, [](auto& stat) { stat.reset_peak(); });
  }

  void reset_accumulated() {
    std::lock_guard lock(mutex_);
    for_each_stat(stats_, [](auto& stat) { stat.reset_accumulated(); });
    stats_.num_alloc_retries = stats_.num_ooms = stats_.num_sync_all_streams = 0;
    stats_.num_device_alloc = stats_.num_device_free = 0;
  }

  void report(std::vector<SegmentReport>& out) {
    std::lock_guard lock(mutex_);
    for (const auto& pool : pools_)
      for (const auto& s : pool.segments()) {
        SegmentReport& segment =
            out.emplace_back(static_cast<c10::DeviceIndex>(s->device), s->large, s->address, s->size, s->allocated);
        for (const Block* b = s->first; b; b = b->right)
          segment.blocks.push_back({s->address + b->offset, b->extent, b->requested, !b->free});
      }
  }

 private:
  void grow(c10::DeviceIndex device, uint64_t size, bool large, std::unique_lock<std::mutex>& lock) {
    auto segment = std::make_unique<Segment>();
    segment->device = static_cast<int8_t>(device);
    segment->large = large;
    segment->size = segment_size(size);
    NRT_STATUS status = try_allocate(*segment);
    if (status == NRT_RESOURCE) {
      ++stats_.num_alloc_retries;
      lock.unlock();
      settle(device);
      lock.lock();
      release_empty();
      segment->size = segment_size(size);
      status = try_allocate(*segment);
      if (status == NRT_RESOURCE && size < kClassLimit) {  // the last bytes of a device: no room for a whole segment
        segment->size = (rounded(size) + kMinBlock - 1) / kMinBlock * kMinBlock;
        status = try_allocate(*segment);
      }
    }
    if (status == NRT_RESOURCE) throw_out_of_memory(device, size);
    check(status, "nrt_tensor_allocate");

    segment->address = reinterpret_cast<uint64_t>(nrt_tensor_get_va(segment->tensor));
    ++stats_.num_device_alloc;
    increase(stats_.segment, large, 1);
    increase(stats_.reserved_bytes, large, segment->size);
    {
      std::lock_guard map_lock(addresses().mutex);
      addresses().by_address[segment->address] = segment.get();
    }
    pools_[large].add(std::move(segment));
  }

  static NRT_STATUS try_allocate(Segment& segment) {
    return nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, segment.device, segment.size, "torch segment",
                               &segment.tensor);
  }

  void release_empty() {
    for (const bool large : {false, true}) {
      for (const auto& segment : pools_[large].remove_empty()) {
        {
          std::lock_guard map_lock(addresses().mutex);
          addresses().by_address.erase(segment->address);
        }
        decrease(stats_.segment, large, 1);
        decrease(stats_.reserved_bytes, large, segment->size);
        ++stats_.num_device_free;
        nrt_tensor_free(&segment->tensor);
      }
    }
  }

  // The words that users' scripts look for in the real runtime's log and exception.
  [[noreturn]] void throw_out_of_memory(c10::DeviceIndex device, uint64_t size) {
    ++stats_.num_ooms;
    const auto [free, total] = memory_info(device);
    const auto held = [](const StatArray& s) { return gibibytes(static_cast<uint64_t>(s[0].current)); };
    c10::reportOutOfMemoryToProfiler(static_cast<int64_t>(size), stats_.allocated_bytes[0].current,
                                     stats_.reserved_bytes[0].current, c10::Device(kNeuron, device));
    TORCH_CHECK_WITH(OutOfMemoryError, false, "neuron:", static_cast<int>(device),
                     " out of memory (OOM): dmem_alloc_internal: Failed to allocate ", gibibytes(size),
                     " (nrt_tensor_allocate status=4). The logical core has ", gibibytes(total), ", ", gibibytes(free),
                     " of it free; this process holds ", held(stats_.allocated_bytes), " in tensors and ",
                     held(stats_.reserved_bytes), " in segments.");
  }

 public:
  static std::pair<size_t, size_t> memory_info(c10::DeviceIndex device) {
    nrt_vnc_memory_stats_t stats{};
    size_t written = 0;
    check(nrt_get_vnc_memory_stats(static_cast<uint32_t>(device), &stats, sizeof stats, &written),
          "nrt_get_vnc_memory_stats");
    return {stats.bytes_limit - std::min(stats.bytes_used, stats.bytes_limit), stats.bytes_limit};
  }

 private:
  std::mutex mutex_;
  std::array<BlockPool, 2> pools_;  // small, large
  DeviceStats stats_;
};

DevicePools& pools(c10::DeviceIndex device) {
  static auto* all = new std::array<DevicePools, kMaxDevices>;  // outlives tensors that die during exit
  return (*all)[static_cast<size_t>(device)];
}

void free_block(void* context) {
  auto* block = static_cast<Block*>(context);
  pools(block->segment->device).free(block);
}

class NeuronAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t size) override {
    const c10::DeviceIndex device = current_device();
    if (size == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, c10::Device(kNeuron, device)};
    ensure_runtime();
    Block* block = pools(checked(device)).allocate(device, size);
    auto* data = reinterpret_cast<void*>(block->segment->address + block->offset);
    return {data, block, &free_block, c10::Device(kNeuron, device)};
  }

  bool is_simple_data_ptr(const c10::DataPtr& data) const override { return data.get_deleter() == &free_block; }

  void copy_data(void* dst, const void* src, size_t count) const override {
    Segment *to = addresses().find(dst), *from = addresses().find(src);
    TORCH_CHECK(to && from && to->device == from->device, "copy_data: not two blocks of one neuron device");
    enqueue_copy(to->device, {to->tensor, reinterpret_cast<uint64_t>(dst) - to->address},
                 {from->tensor, reinterpret_cast<uint64_t>(src) - from->address}, count, "copy_data");
  }

  bool initialized() override { return runtime_usable(); }

  void emptyCache(c10::MempoolId_t) override {
    for (c10::DeviceIndex d = 0; d < device_count(); ++d) pools(d).empty_cache(d);
  }

  // One queue serves all streams in submission order, so no reuse can overtake the work of another stream.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}

  DeviceStats getDeviceStats(c10::DeviceIndex device) override { return pools(checked(device)).stats(); }
  void resetAccumulatedStats(c10::DeviceIndex device) override { pools(checked(device)).reset_accumulated(); }
  void resetPeakStats(c10::DeviceIndex device) override { pools(checked(device)).reset_peak(); }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    ensure_runtime();
    return DevicePools::memory_info(checked(device));
  }
};

NeuronAllocator neuron_allocator;
const c10::AllocatorRegisterer<kNeuron> registered(&neuron_allocator);

}  // namespace

c10::DeviceAllocator* allocator() { return &neuron_allocator; }

Location locate(const c10::DataPtr& data) {
  if (data.get_deleter() == &free_block) {
    const auto* block = static_cast<const Block*>(data.get_context());
    return {block->segment->tensor, block->offset};
  }
  if (!data.get()) return {};
  const Segment* segment = addresses().find(data.get());  // a storage that wraps another's memory
  TORCH_CHECK(segment, "this storage's memory does not belong to a neuron device");
  return {segment->tensor, reinterpret_cast<uint64_t>(data.get()) - segment->address};
}

Location locate(const at::TensorBase& tensor) {
  Location at = locate(tensor.storage().data_ptr());
  at.offset += static_cast<uint64_t>(tensor.storage_offset()) * tensor.element_size();
  return at;
}

c10::DeviceIndex device_of(const void* address) {
  const Segment* segment = addresses().find(address);
  return segment ? static_cast<c10::DeviceIndex>(segment->device) : c10::DeviceIndex(-1);
}

std::vector<SegmentReport> segments() {
  std::vector<SegmentReport> out;
  for (c10::DeviceIndex d = 0; d < device_count(); ++d) pools(d).report(out);
  return out;
}

}  // namespace trn::torch_backend
