#include "backend/compiler/issue_model.h"

#include <algorithm>
#include <cmath>

#include "isa/by_engine.h"

namespace trn::compiler {
namespace {

IssueCost dma_cost(const Transfer& t, const Spec& s) {
  const double packets = std::max(1.0, std::ceil(static_cast<double>(t.chunk_bytes) / s.dma_max_packet_bytes));
  const double byte_ns = 1 / (t.peak * s.dma_bytes_per_ns) + s.dma_stall_byte_ns;
  const double row_ns = static_cast<double>(std::max<int64_t>(t.chunks, 1)) *
                        (packets * s.dma_packet_ns + static_cast<double>(t.chunk_bytes) * byte_ns);
  const double rows = static_cast<double>(std::max<int64_t>(t.rows, 1));
  const double groups = std::ceil(rows / s.dma_partitions_per_engine);
  const double rounds = std::ceil(groups / s.dma_engines);
  const double in_round =
      rows > s.dma_partitions_per_engine ? s.dma_partitions_per_engine : std::max(1.0, rows / s.dma_engines);
  IssueCost c{};
  c.is_dma = true;
  c.hardware = !t.software;
  c.table = -1;
  c.transfer = static_cast<float>(rounds * in_round * row_ns);
  double first = 0;
  if (t.software) {
    c.busy = static_cast<float>(s.dma_swdge_interval_ns);
    first = s.dma_swdge_build_ns + (t.reads_hbm ? s.dma_swdge_first_packet_hbm_ns : s.dma_swdge_first_packet_sbuf_ns);
  } else {
    c.busy = static_cast<float>(t.pattern_dims > 1 ? s.dma_trigger_2d_ns : s.dma_trigger_1d_ns);
    first = c.busy + (t.reads_hbm ? s.dma_first_packet_hbm_ns : s.dma_first_packet_sbuf_ns);
  }
  c.latency = static_cast<float>(first);
  return c;
}

}  // namespace

uint8_t queue_of(Engine e) {
  for (size_t q = 0; q < kQueues.size(); ++q)
    if (kQueues[q].engine == e) return static_cast<uint8_t>(q);
  throw Error(Fault::illegal, "this engine's stream feeds no DMA queue", std::string(name(e)));
}

IssueCost issue_cost(const Program& p, const Instruction& i, const Spec& s) {
  const Cost cost = row(i).cost(p.raw_args(i), i.engine, s);
  if (row(i).is_dma) return dma_cost(cost.transfer, s);
  const double cycle = 1 / by_engine::ghz(i.engine, s);
  IssueCost c{};
  c.busy = static_cast<float>(std::max(cost.busy, cost.preload) * cycle);
  c.latency =
      static_cast<float>(cost.latency * cycle + s.semaphore_post_ns + by_engine::semaphore_wait_ns(i.engine, s));
  if (i.engine == Engine::tensor)
    c.latency = static_cast<float>(c.busy + s.pe_latency_ns + s.semaphore_post_ns + s.semaphore_wait_vector_ns);
  c.table = cost.table_load ? static_cast<int16_t>(cost.table) : int16_t{-1};
  return c;
}

IssueModel::IssueModel(const Spec& s)
    : depth_(std::clamp(static_cast<int>(s.dma_queue_depth), 1, kMostDepth)),
      stall_(static_cast<float>(s.dma_queue_stall_ns)),
      table_load_(static_cast<float>(s.scalar_table_load_ns)),
      completion_(static_cast<float>(s.dma_completion_load_ns)) {
  table_.fill(-1);
}

double IssueModel::start(const Instruction& i, const IssueCost& c, double ready) const {
  const int stream = engine_stream(i);
  double at = std::max(engine_[stream], ready);
  if (c.table >= 0 && c.table != table_[stream]) at += table_load_;
  if (!c.is_dma) return at;
  const Queue& q = queue_[queue_stream(i)];
  if (q.issued < static_cast<uint32_t>(depth_)) return at;
  return std::max(at, q.done[q.issued % static_cast<uint32_t>(depth_)] + stall_);
}

double IssueModel::issue(const Instruction& i, const IssueCost& c, double start) {
  const int stream = engine_stream(i);
  engine_[stream] = start + c.busy;
  double done = start + c.latency;
  if (c.table >= 0) table_[stream] = c.table;
  if (c.is_dma) {
    double& free = dma_free_[i.core];
    const double first = std::max(done, free);
    free = first + c.transfer;
    done = first + c.transfer + completion_;
    Queue& q = queue_[queue_stream(i)];
    q.done[q.issued++ % static_cast<uint32_t>(depth_)] = done;
  }
  makespan_ = std::max(makespan_, done);
  return done;
}

}  // namespace trn::compiler
