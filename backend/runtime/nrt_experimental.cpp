// nrt_experimental.h, and the communicators of nrt.h.
#include "nrt/nrt_experimental.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backend/runtime/model.h"
#include "backend/runtime/nrt_call.h"

using namespace trn::runtime;

namespace {

constexpr bool is_read(trn::SlotUse u) { return u != trn::SlotUse::output; }
constexpr bool is_written(trn::SlotUse u) { return u != trn::SlotUse::input; }

// One block: the array, then all shapes.
nrt_tensor_info_array_t* tensor_info(const Executable& e) {
  const trn::Program& p = e.program();
  size_t count = 0, dims = 0;
  for (const Executable::Bound& b : e.bound()) {
    const size_t uses = (is_read(b.use) ? 1 : 0) + (is_written(b.use) ? 1 : 0);
    count += uses;
    dims += uses * p.slots[b.slot].shape.size();
  }
  const size_t head =
      offsetof(nrt_tensor_info_array_t, tensor_array) + std::max<size_t>(count, 1) * sizeof(nrt_tensor_info_t);
  auto* array = static_cast<nrt_tensor_info_array_t*>(std::calloc(1, head + dims * sizeof(uint32_t)));
  if (!array) throw std::bad_alloc();
  array->tensor_count = count;
  auto* info = array->tensor_array;
  auto* shape = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(array) + head);
  const auto add = [&](const Executable::Bound& b, nrt_tensor_usage_t usage) {
    const trn::Slot& s = p.slots[b.slot];
    s.name.copy(info->name, NRT_TENSOR_NAME_MAX - 1);
    info->usage = usage;
    info->size = static_cast<size_t>(b.bytes);
    info->dtype = static_cast<nrt_dtype_t>(trn::info(s.dtype).nrt_code);
    info->shape = shape;
    info->ndim = static_cast<uint32_t>(s.shape.size());
    for (const int64_t n : s.shape) *shape++ = static_cast<uint32_t>(n);
    ++info;
  };
  for (const Executable::Bound& b : e.bound())
    if (is_read(b.use)) add(b, NRT_TENSOR_USAGE_INPUT);
  for (const Executable::Bound& b : e.bound())
    if (is_written(b.use)) add(b, NRT_TENSOR_USAGE_OUTPUT);
  return array;
}

// One worker needs nobody else.
void only_one_worker(int32_t vnc, uint32_t id, uint32_t count) {
  core(vnc);
  if (id >= count) fail(NRT_INVALID, "the worker's id is not below the number of workers");
  if (count > 1) not_modelled("a collective of several workers");
}

}  // namespace

extern "C" {

NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* handle, nrt_tensor_info_array_t** info) {
  return call(__func__, [&] {
    required(info, "tensor_info") = nullptr;
    *info = tensor_info(model(handle));
  });
}

NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* info) {
  return call_any_time(__func__, [&] { std::free(&required(info, "tensor_info")); });
}

NRT_STATUS nrt_get_model_instance_count(nrt_model_t* handle, uint32_t* instance_count) {
  return call(__func__, [&] {
    model(handle);
    required(instance_count, "instance_count") = 1;
  });
}

NRT_STATUS nrt_get_model_info(const nrt_model_t* handle, nrt_model_info_t* info, size_t info_size_in,
                              size_t* info_size_out) {
  return call(__func__, [&] {
    const nrt_model_info_t i{static_cast<uint32_t>(model(handle).core().index())};
    const size_t size = std::min(info_size_in, sizeof i);
    std::memcpy(&required(info, "info"), &i, size);
    if (info_size_out) *info_size_out = size;
  });
}

NRT_STATUS nrt_memcpy_to_device(void* dest, const void* src, size_t size) {
  return call(__func__, [&] {
    if (size == 0) return;
    required(static_cast<char*>(dest), "dest");
    required(static_cast<const char*>(src), "src");
    for (const auto& core : process().cores) {
      DeviceMemory& memory = core->memory();
      if (!memory.stack().owns(dest)) continue;
      if (!memory.stack().owns(static_cast<char*>(dest) + size - 1))
        fail(NRT_INVALID, "the copy ends outside device memory");
      const trn::HbmAccess access(memory.stack());
      std::memcpy(dest, src, size);
      return;
    }
    fail(NRT_INVALID, "dest is not in device memory of this process");
  });
}

NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params) {
  return call(__func__, [&] {
    Process& p = process();
    const std::lock_guard lock(p.callback_mutex);
    p.callback = {callback, params};
  });
}

NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc) {
  return call(__func__, [&] { core(vnc).synchronise(); });
}

NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return call(__func__, [&] { only_one_worker(vnc, g_device_id, g_device_count); });
}

NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count, uint32_t rank_input_size,
                          void* input, void* output) {
  return call(__func__, [&] {
    only_one_worker(vnc, g_device_id, g_device_count);
    if (rank_input_size == 0) return;
    std::memmove(&required(static_cast<char*>(output), "output"), &required(static_cast<char*>(input), "input"),
                 rank_input_size);
  });
}

NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return call(__func__, [&] { only_one_worker(vnc, g_device_id, g_device_count); });
}

NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count) {
  return call(__func__, [&] { only_one_worker(static_cast<int32_t>(vnc), g_device_id, g_device_count); });
}

NRT_STATUS nrt_trace_start(bool) {
  return call_any_time(__func__, [] { not_modelled("tracing through this interface"); });
}
NRT_STATUS nrt_trace_stop(const char*) {
  return call_any_time(__func__, [] { not_modelled("tracing through this interface"); });
}
NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info*) {
  return call_any_time(__func__, [] { not_modelled("micro-code of the GpSimd engine"); });
}

void* nrt_get_libnccl_net(int* err, char* err_msg, size_t err_msg_size) {
  constexpr std::string_view text = "libnccl-net is not in this version of the simulator";
  if (err) *err = 1;
  if (err_msg && err_msg_size) err_msg[text.copy(err_msg, err_msg_size - 1)] = 0;
  return nullptr;
}
}
