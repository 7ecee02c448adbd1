#include "backend/torch/host_allocator.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

constexpr size_t kPage = 4096;

struct HostBlock {
  void* data = nullptr;
  size_t size = 0;
  nrta_seq_t busy_until = 0;
};

void free_host(void* context);

class PinnedAllocator final : public at::HostAllocator {
 public:
  at::DataPtr allocate(size_t size) override {
    if (size == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, at::Device(at::kCPU)};
    HostBlock* block = take(std::max(kPage, std::bit_ceil(size)));
    return {block->data, block, &free_host, at::Device(at::kCPU)};
  }

  bool is_simple_data_ptr(const c10::DataPtr& data) const override { return data.get_deleter() == &free_host; }

  void copy_data(void* dst, const void* src, size_t count) const override { default_copy_data(dst, src, count); }

  bool record_event(void* data, void*, c10::Stream stream) override {
    std::lock_guard lock(mutex_);
    HostBlock* block = find(data);
    if (!block) return false;
    block->busy_until = last_work(stream.device_index(), stream.id());
    return true;
  }

  void empty_cache() override {
    std::lock_guard lock(mutex_);
    std::erase_if(free_, [&](const auto& entry) {
      HostBlock* block = entry.second;
      if (block->busy_until && !is_done(block->busy_until)) return false;
      stats_.allocations.decrease(1);
      stats_.allocated_bytes.decrease(block->size);
      ++stats_.num_host_free;
      by_address_.erase(block->data);
      std::free(block->data);
      delete block;
      return true;
    });
  }

  at::HostStats get_stats() override {
    std::lock_guard lock(mutex_);
    return stats_;
  }

  void reset_accumulated_stats() override {
    std::lock_guard lock(mutex_);
    for_each([](auto& stat) { stat.reset_accumulated(); });
    stats_.num_host_alloc = stats_.num_host_free = 0;
  }

  void reset_peak_stats() override {
    std::lock_guard lock(mutex_);
    for_each([](auto& stat) { stat.reset_peak(); });
  }

  void give_back(HostBlock* block) {
    std::lock_guard lock(mutex_);
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(block->size);
    free_.emplace(block->size, block);
  }

  bool owns(const void* pointer) {
    std::lock_guard lock(mutex_);
    return find(pointer) != nullptr;
  }

 private:
  HostBlock* take(size_t size) {
    std::lock_guard lock(mutex_);
    HostBlock* block = nullptr;
    for (auto [at, end] = free_.equal_range(size); at != end; ++at) {
      if (at->second->busy_until && !is_done(at->second->busy_until)) continue;
      block = at->second;
      free_.erase(at);
      break;
    }
    if (!block) {
      void* data = std::aligned_alloc(kPage, size);
      TORCH_CHECK(data, "Failed to allocate ", size, " bytes of pinned host memory");
      block = new HostBlock{data, size, 0};
      by_address_[data] = block;
      stats_.allocations.increase(1);
      stats_.allocated_bytes.increase(size);
      ++stats_.num_host_alloc;
    }
    block->busy_until = 0;
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(size);
    return block;
  }

  HostBlock* find(const void* pointer) {
    auto after = by_address_.upper_bound(pointer);
    if (after == by_address_.begin()) return nullptr;
    HostBlock* block = std::prev(after)->second;
    return pointer < static_cast<char*>(block->data) + block->size ? block : nullptr;
  }

  template <typename F>
  void for_each(F f) {
    for (auto* stat : {&stats_.active_requests, &stats_.active_bytes, &stats_.allocations, &stats_.allocated_bytes})
      f(*stat);
  }

  std::mutex mutex_;
  std::map<const void*, HostBlock*> by_address_;
  std::multimap<size_t, HostBlock*> free_;
  at::HostStats stats_;
};

PinnedAllocator& pinned() {
  static auto* allocator = new PinnedAllocator;  // outlives tensors that die during exit
  return *allocator;
}

void free_host(void* context) { pinned().give_back(static_cast<HostBlock*>(context)); }

const at::HostAllocatorRegistry<kNeuron> registered(&pinned());

}  // namespace

at::HostAllocator* host_allocator() { return &pinned(); }
bool is_pinned(const void* pointer) { return pinned().owns(pointer); }

}  // namespace trn::torch_backend
