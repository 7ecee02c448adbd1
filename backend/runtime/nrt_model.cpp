// nrt.h: models, tensor sets, execution.
#include <algorithm>

#include "backend/runtime/clock.h"
#include "backend/runtime/model.h"
#include "backend/runtime/nrt_call.h"
#include "isa/container.h"
#include "nrt/nrt.h"

using namespace trn::runtime;

namespace {

// The first core without a model, else the first.
Core& free_core() {
  const auto& cores = process().cores;
  for (const auto& core : cores) {
    bool used = false;
    models().for_each_live([&](void*, ModelHandle& m) { used |= m.executable && &m.executable->core() == core.get(); });
    if (!used) return *core;
  }
  return *cores.front();
}

void execute(nrt_model_t* handle, const nrt_tensor_set_t* input_set, nrt_tensor_set_t* output_set, int repeat) {
  Executable& e = model(handle);
  if (repeat < 1) fail(NRT_INVALID, "repeat_count must be at least 1");
  Work w{.kind = WorkKind::launch, .value = repeat};
  const int inflight = process().machine.max_inflight;
  w.notifies = inflight > 0;
  w.launch = bind(e, tensor_set(input_set), tensor_set(output_set), current_mode() != Mode::time);
  Core& core = e.core();
  if (!w.notifies) return core.submit_and_wait(w, NRTA_XU_COMPUTE);
  const uint64_t last = core.queue().enqueued();
  if (last >= static_cast<uint64_t>(inflight)) core.queue().wait(last - static_cast<uint64_t>(inflight) + 1);
  core.submit(w, NRTA_XU_COMPUTE);
}

}  // namespace

extern "C" {

NRT_STATUS nrt_load(const void* neff_bytes, size_t size, int32_t vnc, int32_t, nrt_model_t** result) {
  return call(__func__, [&] {
    required(result, "model") = nullptr;
    if (!neff_bytes) fail(NRT_INVALID, "neff_bytes is null");
    if (vnc < -1) fail(NRT_INVALID, "vnc is a core or -1");
    Core& where = vnc == -1 ? free_core() : core(vnc);
    *result =
        static_cast<nrt_model_t*>(load(trn::from_container({static_cast<const std::byte*>(neff_bytes), size}), where));
  });
}

NRT_STATUS nrt_load_collectives(const void* neff_bytes, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count, nrt_model_t** result) {
  if (ctx_device_count == 1 && ctx_device_id == 0) return nrt_load(neff_bytes, size, vnc, vnc_count, result);
  return call(__func__, [] { not_modelled("a collective of several workers"); });
}

NRT_STATUS nrt_unload(nrt_model_t* handle) {
  return call(__func__, [&] { unload(handle); });
}

NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* handle, uint32_t* vnc_count) {
  return call(__func__, [&] {
    model(handle);
    required(vnc_count, "vnc_count") = 1;  // a Program is for one logical core
  });
}
NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* handle, uint32_t* vnc_count) {
  return nrt_get_model_vnc_count(handle, vnc_count);
}

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** result) {
  return call(__func__, [&] {
    required(result, "result") = nullptr;
    const auto made = tensor_sets().make();
    if (!made.object) fail(NRT_RESOURCE, "too many tensor sets");
    *result = made.handle;
  });
}

void nrt_destroy_tensor_set(nrt_tensor_set_t** set) {
  call(__func__, [&] {
    if (!tensor_sets().release(required(set, "tensor_set")))
      fail(NRT_INVALID_HANDLE, "this is no tensor set, or it is destroyed already");
    *set = nullptr;
  });
}

NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* tensor_name, nrt_tensor_t* t) {
  return call(__func__, [&] {
    TensorSet& s = tensor_set(set);
    if (!tensor_name || !*tensor_name) fail(NRT_INVALID, "tensor_name is null or empty");
    tensor(t);
    s.add(tensor_name, t);
  });
}

NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* set, const char* tensor_name, nrt_tensor_t** t) {
  return call(__func__, [&] {
    required(t, "tensor") = nullptr;
    TensorSet& s = tensor_set(set);
    if (!tensor_name) fail(NRT_INVALID, "tensor_name is null");
    const TensorSet::Entry* e = s.find(tensor_name);
    if (!e) fail(NRT_INVALID, std::string("the set has no tensor named ") + tensor_name);
    *t = static_cast<nrt_tensor_t*>(e->tensor);
  });
}

NRT_STATUS nrt_execute(nrt_model_t* handle, const nrt_tensor_set_t* input_set, nrt_tensor_set_t* output_set) {
  return call(__func__, [&] { execute(handle, input_set, output_set, 1); });
}

NRT_STATUS nrt_execute_repeat(nrt_model_t* handle, const nrt_tensor_set_t* input_set, nrt_tensor_set_t* output_set,
                              int repeat_count) {
  return call(__func__, [&] { execute(handle, input_set, output_set, repeat_count); });
}
}
