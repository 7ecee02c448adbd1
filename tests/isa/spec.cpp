#include "isa/spec.h"

#include <catch2/catch.hpp>
#include <set>

using namespace trn;

TEST_CASE("every number of trn2 has a source and lies in its interval") {
  std::set<std::string_view> names;
  for (const SpecField& f : spec_fields()) {
    INFO(f.name);
    const Number& n = trn2().*(f.member);
    CHECK(names.insert(f.name).second);
    CHECK_FALSE(f.doc.empty());
    CHECK_FALSE(n.source.empty());
    CHECK((n.value >= f.least && n.value <= f.most));
    CHECK(n.spread >= 0);
    if (f.whole) CHECK(n.value == static_cast<double>(static_cast<int64_t>(n.value)));
  }
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
