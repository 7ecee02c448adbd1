#include "backend/torch/block_pool.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace trn::torch_backend {
namespace {

uint64_t round_up(uint64_t size, uint64_t step) { return (size + step - 1) / step * step; }

}  // namespace

uint64_t rounded(uint64_t size) {
  if (size >= kClassLimit) return size;
  const uint64_t step = std::max<uint64_t>(kMinBlock, std::bit_floor(std::max<uint64_t>(size, 1)) / 8);
  return round_up(std::max<uint64_t>(size, 1), step);
}

bool BlockPool::BySize::operator()(const Block* a, const Block* b) const {
  if (a->extent != b->extent) return a->extent < b->extent;
  if (a->segment != b->segment) return std::less<>()(a->segment->address, b->segment->address);
  return a->offset < b->offset;
}

Block* BlockPool::new_block() {
  if (spare_.empty()) return &storage_.emplace_back();
  Block* block = spare_.back();
  spare_.pop_back();
  *block = Block{};
  return block;
}

Block* BlockPool::take(uint64_t size) {
  const uint64_t extent = round_up(rounded(size), kMinBlock);
  Segment nowhere;
  Block wanted;
  wanted.segment = &nowhere;
  wanted.extent = extent;
  const auto found = free_.lower_bound(&wanted);
  if (found == free_.end()) return nullptr;

  Block* block = *found;
  free_.erase(found);
  if (block->extent > extent) {
    Block* rest = new_block();
    rest->segment = block->segment;
    rest->offset = block->offset + extent;
    rest->extent = block->extent - extent;
    rest->left = block;
    rest->right = block->right;
    if (rest->right) rest->right->left = rest;
    block->right = rest;
    block->extent = extent;
    free_.insert(rest);
  }
  block->free = false;
  block->requested = size;
  block->counted = rounded(size);
  block->segment->allocated += block->extent;
  return block;
}

void BlockPool::add(std::unique_ptr<Segment> segment) {
  Block* block = new_block();
  block->segment = segment.get();
  block->extent = segment->size;
  segment->first = block;
  segments_.push_back(std::move(segment));
  free_.insert(block);
}

void BlockPool::absorb_right(Block* block) {
  Block* gone = block->right;
  block->extent += gone->extent;
  block->right = gone->right;
  if (block->right) block->right->left = block;
  spare_.push_back(gone);
}

void BlockPool::give_back(Block* block) {
  block->segment->allocated -= block->extent;
  block->free = true;
  block->requested = block->counted = 0;
  if (block->right && block->right->free) {
    free_.erase(block->right);
    absorb_right(block);
  }
  if (block->left && block->left->free) {
    block = block->left;
    free_.erase(block);
    absorb_right(block);
  }
  free_.insert(block);
}

std::vector<std::unique_ptr<Segment>> BlockPool::remove_empty() {
  const auto empty =
      std::stable_partition(segments_.begin(), segments_.end(), [](const auto& s) { return s->allocated != 0; });
  std::vector<std::unique_ptr<Segment>> removed(std::make_move_iterator(empty),
                                                std::make_move_iterator(segments_.end()));
  segments_.erase(empty, segments_.end());
  for (const auto& segment : removed) {  // one free block each: neighbours were joined
    free_.erase(segment->first);
    spare_.push_back(segment->first);
  }
  return removed;
}

}  // namespace trn::torch_backend
