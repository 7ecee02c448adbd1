#include "backend/torch/stream.h"

#include <array>
#include <atomic>

#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

constexpr size_t kMaxDevices = 128;
thread_local std::array<c10::StreamId, kMaxDevices> thread_stream{};

c10::Stream stream_of(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(kNeuron, device), id);
}

}  // namespace

c10::Stream default_stream(c10::DeviceIndex device) { return stream_of(checked(device), 0); }

c10::Stream current_stream(c10::DeviceIndex device) {
  device = checked(device);
  return stream_of(device, thread_stream[static_cast<size_t>(device)]);
}

c10::Stream next_stream(c10::DeviceIndex device, bool high_priority) {
  static std::array<std::array<std::atomic<unsigned>, 2>, kMaxDevices> turn{};
  device = checked(device);
  const unsigned n = turn[static_cast<size_t>(device)][high_priority].fetch_add(1) % kStreamsPerPool;
  return stream_of(device, 1 + static_cast<c10::StreamId>(n) + (high_priority ? kStreamsPerPool : 0));
}

c10::Stream exchange_stream(c10::Stream stream) {
  TORCH_CHECK(stream.device_type() == kNeuron && stream.id() >= 0 && stream.id() < kStreams,
              "not a neuron stream: ", stream);
  const c10::Stream before = current_stream(stream.device_index());
  thread_stream[static_cast<size_t>(stream.device_index())] = stream.id();
  return before;
}

}  // namespace trn::torch_backend
