#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

namespace trn::runtime {

// For sections of a few dozen instructions; a waiter lets others run.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

// The objects behind the C API's opaque pointers. A handle is no address but kind (4 bits), generation (28) and index
// (32): null, garbage, freed and foreign handles are all told apart from live ones without touching memory that is not
// ours. Objects are built once and reused, so that a tensor slice costs no allocation; T::reset() makes one blank.
template <class T, unsigned kind>
class HandleTable {
 public:
  static constexpr uint32_t kSlab = 1024, kSlabs = 4096;

  // A blank object and its handle; null when 4 million are live.
  struct Made {
    T* object;
    void* handle;
  };
  Made make() {
    const std::lock_guard lock(lock_);
    if (free_ == kNone && !grow()) return {nullptr, nullptr};
    const uint32_t index = free_;
    Slot& s = at(index);
    free_ = s.next;
    const uint32_t generation = s.generation.load(std::memory_order_relaxed) + 1;  // odd: live
    s.generation.store(generation, std::memory_order_release);
    ++live_;
    return {&s.object, encode(index, generation)};
  }

  // The live object of a handle, or null.
  T* find(const void* handle) const {
    const auto bits = reinterpret_cast<uint64_t>(handle);
    const auto index = static_cast<uint32_t>(bits);
    if (bits >> 60 != kind || index >= count_.load(std::memory_order_acquire)) return nullptr;
    Slot& s = at(index);
    const uint32_t generation = s.generation.load(std::memory_order_acquire);
    return (generation & kGenerations) == (bits >> 32 & kGenerations) && generation & 1 ? &s.object : nullptr;
  }

  // Gives the object to take() for what must outlive it, then makes it blank. False if it was not live; the second of
  // two racing callers gets false. take() runs under the table's lock.
  template <class Take>
  bool release(const void* handle, Take&& take) {
    if (!find(handle)) return false;
    const auto bits = reinterpret_cast<uint64_t>(handle);
    const std::lock_guard lock(lock_);
    Slot& s = at(static_cast<uint32_t>(bits));
    if ((s.generation.load(std::memory_order_relaxed) & kGenerations) != (bits >> 32 & kGenerations)) return false;
    s.generation.fetch_add(1, std::memory_order_acq_rel);
    take(s.object);
    s.object.reset();
    s.next = free_;
    free_ = static_cast<uint32_t>(bits);
    --live_;
    return true;
  }

  bool release(const void* handle) {
    return release(handle, [](T&) {});
  }

  // visit(handle, object) for everything live. For shutdown.
  template <class Visit>
  void for_each_live(Visit&& visit) {
    for (uint32_t i = 0; i < count_.load(std::memory_order_acquire); ++i) {
      Slot& s = at(i);
      const uint32_t generation = s.generation.load(std::memory_order_acquire);
      if (generation & 1) visit(encode(i, generation), s.object);
    }
  }

  size_t live() const { return live_; }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF, kGenerations = (1u << 28) - 1;

  struct Slot {
    std::atomic<uint32_t> generation{0};
    uint32_t next = kNone;
    T object;
  };

  static void* encode(uint32_t index, uint32_t generation) {
    return reinterpret_cast<void*>(uint64_t{kind} << 60 | uint64_t{generation & kGenerations} << 32 | index);
  }
  Slot& at(uint32_t index) const { return slabs_[index / kSlab][index % kSlab]; }

  bool grow() {
    const uint32_t count = count_.load(std::memory_order_relaxed);
    if (count == kSlab * kSlabs) return false;
    auto& slab = slabs_[count / kSlab];
    slab = std::make_unique<Slot[]>(kSlab);
    for (uint32_t i = kSlab; i-- > 0;) {
      slab[i].next = free_;
      free_ = count + i;
    }
    count_.store(count + kSlab, std::memory_order_release);
    return true;
  }

  SpinLock lock_;
  std::array<std::unique_ptr<Slot[]>, kSlabs> slabs_;
  std::atomic<uint32_t> count_{0};
  uint32_t free_ = kNone;
  std::atomic<size_t> live_{0};
};

}  // namespace trn::runtime
