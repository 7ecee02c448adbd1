#pragma once
#include <ATen/core/TensorBase.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <nrt/nrt.h>

#include <cstdint>
#include <vector>

namespace trn::torch_backend {

// A place in device memory as libnrt names it: bytes from the start of a segment that nrt_tensor_allocate gave.
struct Location {
  nrt_tensor_t* segment = nullptr;
  uint64_t offset = 0;
};

// Where a storage starts, and where a tensor's first element is. O(1): the block is the storage's own context.
Location locate(const c10::DataPtr& data);
Location locate(const at::TensorBase& tensor);

// The device that owns an address inside a live segment; -1 if none does.
c10::DeviceIndex device_of(const void* address);

// Caching segment allocator. Segments come from nrt_tensor_allocate: 2 MiB for the small pool (requests below 1 MiB),
// 32 MiB for the large pool (below 16 MiB), the exact size for the rest. Requests below 16 MiB are rounded up to a size
// class (>= 256 bytes, eight to a power of two). A freed block joins its free neighbours at once and may be reused at
// once, since one queue runs all work in order.
c10::DeviceAllocator* allocator();

// A segment and its blocks in address order, for memory snapshots and the fragmentation report.
struct BlockReport {
  uint64_t address, size, requested;
  bool allocated;
};
struct SegmentReport {
  c10::DeviceIndex device;
  bool large;
  uint64_t address, size, allocated;
  std::vector<BlockReport> blocks;
};
std::vector<SegmentReport> segments();

}  // namespace trn::torch_backend
