#include "traces/counters.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "isa/isa.h"
#include "traces/report.h"
#include "traces/summary.h"

using namespace trn;

namespace {

// One copy on Vector that waited 480 ticks (100 ns) for a load; busy 960 ticks (200 ns).
std::shared_ptr<const Timeline> timeline() {
  auto program = std::make_shared<Program>();
  program->name = "p";
  Instruction load, copy;
  load.card = card_index<DmaCopy>;
  load.engine = Engine::sync;
  load.args = program->push_args(DmaCopy::Args{});
  copy.card = card_index<TensorCopy>;
  copy.engine = Engine::vector;
  copy.args = program->push_args(TensorCopy::Args{});
  program->instructions = {load, copy};
  Timeline t;
  t.program = program;
  t.timing.makespan = 9600;
  t.timing.engines[static_cast<size_t>(Engine::vector)] = {1, 960, {}};
  t.timing.engines[static_cast<size_t>(Engine::sync)] = {1, 480, {}};
  t.timing.hbm_read_bytes = 4096;
  t.timing.dma_bytes = 4096;
  t.timing.dma_transfers = 1;
  t.timing.flops = 1000;
  t.instructions = {{0, 0, 480}, {1, 960, 1920}};
  t.waits = {{1, 480, 960, Reason::semaphore, 0}};
  return std::make_shared<const Timeline>(std::move(t));
}

// Two launches of it, back to back with a gap of 500 ns.
Session session() {
  Session s;
  s.spec = &trn2();
  const auto t = timeline();
  s.launches.push_back({t, 0, "add", 0, 100, 2100});
  s.launches.push_back({t, 0, "add", 0, 2600, 4600});
  return s;
}

}  // namespace

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
