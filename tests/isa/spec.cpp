#include "isa/spec.h"

#include <catch2/catch.hpp>
#include <set>

using namespace trn;

TEST_CASE("every number of trn2 has a source and lies in its interval") {
  std::set<std::string_view> names;
  for (const SpecField& f : spec_fields()) {
    CHECK(names.insert(f.name).second);
    CHECK_FALSE(f.doc.empty());
    for (const Spec* s : {&trn1(), &inf2(), &trn2(), &trn3()}) {
      INFO(s->name << " " << f.name);
      const Number& n = s->*(f.member);
      CHECK_FALSE(n.source.empty());
      CHECK((n.value >= f.least && n.value <= f.most));
      CHECK(n.spread >= 0);
      if (f.whole) CHECK(n.value == static_cast<double>(static_cast<int64_t>(n.value)));
      CHECK((s->generation == Generation::trn2 || n.provenance != Provenance::measured));
    }
  }
}

TEST_CASE("built-in Specs have names, and their guides' peaks") {
  for (const char* name : {"trn1", "inf2", "trn2", "trn3"}) {
    REQUIRE(spec_named(name));
    CHECK(spec_named(name)->name == name);
  }
  CHECK_FALSE(spec_named("trn9"));
  // NeuronCore-v2: 92 dense bf16 TFLOPS a core, 24 MiB SBUF, 32 GiB, 820 GB/s a chip of two cores.
  CHECK(trn1().pe_rows * trn1().pe_columns * 2 * trn1().tensor_ghz / 1000 == Approx(92).epsilon(0.01));
  CHECK(trn1().partitions * trn1().sbuf_partition_bytes == 24 << 20);
  CHECK(trn1().hbm_stacks * trn1().hbm_stack_bytes == 32.0 * (1 << 30));
  CHECK(trn1().hbm_stacks * trn1().hbm_stack_bytes_per_ns == 820);
  // NeuronCore-v4: 79 dense bf16 TFLOPS, 32 MiB SBUF, 144 GiB, 4.7 TB/s; 4.9 TB/s of DMA a chip.
  CHECK(trn3().pe_rows * trn3().pe_columns * 2 * trn3().tensor_ghz / 1000 == Approx(79).epsilon(0.01));
  CHECK(trn3().partitions * trn3().sbuf_partition_bytes == 32 << 20);
  CHECK(trn3().hbm_stacks * trn3().hbm_stack_bytes == 144.0 * (1 << 30));
  CHECK(trn3().hbm_stacks * trn3().hbm_stack_bytes_per_ns == 4700);
  CHECK(trn3().cores_per_chip * trn3().dma_engines * trn3().dma_bytes_per_ns == Approx(4900));
}

TEST_CASE("the list of fields has every Number of Spec") {
  // Spec is a string, an enum and Numbers only.
  const size_t numbers = (sizeof(Spec) - offsetof(Spec, tensor_ghz)) / sizeof(Number);
  CHECK(spec_fields().size() == numbers);
}

TEST_CASE("trn2's figures agree with the published peaks") {
  const Spec& s = trn2();
  // Trainium2 guide: 79 dense bf16 TFLOPS a core, 28 MiB SBUF, 2 MiB PSUM, 96 GiB HBM; 435 GB/s of DMA a core in
  // profile metadata.
  CHECK(s.pe_rows * s.pe_columns * 2 * s.tensor_ghz / 1000 == Approx(79).epsilon(0.01));
  CHECK(s.partitions * s.sbuf_partition_bytes == 28 << 20);
  CHECK(s.partitions * s.psum_partition_bytes == 2 << 20);
  CHECK(s.hbm_stacks * s.hbm_stack_bytes == 96.0 * (1 << 30));
  CHECK(s.psum_partition_bytes / s.psum_banks == 512 * 4);
  CHECK(s.dma_engines * s.dma_bytes_per_ns == Approx(435).epsilon(0.001));
  CHECK(s.dma_engines * s.dma_partitions_per_engine == s.partitions);
}
