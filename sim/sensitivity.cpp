#include "sim/sensitivity.h"

#include <cmath>

#include "sim/simulate.h"

namespace trn {
namespace {

constexpr double kStep = 0.02;

double makespan_ns(const Program& p, const Spec& s, const Loads& loads) {
  return Clock(s).to_ns(simulate(p, s, nullptr, {}, loads).makespan);
}

}  // namespace

std::vector<double> sensitivity(const Program& p, const Spec& s, const Loads& loads) {
  std::vector<double> out;
  for (const SpecField& f : spec_fields()) {
    const double value = s.*f.member;
    if (f.whole || value == 0 || f.name.starts_with("host_")) {
      out.push_back(0);
      continue;
    }
    Spec changed = s;
    (changed.*f.member).value = value * (1 - kStep);
    const double less = makespan_ns(p, changed, loads);
    (changed.*f.member).value = value * (1 + kStep);
    const double more = makespan_ns(p, changed, loads);
    out.push_back((more - less) / (std::log1p(kStep) - std::log1p(-kStep)));
  }
  return out;
}

}  // namespace trn
