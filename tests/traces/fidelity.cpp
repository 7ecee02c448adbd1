#include "traces/fidelity.h"

#include <catch2/catch.hpp>

#include "tests/traces/session.h"

using namespace trn;
using namespace trn::test;

TEST_CASE("fidelity splits the whole duration by provenance") {
  const Fidelity f = fidelity(session());
  CHECK(f.share[0] + f.share[1] + f.share[2] == Approx(1));
  CHECK(f.instructions[0] + f.instructions[1] + f.instructions[2] == 4);
  CHECK(f.examined == Approx(1));
  REQUIRE(f.largest_assumption());
  // The device waits for the host 600 of 4600 ns, and nothing else here is assumed to that extent.
  CHECK(f.largest_assumption()->number->member == &Spec::host_dispatch_ns);
  CHECK(f.largest_assumption()->share == Approx(600.0 / 4600));
}

TEST_CASE("an empty session rests on nothing") {
  Session s;
  s.spec = &trn2();
  CHECK(fidelity(s).numbers.empty());
  CHECK(fidelity(s).largest_assumption() == nullptr);
}
