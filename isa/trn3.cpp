#include "isa/spec.h"

namespace trn {

namespace {

constexpr auto kDoc = Provenance::documented;

constexpr std::string_view kGuide = "nki/guides/architecture/trainium3_arch";
constexpr std::string_view kChip = "about-neuron/arch/neuron-hardware/trainium3";
constexpr std::string_view kAsTrn2 = "no public figure for NeuronCore-v4: as trn2";

// NeuronCore-v4: what its guide says has changed; the rest is trn2's, assumed where it was measured.
Spec make_trn3() {
  Spec s = trn2();
  s.name = "trn3";
  s.generation = Generation::trn3;
  for (const SpecField& f : spec_fields()) {
    Number& n = s.*(f.member);
    if (n.provenance == kDoc) continue;
    n.provenance = Provenance::assumed;
    n.source = kAsTrn2;
  }

  s.tensor_ghz = {2.4, kDoc, kGuide};
  s.vector_ghz = {1.2, kDoc, kGuide};
  s.scalar_ghz = {1.2, kDoc, kGuide};
  s.gpsimd_ghz = {1.2, kDoc, kGuide};

  s.sbuf_partition_bytes = {256 * 1024, kDoc, kGuide};
  s.psum_partition_bytes = {16 * 1024, kDoc, kGuide};
  s.cores_per_chip = {8, kDoc, kGuide};
  s.hbm_stacks = {4, kDoc, kGuide};
  s.hbm_stack_bytes = {36.0 * (1 << 30), kDoc, kGuide};
  s.matmul_moving_max = {4096, kDoc, "nki.isa.nc_matmul"};  // float32 dst; bfloat16: twice that

  s.vector_rate_sbuf = {2, kDoc, kGuide};
  s.vector_rate_16bit = {4, kDoc, kGuide};
  s.vector_rate_random = {4, kDoc, kGuide};
  s.vector_rate_exponential = {4, kDoc, kGuide};
  s.scalar_rate_16bit = {2, kDoc, kGuide};

  s.dma_bytes_per_ns = {4900.0 / 128, kDoc, kChip};           // 4.9 TB/s of 128 engines
  s.hbm_stack_bytes_per_ns = {4700.0 / 4, kDoc, kGuide, 50};  // the chip's page says 4.9 TB/s
  return s;
}

}  // namespace

const Spec& trn3() {
  static const Spec spec = make_trn3();
  return spec;
}

}  // namespace trn
