#pragma once
#include <c10/core/Stream.h>
#include <nrt/nrt_async.h>

namespace trn::torch_backend {

// Streams of a device: 0 is the default one, 1..32 come from the pool in turn, 33..64 from the high-priority pool. They
// order work for the program's sake; the core has one compute queue and runs everything in submission order.
constexpr int kStreamsPerPool = 32;
constexpr int kStreams = 1 + 2 * kStreamsPerPool;

c10::Stream default_stream(c10::DeviceIndex device);
c10::Stream current_stream(c10::DeviceIndex device);
c10::Stream next_stream(c10::DeviceIndex device, bool high_priority);
c10::Stream exchange_stream(c10::Stream stream);  // the calling thread's; returns the one before

}  // namespace trn::torch_backend
