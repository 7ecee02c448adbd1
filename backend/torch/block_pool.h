#pragma once
#include <nrt/nrt.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace trn::torch_backend {

// Requests below kSmallRequest come from 2 MiB segments, below kClassLimit from 32 MiB ones; larger get a segment of
// their own size.
constexpr uint64_t kSmallRequest = 1ull << 20;
constexpr uint64_t kClassLimit = 16ull << 20;
constexpr uint64_t kMinBlock = 256;
constexpr uint64_t kSmallSegment = 2ull << 20;
constexpr uint64_t kLargeSegment = 32ull << 20;

// The size class of a request: a multiple of 256 bytes, at most an eighth above it; itself from 16 MiB on.
uint64_t rounded(uint64_t size);

struct Segment;

// A stretch of a segment, linked to its neighbours.
struct Block {
  Segment* segment = nullptr;
  uint64_t offset = 0, extent = 0;      // bytes in the segment
  uint64_t counted = 0, requested = 0;  // bytes in the statistics; 0 while free
  Block *left = nullptr, *right = nullptr;
  bool free = true;
};

struct Segment {
  nrt_tensor_t* tensor = nullptr;
  int8_t device = 0;
  bool large = false;
  uint64_t address = 0, size = 0, allocated = 0;
  Block* first = nullptr;
};

// The segments of one device and pool. Not synchronised.
class BlockPool {
 public:
  Block* take(uint64_t size);  // best fit, split; nullptr if no free block is large enough
  void add(std::unique_ptr<Segment> segment);
  void give_back(Block* block);  // joins free neighbours
  std::vector<std::unique_ptr<Segment>> remove_empty();
  const std::vector<std::unique_ptr<Segment>>& segments() const { return segments_; }

 private:
  struct BySize {
    bool operator()(const Block* a, const Block* b) const;
  };
  Block* new_block();
  void absorb_right(Block* block);

  std::vector<std::unique_ptr<Segment>> segments_;
  std::set<Block*, BySize> free_;
  std::deque<Block> storage_;  // stable addresses; `spare_` are those not in use
  std::vector<Block*> spare_;
};

}  // namespace trn::torch_backend
