#include "traces/fidelity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "isa/dispatch.h"
#include "isa/table.h"
#include "sim/sensitivity.h"
#include "traces/counters.h"

namespace trn {
namespace {

constexpr double kExamined = 0.95;

// Launches by Program, most device time first.
struct Executed {
  std::shared_ptr<const Timeline> what;
  double launches = 0, device_ns = 0;
};
std::vector<Executed> executed(const Session& s) {
  std::map<const Timeline*, Executed> by_program;
  for (const Launch& l : s.launches) {
    Executed& e = by_program[l.what.get()];
    e.what = l.what;
    ++e.launches;
    e.device_ns += l.end_ns - l.start_ns;
  }
  std::vector<Executed> out;
  for (auto& [_, e] : by_program) out.push_back(std::move(e));
  std::stable_sort(out.begin(), out.end(), [](const Executed& a, const Executed& b) {
    return a.device_ns != b.device_ns ? a.device_ns > b.device_ns : a.what->program->name < b.what->program->name;
  });
  return out;
}

const SpecField& host_number() {
  return *std::find_if(spec_fields().begin(), spec_fields().end(),
                       [](const SpecField& f) { return f.member == &Spec::host_dispatch_ns; });
}

}  // namespace

const Fidelity::Leaning* Fidelity::largest_assumption() const {
  const auto at = std::find_if(numbers.begin(), numbers.end(),
                               [](const Leaning& l) { return l.provenance == Provenance::assumed; });
  return at == numbers.end() ? nullptr : &*at;
}

Fidelity fidelity(const Session& s) {
  Fidelity f;
  if (!s.spec || s.launches.empty()) return f;
  const Totals t = totals(s);
  std::vector<double> ns(spec_fields().size());
  double seen = 0;
  for (const Executed& e : executed(s)) {
    for (const Instruction& i : e.what->program->instructions)
      f.instructions[static_cast<size_t>(row(i).status)] += static_cast<int64_t>(e.launches);
    if (seen >= kExamined * t.device_ns) continue;
    const std::vector<double> one = sensitivity(*e.what->program, *s.spec, e.what->loads ? *e.what->loads : Loads{});
    for (size_t i = 0; i < ns.size(); ++i) ns[i] += e.launches * one[i];
    seen += e.device_ns;
  }
  f.examined = t.device_ns > 0 ? seen / t.device_ns : 0;

  double sum = 0;
  for (const double x : ns) sum += std::fabs(x);
  const double duration = s.duration_ns();
  const double device = std::min(t.device_ns, duration) / duration;
  for (size_t i = 0; i < ns.size(); ++i) {
    const SpecField& field = spec_fields()[i];
    if (ns[i] != 0)
      f.numbers.push_back({&field, (s.spec->*field.member).provenance, device * std::fabs(ns[i]) / sum, ns[i]});
  }
  if (device < 1)
    f.numbers.push_back({&host_number(), s.spec->host_dispatch_ns.provenance, 1 - device, (1 - device) * duration});
  std::stable_sort(f.numbers.begin(), f.numbers.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  for (const Fidelity::Leaning& l : f.numbers) f.share[static_cast<size_t>(l.provenance)] += l.share;
  return f;
}

std::string fidelity_json(const Session& s) {
  const Fidelity f = fidelity(s);
  nlohmann::ordered_json j;
  for (int p = 0; p < 3; ++p) j["share"][std::string(name(static_cast<Provenance>(p)))] = f.share[p];
  for (int k = 0; k < 3; ++k) j["instructions"][std::string(name(static_cast<Status>(k)))] = f.instructions[k];
  j["examined"] = f.examined;
  j["numbers"] = nlohmann::ordered_json::array();
  for (const Fidelity::Leaning& l : f.numbers) {
    const Number& n = s.spec->*(l.number->member);
    j["numbers"].push_back({{"name", l.number->name},
                            {"doc", l.number->doc},
                            {"provenance", name(l.provenance)},
                            {"value", n.value},
                            {"spread", n.spread},
                            {"source", n.source},
                            {"share", l.share},
                            {"us_per_10_percent", l.ns * 0.1 / 1e3}});
  }
  const Fidelity::Leaning* worst = f.largest_assumption();
  j["largest_assumption"] = worst ? nlohmann::ordered_json(worst->number->name) : nlohmann::ordered_json();
  return j.dump();
}

}  // namespace trn
