#include "backend/runtime/transfer.h"

#include <cstring>

#include "backend/runtime/clock.h"
#include "backend/runtime/process.h"
#include "backend/runtime/record.h"

namespace trn::runtime {
namespace {

void check_buffer(const void* buffer, uint64_t size) {
  if (!buffer && size) fail(NRT_INVALID, "the buffer is null");
}

// Queued work may use host tensors of any core.
void settle(const Tensor& t) {
  if (Core* core = t.core()) return core->synchronise();
  for (const auto& core : process().cores) core->synchronise();
}

// memcpy between host and a tensor, with its cost on the host's clock.
void transfer(const Tensor& t, void* to, const void* from, uint64_t size, HostWork work) {
  Core* core = t.core();
  if (!core) {
    std::memmove(to, from, size);
    return;
  }
  {
    const HbmAccess access(core->memory().stack());
    std::memcpy(to, from, size);
  }
  (work == HostWork::copy_to_device ? counters().bytes_to_device : counters().bytes_to_host) += size;
  if (current_mode() == Mode::function) return;
  const double start = host_clock().now();
  host_clock().advance(core->host_copy_ns(size));
  recorder().add(HostRecord{work, core->index(), current_origin(), start, start + core->host_copy_ns(size),
                            static_cast<int64_t>(size)});
}

Core& core_for(const Tensor& t) { return t.core() ? *t.core() : core(0); }

}  // namespace

void read(const Tensor& t, void* to, uint64_t offset, uint64_t size, bool unsafe) {
  check_buffer(to, size);
  const std::byte* from = window(t, offset, size);
  if (!unsafe) settle(t);
  if (size) transfer(t, to, from, size, HostWork::copy_from_device);
}

void write(Tensor& t, const void* from, uint64_t offset, uint64_t size, bool unsafe) {
  check_buffer(from, size);
  std::byte* to = window(t, offset, size);
  if (!unsafe) settle(t);
  if (size) transfer(t, to, from, size, HostWork::copy_to_device);
}

void fill(Tensor& t, uint64_t offset, int value, uint64_t size) {
  const Planned p = plan_fill(t, offset, value, size);
  p.core.submit_and_wait(p.work, p.unit);
}

void copy(const Tensor& from, uint64_t from_offset, Tensor& to, uint64_t to_offset, uint64_t size) {
  const Planned p = plan_copy(from, from_offset, to, to_offset, size);
  p.core.submit_and_wait(p.work, p.unit);
}

Planned plan_read(const Tensor& t, void* to, uint64_t offset, uint64_t size) {
  check_buffer(to, size);
  return {
      core_for(t), NRTA_XU_TENSOR_READ,
      Work{.kind = WorkKind::read, .to = static_cast<std::byte*>(to), .from = window(t, offset, size), .bytes = size}};
}

Planned plan_write(Tensor& t, const void* from, uint64_t offset, uint64_t size) {
  check_buffer(from, size);
  return {core_for(t), NRTA_XU_TENSOR_WRITE,
          Work{.kind = WorkKind::write,
               .to = window(t, offset, size),
               .from = static_cast<const std::byte*>(from),
               .bytes = size}};
}

Planned plan_fill(Tensor& t, uint64_t offset, int value, uint64_t size) {
  return {core_for(t), NRTA_XU_TENSOR_OP,
          Work{.kind = WorkKind::fill, .value = value, .to = window(t, offset, size), .bytes = size}};
}

Planned plan_copy(const Tensor& from, uint64_t from_offset, Tensor& to, uint64_t to_offset, uint64_t size) {
  if (from.core() && to.core() && from.core() != to.core())
    fail(NRT_INVALID, "tensors of core " + std::to_string(from.core()->index()) + " and core " +
                          std::to_string(to.core()->index()) + " cannot be copied directly");
  const bool reads_device = from.core(), writes_device = to.core();
  Work w{.kind = reads_device == writes_device ? WorkKind::copy
                 : reads_device                ? WorkKind::read
                                               : WorkKind::write,
         .to = window(to, to_offset, size),
         .from = window(from, from_offset, size),
         .bytes = size};
  return {core_for(reads_device ? from : to), NRTA_XU_TENSOR_OP, w};
}

}  // namespace trn::runtime
