#include <cmath>
#include <nlohmann/json.hpp>

#include "traces/replay/replay.h"

namespace trn::replay {
namespace {

using Json = nlohmann::ordered_json;

double tenth(double ns) { return std::round(ns * 10) / 10; }
double share(double x) { return std::round(x * 1e6) / 1e6; }

Json json(const Spread& s) {
  return {{"count", s.count}, {"median", share(s.median)}, {"p90", share(s.p90)}, {"most", share(s.most)}};
}

Json prediction(const Profile& p, const Row& x) {
  const InstructionRow& in = p.instructions[x.row];
  Json j{{"pc", in.pc},         {"subgraph", in.subgraph},    {"engine", in.label},
         {"opcode", in.opcode}, {"start_ns", tenth(x.start)}, {"end_ns", tenth(x.end)}};
  if (x.dma && x.done >= 0) j["done_ns"] = tenth(x.done);
  return j;
}

std::string dump(const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string predictions_json(const Profile& p, const Result& r) {
  Json list = Json::array();
  for (const Row& x : r.rows) list.push_back(prediction(p, x));
  return dump(list);
}

std::string report_json(const Profile& p, const Result& r) {
  Json j;
  j["profile"] = p.name;
  j["origin_ns"] = r.origin;
  j["makespan_ns"] = {{"measured", tenth(r.measured_makespan)},
                      {"predicted", tenth(r.predicted_makespan)},
                      {"least", tenth(r.least_makespan)},
                      {"most", tenth(r.most_makespan)}};
  j["makespan_error"] = share(r.measured_makespan > 0 ? r.predicted_makespan / r.measured_makespan - 1 : 0);
  j["phase_known"] = r.phase_known;
  j["duration_error"] = json(r.duration);
  j["drift"] = json(r.drift);
  j["transfer_error"] = json(r.transfers);
  j["activity"] = Json::array();
  for (const Activity& a : r.activity)
    j["activity"].push_back({{"engine", a.name}, {"measured", share(a.measured)}, {"predicted", share(a.predicted)}});
  j["opcodes"] = Json::array();
  for (const OpcodeLine& o : r.opcodes)
    j["opcodes"].push_back({{"engine", o.engine},
                            {"opcode", o.opcode},
                            {"count", o.count},
                            {"measured_ns", tenth(o.measured_ns)},
                            {"predicted_ns", tenth(o.predicted_ns)},
                            {"error", json(o.error)},
                            {"unmodelled", o.unmodelled}});
  j["notes"] = r.notes;
  j["rows"] = Json::array();
  for (const Row& x : r.rows) {
    const InstructionRow& in = p.instructions[x.row];
    Json row = prediction(p, x);
    row["measured_start_ns"] = in.start;
    row["measured_end_ns"] = in.start + in.duration;
    if (x.measured_done >= 0) row["measured_done_ns"] = x.measured_done;
    row["operands"] = in.operands.substr(0, 200);
    j["rows"].push_back(std::move(row));
  }
  return dump(j);
}

}  // namespace trn::replay
