#include "traces/report.h"

#include <map>
#include <nlohmann/json.hpp>

#include "isa/dispatch.h"
#include "traces/counters.h"

namespace trn {
namespace {

using Json = nlohmann::ordered_json;

// Slices of one track as columns: names by number, starts and lengths in nanoseconds.
struct Track {
  std::string title;
  std::vector<int> what;
  std::vector<double> start, length;
};

class Tracks {
 public:
  explicit Tracks(size_t room) : room_(room) {}
  void add(const std::string& track, std::string_view what, double start, double end) {
    ++total_;
    if (kept_ == room_) return;
    ++kept_;
    const auto [at, fresh] = index_.try_emplace(track, tracks_.size());
    if (fresh) tracks_.push_back({track, {}, {}, {}});
    Track& t = tracks_[at->second];
    t.what.push_back(names_.try_emplace(std::string(what), static_cast<int>(names_.size())).first->second);
    t.start.push_back(std::round(start * 10) / 10);
    t.length.push_back(std::round((end - start) * 10) / 10);
  }
  Json json() const {
    Json j;
    std::vector<std::string> names(names_.size());
    for (const auto& [text, number] : names_) names[static_cast<size_t>(number)] = text;
    j["names"] = names;
    j["kept"] = kept_;
    j["total"] = total_;
    j["tracks"] = Json::array();
    for (const auto& [title, at] : index_) {
      const Track& t = tracks_[at];
      j["tracks"].push_back({{"title", t.title.substr(2)}, {"what", t.what}, {"start", t.start}, {"length", t.length}});
    }
    return j;
  }

 private:
  size_t room_, kept_ = 0, total_ = 0;
  std::map<std::string, size_t> index_;  // titles start with a digit that orders them
  std::vector<Track> tracks_;
  std::map<std::string, int> names_;
};

Json timeline(const Session& s, size_t max_slices) {
  Tracks tracks(max_slices);
  const Clock clock(*s.spec);
  for (const HostSpan& h : s.host)
    tracks.add("0 host", h.what.empty() ? std::string(name(h.work)) : h.what, h.start_ns, h.end_ns);
  for (const Launch& l : s.launches) {
    const Program& p = *l.what->program;
    const std::string core = s.launches.front().core == l.core ? "" : " neuron:" + std::to_string(l.core);
    const auto at = [&](Tick t) { return l.start_ns + clock.to_ns(t); };
    tracks.add("1 Programs" + core, l.op.empty() ? p.name : l.op, l.start_ns, l.end_ns);
    for (const InstructionEvent& e : l.what->instructions) {
      const Instruction& in = p.instructions[e.instruction];
      const auto engine = static_cast<size_t>(in.engine);
      tracks.add(std::to_string(2 + engine) + " " + std::string(kEngineNames[engine].profiler) +
                     (p.cores > 1 ? " nc" + std::to_string(in.core) : "") + core,
                 row(in).name, at(e.start), at(e.end));
    }
    for (const TransferEvent& e : l.what->transfers)
      tracks.add("8 DMA queue " + std::to_string(e.queue) + core, row(p.instructions[e.instruction]).name, at(e.begin),
                 at(e.end));
  }
  return tracks.json();
}

}  // namespace

std::string report_json(const Session& s, size_t max_slices) {
  Json j;
  if (!s.spec) return "{}";
  const Totals t = totals(s);
  j["machine"] = s.spec->name;
  j["duration_us"] = s.duration_ns() / 1e3;
  j["launches"] = t.launches;
  j["instructions"] = t.instructions;
  j["device_us"] = t.device_ns / 1e3;
  j["launch_gap_us"] = t.launch_gap_ns / 1e3;
  j["program_overhead_us"] = t.overhead_ns / 1e3;
  for (size_t e = 0; e < kEngines; ++e)
    j["active_us"][std::string(kEngineNames[e].profiler)] = t.engine_active_ns[e] / 1e3;
  j["active_us"]["DMA"] = t.dma_active_ns / 1e3;
  j["flops"] = t.flops;
  j["hbm_bytes"] = t.hbm_read_bytes + t.hbm_write_bytes;
  j["peak_gflops"] = s.peak_flops_per_ns();
  j["peak_gbps"] = static_cast<double>(s.spec->hbm_stack_bytes_per_ns);
  j["waits"] = Json::array();
  for (const WaitGroup& w : top_waits(s)) {
    if (j["waits"].size() == 40) break;
    j["waits"].push_back({{"engine", kEngineNames[static_cast<size_t>(w.engine)].profiler},
                          {"reason", name(w.reason)},
                          {"waiter", w.waiter},
                          {"blocker", w.blocker},
                          {"us", w.ns / 1e3},
                          {"count", w.count}});
  }
  const Clock clock(*s.spec);
  j["programs"] = Json::array();
  for (const ProgramGroup& g : by_program(s))
    j["programs"].push_back({{"op", g.op},
                             {"program", g.program},
                             {"launches", g.launches},
                             {"us", g.device_ns / 1e3},
                             {"flops", g.flops},
                             {"hbm_bytes", g.hbm_bytes},
                             {"one_us", clock.to_ns(g.timing.makespan) / 1e3}});
  j["timeline"] = timeline(s, max_slices);
  return j.dump();
}

}  // namespace trn
