#include "traces/replay/score.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "traces/replay/operands.h"

namespace trn::replay {
namespace {

using Interval = std::pair<double, double>;

Spread spread(std::vector<double> errors) {
  Spread s;
  s.count = errors.size();
  if (errors.empty()) return s;
  std::sort(errors.begin(), errors.end());
  const auto at = [&](double share) {
    return errors[static_cast<size_t>(share * static_cast<double>(s.count - 1) + 0.5)];
  };
  s.median = at(0.5);
  s.p90 = at(0.9);
  s.most = errors.back();
  return s;
}

double covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  double sum = 0, to = -1e300;
  for (const auto& [a, b] : intervals) {
    sum += std::max(0.0, b - std::max(a, to));
    to = std::max(to, b);
  }
  return sum;
}

double relative(double predicted, double measured) {
  return measured > 0 ? std::abs(predicted - measured) / measured : 0;
}

// When each DMA row's semaphore was seen to count its transfer: the n-th transfer of a semaphore is done with the sum
// of the first n increments.
void measured_completions(const Profile& p, Result& r) {
  std::map<std::pair<std::string, int>, std::vector<Row*>> triggers;
  std::map<const Row*, int64_t> increments;
  for (Row& x : r.rows) {
    if (!x.dma) continue;
    const Operands o = parse_operands(p.instructions[x.row].operands);
    const int64_t id = o.number("semaphore", -1);
    if (id < 0) continue;
    triggers[{p.instructions[x.row].subgraph, static_cast<int>(id)}].push_back(&x);
    increments[&x] = o.number("sem_increment", 16);
  }
  std::map<std::pair<std::string, int>, std::vector<const SemaphoreRow*>> updates;
  for (const SemaphoreRow& s : p.semaphores) {
    if (static_cast<double>(s.time) < r.origin) continue;
    const Operands o = parse_operands(s.name.starts_with("S[") ? s.name + ">=1" : "S[" + s.name + "]>=1");
    if (!o.waits.empty()) updates[{s.subgraph, o.waits[0].semaphore}].push_back(&s);
  }
  for (auto& [key, rows] : triggers) {
    std::sort(rows.begin(), rows.end(),
              [&](const Row* a, const Row* b) { return p.instructions[a->row].start < p.instructions[b->row].start; });
    auto& posts = updates[key];
    std::stable_sort(posts.begin(), posts.end(), [](auto* a, auto* b) { return a->time < b->time; });
    int64_t counted = 0, last = 0, wanted = 0;
    size_t next = 0;
    for (const SemaphoreRow* post : posts) {
      if (next == rows.size()) break;
      if (post->value > last) counted += post->value - last;
      last = post->value;
      while (next < rows.size() && counted >= wanted + increments[rows[next]]) {
        rows[next]->measured_done = static_cast<double>(post->time);
        wanted += increments[rows[next++]];
      }
    }
  }
}

std::string engine_of(const std::string& label) { return label == "TensorMatrix" ? "Tensor" : label; }

void activities(const Profile& p, Result& r, double dma_active_ns) {
  std::map<std::string, std::vector<Interval>> measured, predicted;
  double end = r.origin;
  for (const Row& x : r.rows) {
    const InstructionRow& in = p.instructions[x.row];
    const auto start = static_cast<double>(in.start);
    measured[engine_of(in.label)].emplace_back(start, start + static_cast<double>(in.duration));
    predicted[engine_of(in.label)].emplace_back(x.start, x.end);
    end = std::max(end, start + static_cast<double>(in.duration));
  }
  for (const char* name : {"Tensor", "Vector", "Scalar", "GpSimd", "Sync"})
    if (measured.contains(name))
      r.activity.push_back(
          {name, covered(measured[name]) / r.measured_makespan, covered(predicted[name]) / r.predicted_makespan});
  std::set<std::string> subgraphs;
  for (const Row& x : r.rows) subgraphs.insert(p.instructions[x.row].subgraph);
  std::vector<Interval> packets;
  for (const PacketRow& k : p.packets)
    if (k.kind != "instruction" && subgraphs.contains(k.subgraph) && static_cast<double>(k.start) >= r.origin &&
        static_cast<double>(k.start) < end)
      packets.emplace_back(static_cast<double>(k.start), static_cast<double>(k.start + k.duration));
  if (!packets.empty())
    r.activity.push_back({"DMA", covered(packets) / r.measured_makespan, dma_active_ns / r.predicted_makespan});
}

void opcodes(const Profile& p, Result& r) {
  std::map<std::pair<std::string, std::string>, std::pair<OpcodeLine, std::vector<double>>> lines;
  for (const Row& x : r.rows) {
    const InstructionRow& in = p.instructions[x.row];
    auto& [line, errors] = lines[{in.label, in.opcode}];
    line.engine = in.label;
    line.opcode = in.opcode;
    ++line.count;
    line.measured_ns += static_cast<double>(in.duration);
    line.predicted_ns += x.end - x.start;
    line.unmodelled = line.unmodelled || x.unmodelled;
    errors.push_back(relative(x.end - x.start, static_cast<double>(in.duration)));
  }
  for (auto& [key, entry] : lines) {
    entry.first.error = spread(std::move(entry.second));
    r.opcodes.push_back(std::move(entry.first));
  }
}

}  // namespace

void score(const Profile& p, const ProfileWork&, Result& r, double dma_active_ns) {
  double end = r.origin;
  for (const Row& x : r.rows) {
    const InstructionRow& in = p.instructions[x.row];
    end = std::max(end, static_cast<double>(in.start + in.duration));
  }
  r.measured_makespan = end - r.origin;
  measured_completions(p, r);
  std::vector<double> durations, drifts, transfers;
  for (const Row& x : r.rows) {
    const InstructionRow& in = p.instructions[x.row];
    const auto start = static_cast<double>(in.start);
    drifts.push_back(std::abs(x.start - start) / std::max(1.0, r.measured_makespan));
    if (x.compute) durations.push_back(relative(x.end - x.start, static_cast<double>(in.duration)));
    if (x.done >= 0 && x.measured_done >= 0) transfers.push_back(relative(x.done - x.start, x.measured_done - start));
  }
  r.duration = spread(std::move(durations));
  r.drift = spread(std::move(drifts));
  r.transfers = spread(std::move(transfers));
  activities(p, r, dma_active_ns);
  opcodes(p, r);
}

}  // namespace trn::replay
