#include "isa/spec.h"

namespace trn {

const std::vector<SpecField>& spec_fields() {
  using S = Spec;
  constexpr double kGhzLeast = 0.01, kGhzMost = 100;
  constexpr double kNs = 1e9;    // a second: longer than anything on the device
  constexpr double kMega = 1e6;  // cycles and counts
  static const std::vector<SpecField> fields = {
      {"tensor_ghz", &S::tensor_ghz, kGhzLeast, kGhzMost, "clock of the Tensor engine"},
      {"vector_ghz", &S::vector_ghz, kGhzLeast, kGhzMost, "clock of the Vector engine"},
      {"scalar_ghz", &S::scalar_ghz, kGhzLeast, kGhzMost, "clock of the Scalar engine"},
      {"gpsimd_ghz", &S::gpsimd_ghz, kGhzLeast, kGhzMost, "clock of the GpSimd engine"},
      {"sync_ghz", &S::sync_ghz, kGhzLeast, kGhzMost, "clock of the Sync engine"},

      {"partitions", &S::partitions, 32, 128, "partitions of SBUF and PSUM", true},
      {"sbuf_partition_bytes", &S::sbuf_partition_bytes, 4096, 1 << 24, "SBUF bytes of one partition", true},
      {"sbuf_reserved_bytes", &S::sbuf_reserved_bytes, 0, 1 << 24, "SBUF bytes of one partition that programs may not use", true},
      {"psum_partition_bytes", &S::psum_partition_bytes, 2048, 1 << 24, "PSUM bytes of one partition", true},
      {"psum_banks", &S::psum_banks, 1, 64, "PSUM banks of one partition", true},
      {"cores_per_chip", &S::cores_per_chip, 1, 64, "physical NeuronCores of one chip", true},
      {"hbm_stacks", &S::hbm_stacks, 1, 64, "HBM stacks of one chip, shared evenly by its cores", true},
      {"hbm_stack_bytes", &S::hbm_stack_bytes, 1 << 20, 1e13, "bytes of one HBM stack", true},
      {"semaphores", &S::semaphores, 8, 65535, "hardware semaphores of one core", true},
      {"semaphore_max", &S::semaphore_max, 1, 4294967295.0, "largest value of a semaphore", true},
      {"pe_rows", &S::pe_rows, 1, 128, "rows (contraction) of the PE array", true},
      {"pe_columns", &S::pe_columns, 1, 128, "columns of the PE array", true},
      {"matmul_moving_max", &S::matmul_moving_max, 1, 65536, "largest moving free size of one nc_matmul", true},

      {"pe_fixed_cycles", &S::pe_fixed_cycles, 0, kMega, "cycles between two matmuls beyond their rows"},
      {"pe_min_cycles", &S::pe_min_cycles, 0, kMega, "smallest interval between two matmuls"},
      {"pe_latency_ns", &S::pe_latency_ns, 0, kNs, "from a matmul's last row to its completion"},
      {"pe_latency_throttled_ns", &S::pe_latency_throttled_ns, 0, kNs, "the same at half rate"},
      {"pe_fp32_passes", &S::pe_fp32_passes, 1, 64, "cycles a row takes in fp32"},
      {"pe_fp32_transpose_passes", &S::pe_fp32_transpose_passes, 1, 64, "cycles a row takes in an fp32 transpose"},
      {"ldweights_cycles_per_column", &S::ldweights_cycles_per_column, 0, kMega, "foreground weight load, 16-bit and narrower"},
      {"ldweights_fp32_cycles_per_column", &S::ldweights_fp32_cycles_per_column, 0, kMega, "foreground weight load, fp32, one of two"},
      {"ldweights_latency_ns", &S::ldweights_latency_ns, 0, kNs, "reported beyond the foreground load"},
      {"throttle_window_cycles", &S::throttle_window_cycles, 1, 1e9, "window over which utilisation decides the next window's rate", true},
      {"throttle_threshold", &S::throttle_threshold, 0, 1, "utilisation of a window that makes the next one full rate; 0 = never throttled"},
      {"throttle_burst_cycles", &S::throttle_burst_cycles, 0, kMega, "cycles at full rate after idling"},

      {"vector_copy_latency_ns", &S::vector_copy_latency_ns, 0, kNs, "tensor_copy: duration beyond its elements"},
      {"vector_copy_overhead_ns", &S::vector_copy_overhead_ns, 0, kNs, "tensor_copy: interval beyond its elements"},
      {"vector_scalar_latency_ns", &S::vector_scalar_latency_ns, 0, kNs, "tensor_scalar: duration beyond its elements"},
      {"vector_scalar_overhead_ns", &S::vector_scalar_overhead_ns, 0, kNs, "tensor_scalar: interval beyond its elements"},
      {"vector_reduce_latency_ns", &S::vector_reduce_latency_ns, 0, kNs, "tensor_reduce: duration beyond its elements"},
      {"vector_reduce_overhead_ns", &S::vector_reduce_overhead_ns, 0, kNs, "tensor_reduce: interval beyond its elements"},
      {"vector_tensor_latency_ns", &S::vector_tensor_latency_ns, 0, kNs, "tensor_tensor: duration beyond its elements"},
      {"vector_tensor_overhead_ns", &S::vector_tensor_overhead_ns, 0, kNs, "tensor_tensor: interval beyond its elements"},
      {"vector_reciprocal_cycles_per_element", &S::vector_reciprocal_cycles_per_element, 0, kMega, "reciprocal"},
      {"vector_psum_strided_latency_ns", &S::vector_psum_strided_latency_ns, 0, kNs, "more for a strided destination from PSUM"},
      {"vector_min_cycles", &S::vector_min_cycles, 0, kMega, "smallest interval between two Vector instructions"},
      {"vector_rate_sbuf", &S::vector_rate_sbuf, 0.01, kMega, "elements per cycle: one input, SBUF to SBUF"},
      {"vector_rate_16bit", &S::vector_rate_16bit, 0.01, kMega, "elements per cycle: one 16-bit input, SBUF to SBUF, consecutive"},
      {"vector_rate_16bit_half", &S::vector_rate_16bit_half, 0.01, kMega, "elements per cycle: 16-bit, strided or one side in PSUM or two inputs"},
      {"vector_subword_cycles_per_element", &S::vector_subword_cycles_per_element, 0, kMega, "strided writes of less than 4 bytes"},
      {"vector_scan_cycles_per_element", &S::vector_scan_cycles_per_element, 0, kMega, "tensor_tensor_scan"},
      {"vector_bn_aggr_cycles_per_element", &S::vector_bn_aggr_cycles_per_element, 0, kMega, "bn_aggr"},

      {"scalar_copy_latency_ns", &S::scalar_copy_latency_ns, 0, kNs, "tensor_copy on Scalar: duration beyond its elements"},
      {"scalar_copy_overhead_ns", &S::scalar_copy_overhead_ns, 0, kNs, "tensor_copy on Scalar: interval beyond its elements"},
      {"scalar_activate_psum_latency_ns", &S::scalar_activate_psum_latency_ns, 0, kNs, "activation from PSUM: duration beyond its elements"},
      {"scalar_activate_psum_overhead_ns", &S::scalar_activate_psum_overhead_ns, 0, kNs, "activation from PSUM: interval beyond its elements"},
      {"scalar_activate_sbuf_latency_ns", &S::scalar_activate_sbuf_latency_ns, 0, kNs, "activation from SBUF: duration beyond its elements"},
      {"scalar_activate_sbuf_overhead_ns", &S::scalar_activate_sbuf_overhead_ns, 0, kNs, "activation from SBUF: interval beyond its elements"},
      {"scalar_strided_latency_ns", &S::scalar_strided_latency_ns, 0, kNs, "more for a strided destination"},
      {"scalar_subword_cycles_per_element", &S::scalar_subword_cycles_per_element, 0, kMega, "strided writes of less than 4 bytes"},
      {"scalar_table_load_ns", &S::scalar_table_load_ns, 0, kNs, "loading another activation table"},

      {"gpsimd_start_cycles", &S::gpsimd_start_cycles, 0, kMega, "start of a GpSimd instruction"},
      {"gpsimd_cycles_per_element", &S::gpsimd_cycles_per_element, 0, kMega, "GpSimd work per element of a partition"},

      {"dma_engines", &S::dma_engines, 1, 1024, "DMA engines of one core", true},
      {"dma_queues", &S::dma_queues, 1, 256, "queues (rings) of one DMA engine", true},
      {"dma_partitions_per_engine", &S::dma_partitions_per_engine, 1, 1024, "rows dealt to one engine before the next", true},
      {"dma_bytes_per_ns", &S::dma_bytes_per_ns, 1e-3, 1e6, "rate of one engine"},
      {"dma_packet_ns", &S::dma_packet_ns, 0, kNs, "each packet beyond its bytes"},
      {"dma_max_packet_bytes", &S::dma_max_packet_bytes, 1, 1 << 24, "where elements are cut", true},
      {"dma_chunk_ns", &S::dma_chunk_ns, 0, kNs, "each chunk gathered into one packet on the SBUF side"},
      {"dma_stagger_sbuf_ns", &S::dma_stagger_sbuf_ns, 0, kNs, "from one DMA engine's first packet to the next one's, SBUF source"},
      {"dma_stagger_hbm_ns", &S::dma_stagger_hbm_ns, 0, kNs, "the same, HBM source"},
      {"dma_trigger_1d_ns", &S::dma_trigger_1d_ns, 0, kNs, "issue on the engine's stream, 1-D pattern"},
      {"dma_trigger_2d_ns", &S::dma_trigger_2d_ns, 0, kNs, "issue on the engine's stream, 2-D pattern"},
      {"dma_trigger_back_to_back_ns", &S::dma_trigger_back_to_back_ns, 0, kNs, "more when it follows another issue at once"},
      {"dma_first_packet_sbuf_ns", &S::dma_first_packet_sbuf_ns, 0, kNs, "from issue end to the first packet, SBUF source"},
      {"dma_first_packet_hbm_ns", &S::dma_first_packet_hbm_ns, 0, kNs, "from issue end to the first packet, HBM source"},
      {"dma_completion_load_ns", &S::dma_completion_load_ns, 0, kNs, "from last data to the semaphore, loads and SWDGE"},
      {"dma_completion_store_ns", &S::dma_completion_store_ns, 0, kNs, "from last data to the semaphore, HWDGE stores"},
      {"dma_swdge_build_ns", &S::dma_swdge_build_ns, 0, kNs, "software descriptors: built before the issue"},
      {"dma_swdge_interval_ns", &S::dma_swdge_interval_ns, 0, kNs, "software descriptors: between consecutive issues"},
      {"dma_swdge_first_packet_sbuf_ns", &S::dma_swdge_first_packet_sbuf_ns, 0, kNs, "software descriptors: to the first packet, SBUF source"},
      {"dma_swdge_first_packet_hbm_ns", &S::dma_swdge_first_packet_hbm_ns, 0, kNs, "software descriptors: to the first packet, HBM source"},
      {"dma_queue_depth", &S::dma_queue_depth, 1, 65536, "transfers of a queue in flight before its issue stalls", true},
      {"dma_queue_stall_ns", &S::dma_queue_stall_ns, 0, kNs, "from a transfer's end until a stalled issue goes on"},
      {"hbm_stack_bytes_per_ns", &S::hbm_stack_bytes_per_ns, 1e-3, 1e6, "bandwidth of one HBM stack"},
      {"hbm_shallow_factor", &S::hbm_shallow_factor, 1, 100, "HBM reads of 1 KiB and more with a shallow queue take this much longer"},

      {"semaphore_post_ns", &S::semaphore_post_ns, 0, kNs, "from an instruction's end until its update is visible"},
      {"semaphore_wait_vector_ns", &S::semaphore_wait_vector_ns, 0, kNs, "from there to a waiting Vector, Scalar or GpSimd instruction's start"},
      {"semaphore_wait_tensor_ns", &S::semaphore_wait_tensor_ns, 0, kNs, "the same for Tensor"},
      {"semaphore_wait_sync_ns", &S::semaphore_wait_sync_ns, 0, kNs, "the same for Sync"},
      {"program_preamble_ns", &S::program_preamble_ns, 0, kNs, "from a Program's start to its first instruction"},
      {"program_postamble_ns", &S::program_postamble_ns, 0, kNs, "from the last completion to the Program's end"},

      {"host_dispatch_ns", &S::host_dispatch_ns, 0, kNs, "the framework's time for one eager operation"},
      {"host_launch_ns", &S::host_launch_ns, 0, kNs, "the runtime's time for one Program"},
      {"host_copy_bytes_per_ns", &S::host_copy_bytes_per_ns, 1e-3, 1e6, "host to device and back"},
      {"host_copy_fixed_ns", &S::host_copy_fixed_ns, 0, kNs, "each copy beyond its bytes"},
  };
  return fields;
}

}  // namespace trn
