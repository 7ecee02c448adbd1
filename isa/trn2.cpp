#include "isa/spec.h"

namespace trn {

namespace {

constexpr auto kDoc = Provenance::documented;
constexpr auto kMeasured = Provenance::measured;
constexpr auto kAssumed = Provenance::assumed;

// Sources. Guides are pages of the Neuron SDK documentation; profiles are public neuron-profile captures of
// trn2.3xlarge.
constexpr std::string_view kTrn2 = "nki/guides/architecture/trainium2_arch";
constexpr std::string_view kTrn1 = "nki/guides/architecture/trainium_inferentia2_arch (NeuronCore-v2)";
constexpr std::string_view kChip = "about-neuron/arch/neuron-hardware/trainium2";
constexpr std::string_view kDma = "nki/get-started/about/nki-dma-overview";
constexpr std::string_view kMatmul = "nki.isa.nc_matmul";
constexpr std::string_view kOldCost = "nki.isa cost formulas, aws-neuron-sdk 1db4d74e";
constexpr std::string_view kFusion = "profiles of allenkchau/trainium-kernel-fusion";
constexpr std::string_view kRetimed = "re-timing of five profiles of allenkchau/trainium-kernel-fusion";
constexpr std::string_view kFive = "five profiles of allenkchau/trainium-kernel-fusion, tests/accuracy";
constexpr std::string_view kSurvey = "26 further public profiles of trn2.3xlarge";
constexpr std::string_view kBranches = "85 COMPARE_BRANCHes of 5 profiles of allenkchau/trainium-kernel-fusion";
constexpr std::string_view kEager =
    "eager forward passes of 0.5B to 4B models (arminagha1234/trainium-optimizer), about 130 us an aten op";
constexpr std::string_view kNone = "no public figure";

Spec make_trn2() {
  Spec s;
  s.name = "trn2";
  s.generation = Generation::trn2;

  s.tensor_ghz = {2.4, kDoc, kTrn2};
  s.vector_ghz = {0.96, kDoc, kTrn2};
  s.scalar_ghz = {1.2, kDoc, kTrn2};
  s.gpsimd_ghz = {1.2, kDoc, kTrn2};
  s.sync_ghz = {1.2, kAssumed, kNone};

  s.partitions = {128, kDoc, kTrn2};
  s.sbuf_partition_bytes = {224 * 1024, kDoc, kTrn2};
  s.sbuf_reserved_bytes = {16 * 1024, kAssumed, "what public kernels leave free"};
  s.psum_partition_bytes = {16 * 1024, kDoc, kTrn2};
  s.psum_banks = {8, kDoc, kTrn1};
  s.cores_per_chip = {8, kDoc, kChip};
  s.hbm_stacks = {4, kDoc, kTrn2};
  s.hbm_stack_bytes = {24.0 * (1 << 30), kDoc, kTrn2};
  s.semaphores = {256, kAssumed, kNone};
  s.semaphore_max = {2147483647, kAssumed, kNone};
  s.pe_rows = {128, kDoc, kTrn2};
  s.pe_columns = {128, kDoc, kTrn2};
  s.matmul_moving_max = {512, kDoc, kMatmul};

  s.pe_fixed_cycles = {5, kMeasured, kRetimed, 1};  // 2 ns; the wider survey says 6 cycles
  s.pe_min_cycles = {64, kDoc, kTrn1};
  s.pe_latency_ns = {163, kMeasured, kRetimed, 1.5};
  s.pe_latency_throttled_ns = {207, kMeasured, kRetimed, 1.5};
  s.pe_fp32_passes = {4, kDoc, kMatmul};
  s.pe_fp32_transpose_passes = {2, kMeasured, kFusion};
  s.ldweights_cycles_per_column = {0.25, kMeasured, kRetimed, 0.05};  // four times a matmul's rate, as the guide says
  s.ldweights_fp32_cycles_per_column = {2, kMeasured, kRetimed, 0.05};
  s.ldweights_strided_cycles_per_column = {1, kMeasured, kSurvey, 0.1};         // 136 ns at a stride of 18 bytes
  s.ldweights_fp32_strided_cycles_per_column = {4.3, kMeasured, kSurvey, 0.1};  // 313 ns at a stride of 36 bytes
  s.ldweights_fixed_cycles = {11, kMeasured, kFive, 2};
  s.ldweights_latency_ns = {79, kMeasured, kFive, 2};
  s.ldweights_latency_throttled_ns = {121, kMeasured, kFive, 5};
  s.throttle_window_cycles = {8192, kMeasured, kSurvey, 0};
  s.throttle_threshold = {0.375, kMeasured, kSurvey, 0.02};
  s.throttle_raise_threshold = {0.391, kMeasured, kSurvey, 0.009};  // low stays at 0.379, rises at 0.397
  s.throttle_burst_cycles = {64, kMeasured, kFive, 8};  // refilled at half rate: 128 cycles at full rate after idling

  s.vector_copy_latency_ns = {157.5, kMeasured, kFusion, 5};
  s.vector_copy_overhead_ns = {64, kMeasured, kFusion, 5};
  s.vector_scalar_latency_ns = {219, kMeasured, kFusion, 5};
  s.vector_scalar_overhead_ns = {129.5, kMeasured, kFusion, 7};
  s.vector_reduce_latency_ns = {152.5, kMeasured, kRetimed, 6};
  s.vector_reduce_overhead_ns = {60, kMeasured, kFusion, 5};
  s.vector_tensor_latency_ns = {159, kMeasured, kSurvey, 2};
  s.vector_tensor_overhead_ns = {60, kMeasured, kSurvey, 7};
  s.vector_copy_sbuf_overhead_ns = {86, kMeasured, kSurvey, 3};  // strided reads, 128 columns: every 151 to 155 ns
  s.vector_fresh_ns = {10, kMeasured, kFive, 1};
  s.vector_scalar_fresh_ns = {5.5, kMeasured, kFive, 1};
  s.vector_reciprocal_cycles_per_element = {5.76, kMeasured, kRetimed,
                                            2.3};  // two sizes, 4 and 8 elements; nki.api.shared says 8
  s.vector_psum_strided_latency_ns = {85, kMeasured, kSurvey, 5};
  s.vector_min_cycles = {64, kDoc, kTrn1};
  s.vector_rate_sbuf = {2, kMeasured, kFusion, 0};  // one input, SBUF to SBUF; strided reads too
  s.vector_rate_16bit = {4, kDoc, kTrn2};
  s.vector_rate_16bit_half = {2, kDoc, kTrn2};
  s.vector_subword_cycles_per_element = {2.2, kMeasured, kSurvey, 0.1};       // 18 byte steps, fp16: read-modify-write
  s.vector_subword_psum_cycles_per_element = {4.1, kMeasured, kSurvey, 0.1};  // one size, 128 columns: 706 ns
  s.vector_two_input_cycles_per_element = {1, kMeasured, kSurvey, 0};
  s.vector_scan_cycles_per_element = {2, kDoc, kOldCost};
  s.vector_bn_aggr_cycles_per_element = {13.0 / 3, kDoc, kOldCost};

  s.vector_rate_random = {1, kAssumed, kNone};
  s.vector_rate_exponential = {1, kAssumed, "trn3 only; unused here"};

  s.scalar_copy_latency_ns = {158, kMeasured, kSurvey, 1.5};
  s.scalar_copy_overhead_ns = {51, kMeasured, kFusion, 5};
  s.scalar_activate_psum_latency_ns = {260.3, kMeasured, kFusion, 5};
  s.scalar_activate_psum_overhead_ns = {143, kMeasured, kFusion, 5};
  s.scalar_activate_sbuf_latency_ns = {293, kMeasured, kFive, 2};
  s.scalar_activate_sbuf_overhead_ns = {185, kMeasured, kFusion, 5};
  s.scalar_sbuf_latency_ns = {32, kMeasured, kSurvey, 5};       // an activation pays the same
  s.scalar_strided_read_cycles_per_element = {2, kDoc, kTrn1};  // 128 columns: 405 to 422 ns
  s.scalar_copy_fresh_ns = {5, kMeasured, kFive, 2};
  s.scalar_activate_fresh_ns = {15, kMeasured, kFive, 1};
  s.scalar_psum_interval_ns = {10.5, kMeasured, kFive, 1.5};
  s.scalar_strided_latency_ns = {120, kMeasured, kSurvey, 15};
  s.scalar_subword_cycles_per_element = {5.3, kMeasured, kSurvey, 0.2};
  s.scalar_rate_16bit = {1, kDoc, kTrn2};
  s.scalar_table_load_ns = {1283, kMeasured, kFusion, 0};

  s.gpsimd_start_cycles = {150, kDoc, kOldCost};
  s.gpsimd_cycles_per_element = {1, kDoc, kOldCost};

  s.dma_engines = {16, kDoc, kTrn2};
  s.dma_queues = {16, kDoc, kDma};
  s.dma_partitions_per_engine = {8, kDoc, kTrn2};
  s.dma_bytes_per_ns = {27.2, kMeasured, kRetimed, 0.3};
  s.dma_stall_byte_ns = {0.0024, kMeasured, kFive, 0.001};  // most packets none, one in fourteen 50 to 700 ns
  s.dma_packet_ns = {5, kMeasured, kFive, 0.5};
  s.dma_max_packet_bytes = {4096, kMeasured, kFusion};
  s.dma_chunk_ns = {7.7, kMeasured, kRetimed, 1};
  s.dma_cast_packet_ns = {8, kMeasured, kRetimed, 1};
  s.dma_stagger_sbuf_ns = {10, kMeasured, kRetimed, 2};
  s.dma_stagger_hbm_ns = {5, kMeasured, kFive, 8};
  s.dma_trigger_1d_ns = {521, kMeasured, kFive, 6};
  s.dma_trigger_2d_ns = {568, kMeasured, kFive, 5};
  s.dma_trigger_first_ns = {32, kMeasured, kFive, 12};
  s.dma_trigger_back_to_back_ns = {87, kMeasured, kRetimed, 10};
  s.dma_first_packet_sbuf_ns = {667, kMeasured, kRetimed, 30};
  s.dma_first_packet_hbm_ns = {805, kMeasured, kFive, 15};
  // "semaphore-to-start latency (~1300 ns cross-engine)", less a wait and the doorbell; preambles of profiles show 2050
  // to 2230 ns for the first one.
  s.dma_first_packet_ring_ns = {1225, kDoc, "nki/deep-dives/nki-dma-bandwidth-guide", 800};
  s.dma_completion_load_ns = {340, kMeasured, kFive, 30};
  s.dma_completion_store_ns = {395, kMeasured, kFive, 30};
  s.dma_completion_interval_ns = {12, kMeasured, kFive, 2};
  s.dma_swdge_build_ns = {1187, kMeasured, kRetimed, 30};
  s.dma_swdge_interval_ns = {583, kMeasured, kRetimed, 20};
  s.dma_swdge_trigger_ns = {42, kMeasured, kFive, 20};
  s.dma_swdge_first_packet_sbuf_ns = {622, kMeasured, kFive, 15};
  s.dma_swdge_first_packet_hbm_ns = {740, kMeasured, kFive, 20};
  s.dma_queue_depth = {3, kMeasured, kRetimed, 0};
  s.dma_queue_stall_ns = {300, kMeasured, kFive, 80};
  s.dma_ring_descriptors = {1 << 24, kDoc, "aws-neuron-driver, udma/udma.h: largest queue"};
  s.hbm_stack_bytes_per_ns = {716, kMeasured, "hbm_ddr_bandwidth in profile metadata"};
  s.hbm_startup_byte_ns = {0.0577, kMeasured, kFive, 0.02};
  s.hbm_startup_ns = {600, kMeasured, kFive, 100};
  s.hbm_startup_packet_bytes = {1024, kMeasured, kRetimed};
  s.hbm_restart_ns = {540, kMeasured, kFive, 200};

  s.sequencer_issue_ns = {3, kMeasured, kFive, 4};
  s.sequencer_queue_depth = {16, kMeasured, kFive, 1};  // fifteen seen on Tensor; the others show at least four
  s.sequencer_compute_gap_ns = {14, kMeasured, kFive, 1};
  s.sequencer_gap_tensor_ns = {25, kMeasured, kFive, 1};
  s.sequencer_gap_vector_ns = {80, kMeasured, kFive, 1};
  s.sequencer_gap_scalar_ns = {52, kMeasured, kFive, 3};
  s.sequencer_gap_gpsimd_ns = {50, kMeasured, kFive, 1};
  s.sequencer_gap_sync_ns = {45, kMeasured, kFive, 8};
  s.event_semaphore_tensor_ns = {52, kMeasured, kFive, 1};
  s.event_semaphore_vector_ns = {23, kMeasured, kFive, 1};
  s.event_semaphore_scalar_ns = {40, kMeasured, kFive, 1};
  s.event_semaphore_gpsimd_ns = {19, kMeasured, kFive, 1};
  s.event_semaphore_sync_ns = {18, kMeasured, kFive, 1};
  s.doorbell_tensor_ns = {25, kMeasured, kSurvey, 5};
  s.doorbell_vector_ns = {45, kMeasured, kSurvey, 5};
  s.doorbell_scalar_ns = {25, kMeasured, kSurvey, 5};
  s.doorbell_gpsimd_ns = {46, kMeasured, kSurvey, 5};
  s.doorbell_sync_ns = {58, kMeasured, kSurvey, 5};
  s.doorbell_interval_ns = {95, kMeasured, kSurvey, 27};
  s.semaphore_post_ns = {12, kMeasured, kRetimed, 2};
  s.semaphore_wait_vector_ns = {23, kMeasured, kRetimed, 2};
  s.semaphore_wait_tensor_ns = {43, kMeasured, kRetimed, 2};
  s.semaphore_wait_sync_ns = {17, kMeasured, kRetimed, 2};
  s.semaphore_wait_event_tensor_ns = {28, kMeasured, kFive, 1};

  s.register_op_ns = {18, kAssumed, "a NOP of public profiles takes 13 to 21 ns", 5};
  s.register_load_ns = {680, kMeasured, "70 TENSOR_LOADs of 5 profiles of allenkchau/trainium-kernel-fusion", 200};
  s.register_store_ns = {150, kAssumed, "a WRITE of public profiles takes 70 to 230 ns", 80};
  s.core_barrier_ns = {60, kAssumed, "EVENT_SEMAPHOREs of public profiles take 18 to 52 ns; a barrier is two", 40};
  s.branch_tensor_ns = {209, kMeasured, kBranches, 24};
  s.branch_vector_ns = {104, kMeasured, kBranches, 45};
  s.branch_scalar_ns = {222, kMeasured, kBranches, 35};
  s.branch_gpsimd_ns = {97, kMeasured, kBranches, 38};
  s.branch_sync_ns = {82, kMeasured, kBranches, 36};
  s.program_preamble_ns = {13470, kMeasured, kFusion, 230};
  s.program_skew_scalar_ns = {156, kMeasured, kFive, 1};
  s.program_skew_gpsimd_ns = {103, kMeasured, kFive, 3};
  s.program_postamble_ns = {2090, kMeasured, kFusion, 60};

  s.host_dispatch_ns = {100000, kAssumed, kEager, 40000};
  s.host_launch_ns = {20000, kAssumed, kEager, 15000};
  s.host_copy_bytes_per_ns = {25, kAssumed, "half of a PCIe 5.0 x16 link", 15};
  s.host_copy_fixed_ns = {20000, kAssumed, kNone, 15000};
  return s;
}

}  // namespace

const Spec& trn2() {
  static const Spec spec = make_trn2();
  return spec;
}

}  // namespace trn
