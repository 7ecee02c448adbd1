#include "traces/counters.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "isa/dispatch.h"

namespace trn {

double Session::peak_flops_per_ns() const {
  return spec ? physical_cores * 2 * spec->pe_rows * spec->pe_columns * spec->tensor_ghz : 0;
}

double Session::duration_ns() const {
  double first = launches.empty() ? 0 : launches.front().submitted_ns, last = first;
  if (!host.empty()) first = launches.empty() ? host.front().start_ns : std::min(first, host.front().start_ns);
  for (const Launch& l : launches) last = std::max(last, l.end_ns);
  for (const HostSpan& h : host) last = std::max(last, h.end_ns);
  return last - first;
}

Totals totals(const Session& s) {
  Totals t;
  if (!s.spec) return t;
  const Clock clock(*s.spec);
  double free_at = s.launches.empty() ? 0 : s.launches.front().submitted_ns;
  for (const Launch& l : s.launches) {
    const Timing& timing = l.what->timing;
    ++t.launches;
    t.device_ns += l.end_ns - l.start_ns;
    t.overhead_ns += s.spec->program_preamble_ns + s.spec->program_postamble_ns;
    t.launch_gap_ns += std::max(0.0, l.start_ns - free_at);
    free_at = std::max(free_at, l.end_ns);
    for (size_t e = 0; e < kEngines; ++e) {
      t.engine_active_ns[e] += clock.to_ns(timing.engines[e].busy) / l.what->program->cores;
      t.engine_instructions[e] += timing.engines[e].instructions;
      t.instructions += timing.engines[e].instructions;
    }
    t.dma_active_ns += clock.to_ns(timing.dma_active);
    t.tensor_stream_ns += clock.to_ns(timing.tensor_stream) / l.what->program->cores;
    t.dma_transfers += timing.dma_transfers;
    t.dma_bytes += timing.dma_bytes;
    t.hbm_read_bytes += timing.hbm_read_bytes;
    t.hbm_write_bytes += timing.hbm_write_bytes;
    t.flops += timing.flops;
  }
  return t;
}

std::vector<WaitGroup> top_waits(const Session& s) {
  std::vector<WaitGroup> out;
  if (!s.spec) return out;
  const Clock clock(*s.spec);
  std::unordered_map<const Timeline*, int64_t> uses;
  for (const Launch& l : s.launches) ++uses[l.what.get()];
  std::map<std::tuple<Engine, Reason, std::string_view, std::string_view>, std::pair<double, int64_t>> groups;
  for (const auto& [timeline, n] : uses) {
    const auto& instructions = timeline->program->instructions;
    for (const WaitEvent& w : timeline->waits) {
      const Instruction& waiter = instructions[w.instruction];
      const std::string_view blocker =
          w.blocker == WaitEvent::kNobody ? std::string_view{} : row(instructions[w.blocker]).name;
      auto& [ns, count] = groups[{waiter.engine, w.reason, row(waiter).name, blocker}];
      ns += clock.to_ns(w.end - w.begin) * static_cast<double>(n);
      count += n;
    }
  }
  for (const auto& [key, value] : groups) {
    const auto& [engine, reason, waiter, blocker] = key;
    out.push_back({engine, reason, std::string(waiter), std::string(blocker), value.first, value.second});
  }
  std::stable_sort(out.begin(), out.end(), [](const WaitGroup& a, const WaitGroup& b) { return a.ns > b.ns; });
  return out;
}

std::vector<ProgramGroup> by_program(const Session& s) {
  std::map<std::pair<std::string_view, const Timeline*>, size_t> index;
  std::vector<ProgramGroup> out;
  for (const Launch& l : s.launches) {
    const auto [at, fresh] = index.try_emplace({l.op, l.what.get()}, out.size());
    if (fresh) {
      const Timing& t = l.what->timing;
      out.push_back({l.op, l.what->program->name, 0, 0, t, t.flops, t.hbm_read_bytes + t.hbm_write_bytes});
    }
    ++out[at->second].launches;
    out[at->second].device_ns += l.end_ns - l.start_ns;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const ProgramGroup& a, const ProgramGroup& b) { return a.device_ns > b.device_ns; });
  return out;
}

}  // namespace trn
