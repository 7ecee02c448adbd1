// nrt.h, nrt_version.h, nrt_status.h: process and machine.
#include "nrt/nrt.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backend/runtime/nrt_call.h"
#include "nrt/nrt_version.h"

using namespace trn::runtime;

namespace {

struct StatusName {
  NRT_STATUS status;
  const char* name;
};
constexpr std::array kStatusNames = std::to_array<StatusName>({
    {NRT_SUCCESS, "NRT_SUCCESS"},
    {NRT_FAILURE, "NRT_FAILURE"},
    {NRT_INVALID, "NRT_INVALID"},
    {NRT_INVALID_HANDLE, "NRT_INVALID_HANDLE"},
    {NRT_RESOURCE, "NRT_RESOURCE"},
    {NRT_TIMEOUT, "NRT_TIMEOUT"},
    {NRT_HW_ERROR, "NRT_HW_ERROR"},
    {NRT_QUEUE_FULL, "NRT_QUEUE_FULL"},
    {NRT_LOAD_NOT_ENOUGH_NC, "NRT_LOAD_NOT_ENOUGH_NC"},
    {NRT_UNSUPPORTED_NEFF_VERSION, "NRT_UNSUPPORTED_NEFF_VERSION"},
    {NRT_FAIL_HOST_MEM_ALLOC, "NRT_FAIL_HOST_MEM_ALLOC"},
    {NRT_UNINITIALIZED, "NRT_UNINITIALIZED"},
    {NRT_CLOSED, "NRT_CLOSED"},
    {NRT_QUEUE_EMPTY, "NRT_QUEUE_EMPTY"},
    {NRT_EXEC_UNIT_UNRECOVERABLE, "NRT_EXEC_UNIT_UNRECOVERABLE"},
    {NRT_EXEC_BAD_INPUT, "NRT_EXEC_BAD_INPUT"},
    {NRT_EXEC_COMPLETED_WITH_NUM_ERR, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"},
    {NRT_EXEC_COMPLETED_WITH_ERR, "NRT_EXEC_COMPLETED_WITH_ERR"},
    {NRT_EXEC_NC_BUSY, "NRT_EXEC_NC_BUSY"},
    {NRT_EXEC_OOB, "NRT_EXEC_OOB"},
    {NRT_COLL_PENDING, "NRT_COLL_PENDING"},
    {NRT_EXEC_HW_ERR_COLLECTIVES, "NRT_EXEC_HW_ERR_COLLECTIVES"},
    {NRT_EXEC_HW_ERR_HBM_UE, "NRT_EXEC_HW_ERR_HBM_UE"},
    {NRT_EXEC_HW_ERR_NC_UE, "NRT_EXEC_HW_ERR_NC_UE"},
    {NRT_EXEC_HW_ERR_DMA_ABORT, "NRT_EXEC_HW_ERR_DMA_ABORT"},
    {NRT_EXEC_SW_NQ_OVERFLOW, "NRT_EXEC_SW_NQ_OVERFLOW"},
    {NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"},
    {NRT_NETWORK_PROXY_FAILURE, "NRT_NETWORK_PROXY_FAILURE"},
});

const Machine& open_machine(Machine& otherwise) {
  try {
    return process().machine;
  } catch (const StatusError&) {
    return otherwise = machine_from_environment();
  }
}

template <class T>
void copy_out(const T& value, T* out, size_t size) {
  std::memcpy(&required(out, "the result"), &value, std::min(size, sizeof value));
}

}  // namespace

extern "C" {

const char* nrt_get_status_as_str(NRT_STATUS status) {
  const auto found =
      std::find_if(kStatusNames.begin(), kStatusNames.end(), [&](const StatusName& n) { return n.status == status; });
  return found == kStatusNames.end() ? "UNKNOWN_STATUS" : found->name;
}

NRT_STATUS nrt_get_version(nrt_version_t* ver, size_t size) {
  return call_any_time(__func__, [&] {
    nrt_version_t v{};
    v.rt_major = NRT_MAJOR_VERSION;
    v.rt_minor = NRT_MINOR_VERSION;
    std::strncpy(v.rt_detail, "trnsim: simulated Neuron runtime", sizeof v.rt_detail - 1);
    copy_out(v, ver, size);
  });
}

NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t instance_info_len) {
  return call_any_time(__func__, [&] {
    Machine fresh;
    const Machine& m = open_machine(fresh);
    nrt_instance_info_t i{m.instance.family, m.instance.size, {}, {}};
    m.spec->name.copy(i.arch_name, sizeof i.arch_name - 1);
    i.device_revision[0] = '0';
    copy_out(i, info, instance_info_len);
  });
}

NRT_STATUS nrt_init(nrt_framework_type_t framework, const char*, const char*) {
  return call_any_time(__func__, [&] {
    if (framework <= NRT_FRAMEWORK_TYPE_INVALID || framework > NRT_FRAMEWORK_TYPE_PRECHECK)
      fail(NRT_INVALID, "this is no framework type");
    open_process();
  });
}

void nrt_close(void) {
  call_any_time(__func__, [] { close_process(); });
}

NRT_STATUS nrt_get_total_vnc_count(uint32_t* vnc_count) {
  return call_any_time(__func__, [&] {
    Machine fresh;
    required(vnc_count, "vnc_count") = static_cast<uint32_t>(open_machine(fresh).total);
  });
}

NRT_STATUS nrt_get_visible_vnc_count(uint32_t* vnc_count) {
  return call_any_time(__func__, [&] {
    Machine fresh;
    required(vnc_count, "vnc_count") = static_cast<uint32_t>(open_machine(fresh).visible());
  });
}

NRT_STATUS nrt_get_total_nc_count(uint32_t* vnc_count) { return nrt_get_total_vnc_count(vnc_count); }
NRT_STATUS nrt_get_visible_nc_count(uint32_t* vnc_count) { return nrt_get_visible_vnc_count(vnc_count); }

NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats, size_t stats_size_in,
                                    size_t* stats_size_out) {
  return call(__func__, [&] {
    DeviceMemory& memory = core(vnc).memory();
    copy_out(nrt_vnc_memory_stats_t{static_cast<size_t>(memory.used()), static_cast<size_t>(memory.capacity())}, stats,
             stats_size_in);
    if (stats_size_out) *stats_size_out = std::min(stats_size_in, sizeof *stats);
  });
}

// Device ids of the simulator are those of the host; it has no peer DMA, routing tables or network adapters.
NRT_STATUS nrt_host_device_id_get(int neuron_dev, uint32_t* host_device_id) {
  return call(__func__, [&] {
    if (neuron_dev < 0 || neuron_dev >= process().machine.instance.chips)
      fail(NRT_INVALID, "there is no such Neuron device");
    required(host_device_id, "host_device_id") = static_cast<uint32_t>(neuron_dev);
  });
}
NRT_STATUS nrt_host_device_id_rid_map_get(uint32_t* count, uint32_t* host_did_to_rid_map) {
  return call(__func__, [&] {
    const auto chips = static_cast<uint32_t>(process().machine.instance.chips);
    const uint32_t n = std::min(required(count, "count"), chips);
    if (n) required(host_did_to_rid_map, "host_did_to_rid_map");
    for (uint32_t i = 0; i < n; ++i) host_did_to_rid_map[i] = i;
    *count = n;
  });
}
NRT_STATUS nrt_get_dmabuf_fd(uint64_t, uint64_t, int*) {
  return call(__func__, [] { not_modelled("peer DMA of a network adapter"); });
}
NRT_STATUS nrt_get_hbm_mmap_va(int, int, void**, size_t*) {
  return call(__func__, [] { fail(NRT_INVALID, "mapping a whole HBM stack is not in this version of the simulator"); });
}
NRT_STATUS nrt_get_attached_efa_bdf(const void*, char*, size_t*) {
  return call(__func__, [] { not_modelled("an EFA network adapter"); });
}
}
