#include "isa/sequence_bounds.h"

#include <catch2/catch.hpp>

#include "isa/nonzero_with_count.h"
#include "tests/isa/machine.h"

namespace trn::test {

TEST_CASE("sequence_bounds gives the documented example") {
  using namespace example;
  Machine m;
  const int ids[] = {0, 1, 1, 2, 2, 2, 0, 3, 3};  // nki/test/test_nki_isa_sequence_bounds.py
  const int want[] = {9, 1, 1, 3, 3, 3, 9, 7, 7, -1, 3, 3, 6, 6, 6, -1, 9, 9};
  for (const Dtype d : {Dtype::int32, Dtype::float32}) {
    const Access x = sbuf(1, 9, d), out = sbuf(1, 18, d, 512);
    m.fill(x, [&](int64_t i) { return ids[i]; });
    SequenceBounds::run({out, x}, m.memory());
    for (int i = 0; i < 18; ++i) CHECK(m.get(out, i) == want[i]);
  }
}

TEST_CASE("nonzero_with_count compacts every 16th partition") {
  using namespace example;
  Machine m;
  const int in[] = {0, 1, 1, 0, 0, 1, 0, 0},
            want[] = {17, 18, 21, -1, -1, -1, -1, -1, 3};  // the example of nki.isa.nonzero_with_count
  const Access x = sbuf(32, 8, Dtype::float32), out = sbuf(32, 9, Dtype::int32, 512);
  m.fill(x, [&](int64_t i) { return in[i % 8]; });
  m.fill(out, [](int64_t) { return 77; });
  NonzeroWithCount::run({out, x, 16, -1}, m.memory());
  for (int p = 0; p < 32; ++p)
    for (int i = 0; i < 9; ++i) CHECK(m.get(out, p * 9 + i) == (p % 16 == 0 ? want[i] : 77));
}

}  // namespace trn::test
