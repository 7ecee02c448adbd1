#pragma once
#include <cstddef>
#include <span>

#include "backend/torch/allocator.h"

namespace trn::torch_backend {

// Bytes of one launch's run-time parameters at most.
constexpr size_t kParameterBytes = 16 << 10;

// Sends `bytes` to a place in HBM that stays as it is until the work queued next has read it. Step sizes, positions and
// seeds travel this way, so that a changed number is not a new Program.
Location send_parameters(c10::DeviceIndex device, std::span<const std::byte> bytes, const char* op);

}  // namespace trn::torch_backend
