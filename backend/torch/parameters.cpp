#include "backend/torch/parameters.h"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>

#include "backend/torch/queue.h"

namespace trn::torch_backend {
namespace {

constexpr size_t kLine = 64, kLines = 4096;
constexpr size_t kMaxDevices = 128;

// A ring in HBM with its mirror on the host. The queue serves requests in order, so a device line may be rewritten at
// any time; a host line only after the write that reads it is done.
struct Ring {
  std::mutex mutex;
  c10::DataPtr device;
  std::unique_ptr<std::byte[]> host;
  std::array<nrta_seq_t, kLines> last_use{};
  size_t next = 0;
};

Ring& ring(c10::DeviceIndex device) {
  static auto* all = new std::array<Ring, kMaxDevices>;  // outlives tensors that die during exit
  return (*all)[static_cast<size_t>(device)];
}

}  // namespace

Location send_parameters(c10::DeviceIndex device, std::span<const std::byte> bytes, const char* op) {
  TORCH_INTERNAL_ASSERT(bytes.size() <= kParameterBytes);
  Ring& r = ring(device);
  std::lock_guard lock(r.mutex);
  if (!r.host) {
    r.device = allocator()->allocate(kLine * kLines);
    r.host = std::make_unique<std::byte[]>(kLine * kLines);
  }
  const size_t lines = (bytes.size() + kLine - 1) / kLine;
  if (r.next + lines > kLines) r.next = 0;
  const size_t first = r.next;
  r.next += lines;
  if (const nrta_seq_t busy = r.last_use[first + lines - 1]; busy && !is_done(busy)) synchronize(device);
  std::memcpy(r.host.get() + first * kLine, bytes.data(), bytes.size());
  Location to = locate(r.device);
  to.offset += first * kLine;
  const nrta_seq_t seq = enqueue_write(device, to, r.host.get() + first * kLine, bytes.size(), op);
  for (size_t i = first; i < first + lines; ++i) r.last_use[i] = seq;
  return to;
}

}  // namespace trn::torch_backend
