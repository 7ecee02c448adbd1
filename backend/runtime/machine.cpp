#include "backend/runtime/machine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "backend/runtime/status.h"
#include "isa/spec_json.h"
#include "nrt/nrt.h"

namespace trn::runtime {
namespace {

// Single-chip trn1 and inf2 only: what links their chips is not modelled.
constexpr std::array<Instance, 5> kInstances = {{
    {"trn2.3xlarge", NRT_INSTANCE_TRN2, NRT_INSTANCE_SIZE_3XL, 1, "trn2"},
    {"trn2.48xlarge", NRT_INSTANCE_TRN2, NRT_INSTANCE_SIZE_48XL, 16, "trn2"},
    {"trn2u.48xlarge", NRT_INSTANCE_TRN2U, NRT_INSTANCE_SIZE_48XL, 16, "trn2"},
    {"trn1.2xlarge", NRT_INSTANCE_TRN1, NRT_INSTANCE_SIZE_2XL, 1, "trn1"},
    {"inf2.xlarge", NRT_INSTANCE_INF2, NRT_INSTANCE_SIZE_1XL, 1, "inf2"},
}};

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

[[noreturn]] void bad(const char* name, std::string_view value, std::string_view rule) {
  fail(NRT_INVALID, std::string(name) + "=" + std::string(value) + ": " + std::string(rule));
}

int whole_number(const char* name, std::string_view text, int otherwise, int least, int most) {
  if (text.empty()) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    bad(name, text, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

const Instance& instance() {
  constexpr const char* name = "TRNSIM_INSTANCE";
  const std::string_view text = variable(name);
  if (text.empty()) return kInstances.front();
  const auto found =
      std::find_if(kInstances.begin(), kInstances.end(), [&](const Instance& i) { return i.name == text; });
  if (found == kInstances.end()) {
    std::string names;
    for (const Instance& i : kInstances) names += (names.empty() ? "" : ", ") + std::string(i.name);
    bad(name, text, "must be one of " + names);
  }
  return *found;
}

// Two physical cores a logical one are NeuronCore-v3's and later.
int logical_core_size(const Spec& s) {
  const int most = s.generation >= Generation::trn2 ? 2 : 1;
  constexpr const char* name = "NEURON_LOGICAL_NC_CONFIG";
  constexpr const char* alias = "NEURON_RT_VIRTUAL_CORE_SIZE";
  if (const auto text = variable(name); !text.empty()) return whole_number(name, text, most, 1, most);
  return whole_number(alias, variable(alias), most, 1, most);
}

// "0,2-3"
std::vector<int> core_list(std::string_view text, int total) {
  constexpr const char* name = "NEURON_RT_VISIBLE_CORES";
  std::vector<int> cores;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, comma - at);
    const size_t dash = std::min(part.find('-'), part.size());
    const int first = whole_number(name, part.substr(0, dash), -1, 0, total - 1);
    const int last = dash == part.size() ? first : whole_number(name, part.substr(dash + 1), -1, 0, total - 1);
    if (first < 0 || last < first) bad(name, text, "is a list of core indices and ranges such as 0,2-3");
    for (int core = first; core <= last; ++core) cores.push_back(core);
    at = comma + 1;
  }
  std::vector<int> sorted = cores;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) bad(name, text, "names a core twice");
  return cores;
}

// NEURON_PLATFORM_TARGET_OVERRIDE, or what the instance is made of. TRNSIM_SPEC overrules both (machine_spec).
const Spec& platform(const Instance& i) {
  constexpr const char* name = "NEURON_PLATFORM_TARGET_OVERRIDE";
  const std::string_view text = variable(name);
  if (text.empty()) return *spec_named(i.target);
  constexpr std::pair<std::string_view, Generation> generations[] = {
      {"gen2", Generation::trn1}, {"gen3", Generation::trn2}, {"gen4", Generation::trn3}};
  for (const auto& [gen, g] : generations)
    if (gen == text) return builtin_spec(g);
  if (const Spec* s = spec_named(text)) return *s;
  bad(name, text, "must be gen2, gen3, gen4 or one of " + std::string(builtin_spec_names()));
}

}  // namespace

int64_t Machine::hbm_bytes() const {
  const double cores_per_stack = spec->cores_per_chip / spec->hbm_stacks;
  return static_cast<int64_t>(spec->hbm_stack_bytes * lnc / cores_per_stack);
}

Machine machine_from_environment() {
  Machine m{.instance = instance(), .spec = nullptr, .wanted = {}};
  m.spec = &machine_spec(platform(m.instance));
  m.lnc = logical_core_size(*m.spec);
  m.total = m.instance.chips * static_cast<int>(m.spec->cores_per_chip) / m.lnc;
  if (const auto list = variable("NEURON_RT_VISIBLE_CORES"); !list.empty()) {
    m.wanted = core_list(list, m.total);
  } else {
    m.wanted.resize(static_cast<size_t>(m.total));
    std::iota(m.wanted.begin(), m.wanted.end(), 0);
    m.any = whole_number("NEURON_RT_NUM_CORES", variable("NEURON_RT_NUM_CORES"), 0, 0, m.total);
  }
  m.exec_timeout_s = whole_number("NEURON_RT_EXEC_TIMEOUT", variable("NEURON_RT_EXEC_TIMEOUT"), 30, 1, 1 << 30);
  m.max_inflight = whole_number("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS",
                                variable("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"), 0, 0, 1 << 20);
  m.strict = whole_number("TRNSIM_STRICT", variable("TRNSIM_STRICT"), 0, 0, 1) == 1;
  m.hbm_gib = whole_number("TRNSIM_HBM_GIB", variable("TRNSIM_HBM_GIB"), 0, 1, 1 << 14);
  return m;
}

Mode mode_from_environment() {
  constexpr const char* name = "TRNSIM_MODE";
  const std::string_view text = variable(name);
  if (text.empty() || text == "both") return Mode::both;
  if (text == "function") return Mode::function;
  if (text == "time") return Mode::time;
  bad(name, text, "must be function, time or both");
}

}  // namespace trn::runtime
