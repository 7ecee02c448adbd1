#include "isa/spec.h"

namespace trn {

namespace {

constexpr auto kDoc = Provenance::documented;

constexpr std::string_view kGuide = "nki/guides/architecture/trainium_inferentia2_arch";
constexpr std::string_view kAsTrn2 = "no public figure for NeuronCore-v2: as trn2";

// NeuronCore-v2: what its guide says; the rest is trn2's, assumed.
Spec make_trn1() {
  Spec s = trn2();
  s.name = "trn1";
  s.generation = Generation::trn1;
  for (const SpecField& f : spec_fields()) {
    Number& n = s.*(f.member);
    if (n.provenance == kDoc) continue;
    n.provenance = Provenance::assumed;
    n.source = kAsTrn2;
  }

  s.tensor_ghz = {2.8, kDoc, kGuide};
  s.vector_ghz = {1.12, kDoc, kGuide};
  s.scalar_ghz = {1.4, kDoc, kGuide};
  s.gpsimd_ghz = {1.4, kDoc, kGuide};
  s.sync_ghz = {1.4, Provenance::assumed, "as Scalar and GpSimd"};

  s.partitions = {128, kDoc, kGuide};
  s.sbuf_partition_bytes = {192 * 1024, kDoc, kGuide};
  s.psum_partition_bytes = {16 * 1024, kDoc, kGuide};
  s.psum_banks = {8, kDoc, kGuide};
  s.cores_per_chip = {2, kDoc, kGuide};
  s.hbm_stacks = {2, kDoc, kGuide};
  s.hbm_stack_bytes = {16.0 * (1 << 30), kDoc, kGuide};
  s.pe_rows = {128, kDoc, kGuide};
  s.pe_columns = {128, kDoc, kGuide};

  s.pe_fp32_transpose_passes = {4, kDoc, "nki/guides/architecture/trainium2_arch: no transpose mode before v3"};
  s.ldweights_cycles_per_column = {0.25, kDoc, kGuide};
  s.throttle_threshold = {0, Provenance::assumed, kAsTrn2};  // no throttle is reported

  // No faster modes: an element a cycle with one input, two cycles with two.
  s.vector_rate_sbuf = {1, kDoc, kGuide};
  s.vector_rate_16bit = {1, kDoc, kGuide};
  s.vector_rate_16bit_half = {1, kDoc, kGuide};
  s.vector_two_input_cycles_per_element = {2, kDoc, kGuide};
  s.scalar_rate_16bit = {1, kDoc, kGuide};

  s.dma_engines = {16, kDoc, kGuide};
  s.dma_bytes_per_ns = {27 * 1.073741824, kDoc, kGuide};
  s.hbm_stack_bytes_per_ns = {410, kDoc, kGuide};
  return s;
}

Spec make_inf2() {
  Spec s = trn1();
  s.name = "inf2";
  return s;
}

}  // namespace

const Spec& trn1() {
  static const Spec spec = make_trn1();
  return spec;
}

const Spec& inf2() {
  static const Spec spec = make_inf2();
  return spec;
}

}  // namespace trn
