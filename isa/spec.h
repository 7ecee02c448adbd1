#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trn {

enum class Provenance : unsigned char { documented, measured, assumed };

constexpr std::string_view name(Provenance p) {
  constexpr std::string_view names[] = {"documented", "measured", "assumed"};
  return names[static_cast<int>(p)];
}

// One machine number with where it comes from. `spread` is the half-width seen in measurements, in the number's own
// unit.
struct Number {
  double value = 0;
  Provenance provenance = Provenance::assumed;
  std::string_view source = "";
  double spread = 0;
  constexpr operator double() const { return value; }
};

enum class Generation : unsigned char { trn1 = 2, trn2 = 3, trn3 = 4 };  // NeuronCore version

constexpr std::string_view name(Generation g) {
  constexpr std::string_view names[] = {"trn1", "trn2", "trn3"};
  return names[static_cast<int>(g) - 2];
}

// The machine as data: every number that a check, a cost or the clock uses. Units are in the names; cycles are of the
// engine that the group is named for. Values and their provenance: isa/trn1.cpp, trn2.cpp, trn3.cpp. Loadable from JSON
// (spec_json.h), so a what-if is a run, not a rebuild.
struct Spec {
  std::string name;
  Generation generation = Generation::trn2;

  // Clocks (GHz).
  Number tensor_ghz, vector_ghz, scalar_ghz, gpsimd_ghz, sync_ghz;

  // Shape of one physical core and of the chip.
  Number partitions, sbuf_partition_bytes, sbuf_reserved_bytes, psum_partition_bytes, psum_banks;
  Number cores_per_chip, hbm_stacks, hbm_stack_bytes, semaphores, semaphore_max;
  Number pe_rows, pe_columns, matmul_moving_max;

  // Tensor engine.
  Number pe_fixed_cycles, pe_min_cycles, pe_latency_ns, pe_latency_throttled_ns, pe_fp32_passes,
      pe_fp32_transpose_passes;
  Number ldweights_cycles_per_column, ldweights_fp32_cycles_per_column, ldweights_strided_cycles_per_column,
      ldweights_fp32_strided_cycles_per_column, ldweights_fixed_cycles;
  Number ldweights_latency_ns, ldweights_latency_throttled_ns;
  Number throttle_window_cycles, throttle_threshold, throttle_raise_threshold, throttle_burst_cycles;

  // Vector, Scalar, GpSimd: duration = elements / rate + latency; interval = elements / rate + overhead. `fresh` is the
  // part of the latency that an instruction behind another one does not see.
  Number vector_copy_latency_ns, vector_copy_overhead_ns, vector_scalar_latency_ns, vector_scalar_overhead_ns;
  Number vector_reduce_latency_ns, vector_reduce_overhead_ns, vector_tensor_latency_ns, vector_tensor_overhead_ns;
  Number vector_fresh_ns, vector_scalar_fresh_ns, vector_copy_sbuf_overhead_ns, vector_subword_psum_cycles_per_element;
  Number vector_reciprocal_cycles_per_element, vector_psum_strided_latency_ns, vector_min_cycles;
  Number vector_rate_sbuf, vector_rate_16bit, vector_rate_16bit_half, vector_subword_cycles_per_element,
      vector_two_input_cycles_per_element, vector_scan_cycles_per_element, vector_bn_aggr_cycles_per_element;
  Number vector_rate_random, vector_rate_exponential;
  Number scalar_copy_latency_ns, scalar_copy_overhead_ns, scalar_activate_psum_latency_ns,
      scalar_activate_psum_overhead_ns;
  Number scalar_activate_sbuf_latency_ns, scalar_activate_sbuf_overhead_ns, scalar_table_load_ns;
  Number scalar_sbuf_latency_ns, scalar_strided_read_cycles_per_element;
  Number scalar_copy_fresh_ns, scalar_activate_fresh_ns, scalar_psum_interval_ns;
  Number scalar_strided_latency_ns, scalar_subword_cycles_per_element, scalar_rate_16bit;
  Number gpsimd_start_cycles, gpsimd_cycles_per_element;

  // DMA.
  Number dma_engines, dma_queues, dma_partitions_per_engine, dma_bytes_per_ns, dma_stall_byte_ns, dma_packet_ns,
      dma_max_packet_bytes, dma_chunk_ns, dma_cast_packet_ns;
  Number dma_stagger_sbuf_ns, dma_stagger_hbm_ns;
  Number dma_trigger_1d_ns, dma_trigger_2d_ns, dma_trigger_first_ns, dma_trigger_back_to_back_ns,
      dma_first_packet_sbuf_ns, dma_first_packet_hbm_ns, dma_first_packet_ring_ns;
  Number dma_completion_load_ns, dma_completion_store_ns, dma_completion_interval_ns;
  Number dma_swdge_build_ns, dma_swdge_interval_ns, dma_swdge_trigger_ns, dma_swdge_first_packet_sbuf_ns,
      dma_swdge_first_packet_hbm_ns, dma_queue_depth, dma_queue_stall_ns, dma_ring_descriptors;
  Number hbm_stack_bytes_per_ns, hbm_startup_byte_ns, hbm_startup_ns, hbm_startup_packet_bytes, hbm_restart_ns;

  // Sequencers, semaphores and Program overhead.
  Number sequencer_issue_ns, sequencer_queue_depth, sequencer_compute_gap_ns;
  Number sequencer_gap_tensor_ns, sequencer_gap_vector_ns, sequencer_gap_scalar_ns, sequencer_gap_gpsimd_ns,
      sequencer_gap_sync_ns;
  Number event_semaphore_tensor_ns, event_semaphore_vector_ns, event_semaphore_scalar_ns, event_semaphore_gpsimd_ns,
      event_semaphore_sync_ns;
  Number doorbell_tensor_ns, doorbell_vector_ns, doorbell_scalar_ns, doorbell_gpsimd_ns, doorbell_sync_ns,
      doorbell_interval_ns;
  Number semaphore_post_ns, semaphore_wait_vector_ns, semaphore_wait_tensor_ns, semaphore_wait_sync_ns,
      semaphore_wait_event_tensor_ns;
  // Registers, branches, the meeting of two cores.
  Number register_op_ns, register_load_ns, register_store_ns, core_barrier_ns;
  Number branch_tensor_ns, branch_vector_ns, branch_scalar_ns, branch_gpsimd_ns, branch_sync_ns;
  Number program_skew_scalar_ns, program_skew_gpsimd_ns;
  Number program_preamble_ns, program_postamble_ns;

  // Host: what the framework and runtime spend per eager op, per launch, and moving data.
  Number host_dispatch_ns, host_launch_ns, host_copy_bytes_per_ns, host_copy_fixed_ns;
};

// Every Number of Spec, by name, with the interval of sensible values; the JSON loader, the fidelity report and the
// tests walk this one list.
struct SpecField {
  std::string_view name;
  Number Spec::*member;
  double least, most;
  std::string_view doc;
  bool whole = false;  // counts and sizes
};
const std::vector<SpecField>& spec_fields();

const Spec& trn1();
const Spec& inf2();  // the same NeuronCore-v2
const Spec& trn2();
const Spec& trn3();

// The built-in Spec of that name, and all of their names; null if there is none.
const Spec* spec_named(std::string_view name);
std::string_view builtin_spec_names();
const Spec& builtin_spec(Generation g);

}  // namespace trn
