#pragma once
#include <ATen/core/CachingHostAllocator.h>

namespace trn::torch_backend {

// Pinned host memory: page-aligned blocks kept for reuse. A freed block waits for the device work that record_event saw
// on it.
at::HostAllocator* host_allocator();
bool is_pinned(const void* pointer);

}  // namespace trn::torch_backend
