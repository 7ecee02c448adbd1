#include "traces/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "isa/dispatch.h"
#include "traces/counters.h"

namespace trn {
namespace {

constexpr std::array<const char*, kEngines> kEngineFields = {"tensor_engine", "vector_engine", "scalar_engine",
                                                             "gpsimd_engine", "sync_engine"};

int64_t count_of(const Session& s, std::string_view card) {
  int64_t n = 0;
  for (const Launch& l : s.launches)
    for (const Instruction& i : l.what->program->instructions) n += row(i).name == card;
  return n;
}

}  // namespace

std::string summary_json(const Session& s) {
  const Totals t = totals(s);
  nlohmann::ordered_json j;
  const double total = s.duration_ns(), seconds = 1e-9;
  j["is_simulation"] = true;
  j["total_time"] = total * seconds;
  j["total_exec_time"] = t.device_ns * seconds;
  double active = t.dma_active_ns;
  for (const double ns : t.engine_active_ns) active = std::max(active, ns);
  j["total_active_time"] = active * seconds;
  j["total_active_time_percent"] = t.device_ns > 0 ? active / t.device_ns : 0;
  j["hardware_flops"] = t.flops;
  if (s.spec) {
    const double peak = s.peak_flops_per_ns();
    j["neuroncore_cycle_count"] = static_cast<int64_t>(t.device_ns * s.spec->tensor_ghz);
    j["hfu_estimated_percent"] = t.device_ns > 0 ? t.flops / (t.device_ns * peak) : 0;
    j["mbu_estimated_percent"] = t.device_ns > 0 ? static_cast<double>(t.hbm_read_bytes + t.hbm_write_bytes) /
                                                       (t.device_ns * s.spec->hbm_stack_bytes_per_ns)
                                                 : 0;
    j["peak_flops_bandwidth_ratio"] = peak / s.spec->hbm_stack_bytes_per_ns;
  }
  const int64_t hbm = t.hbm_read_bytes + t.hbm_write_bytes;
  j["mm_arithmetic_intensity"] = hbm > 0 ? t.flops / static_cast<double>(hbm) : 0;
  for (size_t e = 0; e < kEngines; ++e) {
    const std::string field = kEngineFields[e];
    j[field + "_active_time"] = t.engine_active_ns[e] * seconds;
    j[field + "_active_time_percent"] = t.device_ns > 0 ? t.engine_active_ns[e] / t.device_ns : 0;
    j[field + "_instruction_count"] = t.engine_instructions[e];
  }
  j["matmul_instruction_count"] = count_of(s, "nc_matmul");
  j["activate_instruction_count"] = count_of(s, "activation") + count_of(s, "activation_reduce");
  j["hbm_read_bytes"] = t.hbm_read_bytes;
  j["hbm_write_bytes"] = t.hbm_write_bytes;
  j["dma_active_time"] = t.dma_active_ns * seconds;
  j["dma_active_time_percent"] = t.device_ns > 0 ? t.dma_active_ns / t.device_ns : 0;
  j["dma_transfer_count"] = t.dma_transfers;
  j["dma_transfer_total_bytes"] = t.dma_bytes;
  j["dma_transfer_average_bytes"] = t.dma_transfers > 0 ? t.dma_bytes / t.dma_transfers : 0;
  j["launch_count"] = t.launches;
  j["launch_gap_time"] = t.launch_gap_ns * seconds;
  j["program_overhead_time"] = t.overhead_ns * seconds;
  return j.dump(1);
}

}  // namespace trn
