// nrt.h: tensors.
#include <chrono>
#include <thread>

#include "backend/runtime/nrt_call.h"
#include "backend/runtime/transfer.h"
#include "nrt/nrt.h"

using namespace trn::runtime;

namespace {

// visit(tensor, op) for all, after all were checked.
template <class Check, class Visit>
void for_batches(const nrt_tensor_batch_t* batches, uint64_t n, Check&& check, Visit&& visit) {
  if (n && !batches) fail(NRT_INVALID, "batches is null");
  for (uint64_t i = 0; i < n; ++i) {
    const Tensor& t = tensor(batches[i].tensor);
    if (batches[i].num_ops && !batches[i].ops) fail(NRT_INVALID, "ops is null");
    for (uint32_t j = 0; j < batches[i].num_ops; ++j) check(t, batches[i].ops[j]);
  }
  for (uint64_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < batches[i].num_ops; ++j) visit(tensor(batches[i].tensor), batches[i].ops[j]);
}

void check_op(const Tensor& t, const nrt_tensor_batch_op_t& op) {
  window(t, op.offset, op.size);
  if (!op.buffer && op.size) fail(NRT_INVALID, "a buffer of the batch is null");
}

}  // namespace

extern "C" {

NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size, const char* name,
                               nrt_tensor_t** result) {
  return call(__func__, [&] {
    required(result, "tensor") = nullptr;
    void* made = nullptr;
    switch (placement) {
      case NRT_TENSOR_PLACEMENT_DEVICE: made = allocate_device(core(vnc), size, optional_text(name)); break;
      case NRT_TENSOR_PLACEMENT_HOST: made = allocate_host(size, optional_text(name)); break;
      case NRT_TENSOR_PLACEMENT_VIRTUAL: made = allocate_size_only(size, optional_text(name)); break;
      default: fail(NRT_INVALID, "this is no tensor placement");
    }
    *result = static_cast<nrt_tensor_t*>(made);
  });
}

NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** result) {
  return call(__func__,
              [&] { required(result, "tensor") = static_cast<nrt_tensor_t*>(allocate_empty(optional_text(name))); });
}

NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* t, void* buffer, size_t size) {
  return call(__func__, [&] { attach(tensor(t), buffer, size); });
}

NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* source, size_t offset, size_t size, const char* name,
                                     nrt_tensor_t** slice) {
  return call(__func__, [&] {
    required(slice, "tensor_slice") = nullptr;
    *slice = static_cast<nrt_tensor_t*>(allocate_slice(tensor(source), offset, size, optional_text(name)));
  });
}

void nrt_tensor_free(nrt_tensor_t** t) {
  call(__func__, [&] {
    free_tensor(required(t, "tensor"));
    *t = nullptr;
  });
}

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* t, void* buf, size_t offset, size_t size) {
  return call(__func__, [&] { read(tensor(t), buf, offset, size); });
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t* t, const void* buf, size_t offset, size_t size) {
  return call(__func__, [&] { write(tensor(t), buf, offset, size); });
}

NRT_STATUS nrt_tensor_memset(nrt_tensor_t* t, uint64_t offset, int value, size_t size) {
  return call(__func__, [&] { fill(tensor(t), offset, value, size); });
}

NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* src, size_t src_offset, nrt_tensor_t* dst, size_t dst_offset,
                           size_t size) {
  return call(__func__, [&] { copy(tensor(src), src_offset, tensor(dst), dst_offset, size); });
}

NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches, bool unsafe) {
  return call(__func__, [&] {
    for_batches(batches, num_batches, check_op, [&](const Tensor& t, const nrt_tensor_batch_op_t& op) {
      read(t, op.buffer, op.offset, op.size, unsafe);
    });
  });
}

NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches, bool unsafe) {
  return call(__func__, [&] {
    for_batches(batches, num_batches, check_op,
                [&](Tensor& t, const nrt_tensor_batch_op_t& op) { write(t, op.buffer, op.offset, op.size, unsafe); });
  });
}

size_t nrt_tensor_get_size(const nrt_tensor_t* t) {
  size_t size = 0;
  call(__func__, [&] { size = tensor(t).size; });
  return size;
}

void* nrt_tensor_get_va(const nrt_tensor_t* t) {
  void* va = nullptr;
  call(__func__, [&] { va = tensor(t).data(); });
  return va;
}

NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* handle,
                                                 nrt_tensor_device_allocation_info_t* info) {
  return call(__func__, [&] {
    const Tensor& t = tensor(handle);
    required(info, "alloc_info");
    if (!t.core()) fail(NRT_INVALID, "the tensor is not on a device");
    DeviceMemory& memory = t.core()->memory();
    *info = {memory.physical_address(t.data()), static_cast<size_t>(memory.block_bytes(t.storage->base)),
             memory.place().hbm};
  });
}

// Executions of one tensor are rarely awaited this way, so this looks now and then instead of making every execution
// notify.
NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* handle, int64_t timeout,
                                              uint64_t expected_completion_count) {
  return call(__func__, [&] {
    using std::chrono::microseconds;
    const auto start = std::chrono::steady_clock::now();
    bool warned = false;
    while (tensor(handle).completions.load(std::memory_order_acquire) < expected_completion_count) {
      const auto passed = std::chrono::steady_clock::now() - start;
      if (timeout >= 0 && passed >= microseconds(timeout))
        fail(NRT_TIMEOUT, "the tensor was not written often enough in time");
      if (timeout < 0 && !warned && passed > std::chrono::seconds(30)) {
        log(Level::warn, Component::nrt, "nrt_tensor_check_output_completion", "still waiting after 30 seconds");
        warned = true;
      }
      if (passed < microseconds(50))
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(microseconds(20));
    }
  });
}

NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* t) {
  return call(__func__, [&] { tensor(t).completions = 0; });
}
}
