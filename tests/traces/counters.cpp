#include "traces/counters.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/traces/session.h"
#include "traces/report.h"
#include "traces/summary.h"

using namespace trn;
using namespace trn::test;

TEST_CASE("totals add launches up in nanoseconds") {
  const Totals t = totals(session());
  CHECK(t.launches == 2);
  CHECK(t.instructions == 4);
  CHECK(t.device_ns == Approx(4000));
  CHECK(t.launch_gap_ns == Approx(100 + 500));
  CHECK(t.engine_active_ns[static_cast<size_t>(Engine::vector)] == Approx(400));
  CHECK(t.hbm_read_bytes == 8192);
  CHECK(t.flops == 2000);
}

TEST_CASE("waits are grouped by who, why and for whom") {
  const auto waits = top_waits(session());
  REQUIRE(waits.size() == 1);
  CHECK(waits[0].waiter == "tensor_copy");
  CHECK(waits[0].blocker == "dma_copy");
  CHECK(waits[0].ns == Approx(200));
  CHECK(waits[0].count == 2);
}

TEST_CASE("launches are grouped by op and Program") {
  const auto groups = by_program(session());
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].launches == 2);
  CHECK(groups[0].device_ns == Approx(4000));
}

TEST_CASE("the summary uses neuron-profile's units: seconds and shares") {
  const auto j = nlohmann::json::parse(summary_json(session()));
  CHECK(j["total_time"].get<double>() == Approx(4.6e-6));
  CHECK(j["vector_engine_active_time_percent"].get<double>() == Approx(0.1));
  CHECK(j["is_simulation"] == true);
}

TEST_CASE("the report keeps the earliest slices and says how many there are") {
  const auto j = nlohmann::json::parse(report_json(session(), 3));
  CHECK(j["timeline"]["kept"] == 3);
  CHECK(j["timeline"]["total"] == 6);
}

TEST_CASE("an empty session has empty reports") {
  Session s;
  s.spec = &trn2();
  CHECK(totals(s).launches == 0);
  CHECK(top_waits(s).empty());
  CHECK(nlohmann::json::parse(summary_json(s))["total_time"] == 0);
}
