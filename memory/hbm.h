#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "memory/error.h"

namespace trn {

// One stack of HBM, shared by two cores: address space reserved on the host at once, made usable as blocks need it;
// pages appear when they are touched. Blocks are aligned to `kAlignment`. Best fit, lowest address among equals,
// neighbours merge on free; the same calls give the same addresses. All members may be called from any thread.
class HbmStack {
 public:
  static constexpr int64_t kAlignment = 512;

  struct Statistics {
    int64_t capacity = 0, used = 0, peak_used = 0;
    int64_t largest_free = 0;  // bytes of the largest block that would fit now
    int64_t blocks = 0, allocations = 0;
  };

  // Throws trn::Error(unsupported) if the host cannot reserve the address space.
  explicit HbmStack(int64_t capacity);
  ~HbmStack();
  HbmStack(const HbmStack&) = delete;
  HbmStack& operator=(const HbmStack&) = delete;

  // `bytes` >= 0; zero bytes still get an address of their own. Null when no free block is large enough, or
  // when the host refuses the memory (ulimit -d): then statistics().largest_free would have sufficed.
  std::byte* allocate(int64_t bytes);
  // Throws trn::Error(illegal) if `p` is not the start of an allocated block.
  void free(std::byte* p);

  bool owns(const void* p) const;
  int64_t size_of_block(const std::byte* p) const;  // rounded up to the alignment; 0 if `p` is not the start of a block
  Statistics statistics() const;
  void reset_peak();

  // Debug mode: TRNSIM_PROTECT=1 when the stack is made. Host code that touches the memory outside an HbmAccess crashes
  // at once.
  bool is_protected() const { return protected_; }

 private:
  friend class HbmAccess;
  bool commit(int64_t end);  // bytes [0, end) become usable; false if the host refuses
  void open();
  void close();

  mutable std::mutex mutex_;
  std::byte* base_;
  int64_t capacity_;
  int64_t committed_ = 0;  // usable from the start
  bool protected_;
  int openers_ = 0;
  int64_t used_ = 0, peak_used_ = 0, allocations_ = 0;
  std::map<int64_t, int64_t> free_;                // offset -> bytes
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset) of the same blocks
  std::map<int64_t, int64_t> taken_;               // offset -> bytes
};

// While one of these lives, engines and DMA may touch the stack's bytes. Costs nothing unless the stack is protected.
// Nests, also across threads.
class HbmAccess {
 public:
  explicit HbmAccess(HbmStack& stack) : stack_(stack) {
    if (stack_.is_protected()) stack_.open();
  }
  ~HbmAccess() {
    if (stack_.is_protected()) stack_.close();
  }
  HbmAccess(const HbmAccess&) = delete;
  HbmAccess& operator=(const HbmAccess&) = delete;

 private:
  HbmStack& stack_;
};

}  // namespace trn
