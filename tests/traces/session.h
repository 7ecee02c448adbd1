#pragma once
#include <memory>

#include "isa/isa.h"
#include "traces/session.h"

namespace trn::test {

// One copy on Vector that waited 480 ticks (100 ns) for a load; busy 960 ticks (200 ns).
inline std::shared_ptr<const Timeline> timeline() {
  auto program = std::make_shared<Program>();
  program->name = std::string(1, 'p');
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
inline Session session() {
  Session s;
  s.spec = &trn2();
  const auto t = timeline();
  s.launches.push_back({t, 0, "add", 0, 100, 2100});
  s.launches.push_back({t, 0, "add", 0, 2600, 4600});
  return s;
}

}  // namespace trn::test
