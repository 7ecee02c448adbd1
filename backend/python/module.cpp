#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "backend/python/session.h"
#include "backend/runtime/runtime.h"
#include "isa/assembly.h"
#include "isa/card_page.h"
#include "isa/container.h"
#include "isa/dispatch.h"
#include "isa/spec_json.h"
#include "isa/table.h"
#include "isa/threads.h"
#include "nrt/nrt_sim.h"
#include "sim/hazards.h"
#include "sim/simulate.h"
#include "traces/counters.h"
#include "traces/fidelity.h"
#include "traces/perfetto.h"
#include "traces/replay/replay.h"
#include "traces/report.h"
#include "traces/summary.h"

namespace py = pybind11;
using namespace trn;

namespace {

// Microseconds by engine, the DMA queues together last.
template <class OfEngine>
py::dict active_us(OfEngine&& engine_ns, double dma_ns) {
  py::dict active;
  for (size_t e = 0; e < kEngines; ++e) active[py::str(std::string(name(static_cast<Engine>(e))))] = engine_ns(e) / 1e3;
  active["dma"] = dma_ns / 1e3;
  return active;
}

py::dict totals_of(const Session& s) {
  const Totals t = totals(s);
  py::dict d;
  d["duration_us"] = s.duration_ns() / 1e3;
  d["device_us"] = t.device_ns / 1e3;
  d["launch_gap_us"] = t.launch_gap_ns / 1e3;
  d["program_overhead_us"] = t.overhead_ns / 1e3;
  d["active_us"] = active_us([&](size_t e) { return t.engine_active_ns[e]; }, t.dma_active_ns);
  d["launches"] = t.launches;
  d["instructions"] = t.instructions;
  d["flops"] = t.flops;
  d["hbm_bytes"] = t.hbm_read_bytes + t.hbm_write_bytes;
  d["machine"] = s.spec ? s.spec->name : "";
  return d;
}

py::list waits_of(const Session& s, size_t count) {
  py::list out;
  for (const WaitGroup& w : top_waits(s)) {
    if (out.size() == count) break;
    py::dict d;
    d["engine"] = std::string(name(w.engine));
    d["reason"] = std::string(name(w.reason));
    d["waiter"] = w.waiter;
    d["blocker"] = w.blocker;
    d["us"] = w.ns / 1e3;
    d["count"] = w.count;
    out.append(d);
  }
  return out;
}

py::list programs_of(const Session& s) {
  py::list out;
  for (const ProgramGroup& g : by_program(s)) {
    py::dict d;
    d["op"] = g.op;
    d["program"] = g.program;
    d["launches"] = g.launches;
    d["us"] = g.device_ns / 1e3;
    d["flops"] = g.flops;
    d["hbm_bytes"] = g.hbm_bytes;
    out.append(d);
  }
  return out;
}

void write_perfetto_file(const Session& s, const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  write_perfetto(s, out);
  if (!out.flush()) throw Error(Fault::illegal, "the trace could not be written", path);
}

py::dict runtime_counters() {
  nrt_sim_counters_t c{};
  nrt_sim_get_counters(&c, sizeof c);
  py::dict d;
  d["launches"] = c.launches;
  d["programs_loaded"] = c.loads;
  d["programs_timed"] = c.timings;
  d["timings_cached"] = c.timings_cached;
  d["failed_requests"] = c.errors;
  d["bytes_to_device"] = c.bytes_to_device;
  d["bytes_to_host"] = c.bytes_to_host;
  d["device_us"] = c.device_ns / 1e3;
  return d;
}

py::dict machine() {
  const runtime::MachineDescription m = runtime::describe_machine();
  py::dict d;
  d["instance"] = m.instance;
  d["lnc"] = m.lnc;
  d["chips"] = m.chips;
  d["total_cores"] = m.total_cores;
  d["visible_cores"] = m.visible_cores;
  d["hbm_bytes_per_core"] = m.hbm_bytes_per_core;
  py::dict numbers;
  for (const SpecField& f : spec_fields()) {
    const Number& n = m.spec->*(f.member);
    numbers[py::str(std::string(f.name))] =
        py::make_tuple(n.value, std::string(name(n.provenance)), std::string(n.source));
  }
  d["spec"] = numbers;
  return d;
}

Program read_container(const py::bytes& bytes) {
  const auto text = static_cast<std::string_view>(bytes);
  return from_container(std::as_bytes(std::span(text.data(), text.size())));
}

// The machine of this process if `target` is empty.
const Spec& spec_of(const std::string& target) {
  const Spec& machine = *runtime::describe_machine().spec;
  return target.empty() ? machine : target_spec(target, machine);
}

// Times an executable without its data; the timeline goes to `trace` while it is simulated, unless that is empty.
py::dict time_program(const py::bytes& executable, const std::string& trace) {
  const Program p = read_container(executable);
  const Spec& s = spec_of(p.target);
  if (const Verdict bad = check(p, s)) throw Error(bad->fault, bad->rule, p.name);
  Timing t;
  if (trace.empty()) {
    t = simulate(p, s);
  } else {
    std::ofstream out(trace, std::ios::binary);
    PerfettoStream stream(p, s, out);
    t = simulate(p, s, &stream);
    stream.end(t);
    if (!out.flush()) throw Error(Fault::illegal, "the trace could not be written", trace);
  }
  const Clock clock(s);
  py::dict d;
  int64_t instructions = 0;
  for (const EngineTotals& e : t.engines) instructions += e.instructions;
  d["program"] = p.name;
  d["machine"] = s.name;
  d["duration_us"] = clock.to_ns(t.makespan) / 1e3;
  d["instructions"] = instructions;
  d["active_us"] =
      active_us([&](size_t e) { return clock.to_ns(t.engines[e].busy) / p.cores; }, clock.to_ns(t.dma_active));
  d["dma_bytes"] = t.dma_bytes;
  d["flops"] = t.flops;
  return d;
}

// The machine's Spec with other values for some of its numbers.
Spec with_numbers(const std::map<std::string, double>& numbers) {
  Spec s = *runtime::describe_machine().spec;
  for (const auto& [name, value] : numbers) {
    const auto& fields = spec_fields();
    const auto at = std::find_if(fields.begin(), fields.end(), [&](const SpecField& f) { return f.name == name; });
    if (at == fields.end()) throw Error(Fault::illegal, "the Spec has no number of this name", name);
    if (!(value >= at->least && value <= at->most))
      throw Error(Fault::illegal, "a number of the Spec is out of its range", name);
    (s.*(at->member)).value = value;
  }
  return s;
}

py::tuple replay_profile(const std::string& path, bool unknown_phase, const std::map<std::string, double>& numbers) {
  const Spec spec = with_numbers(numbers);
  std::string report, predictions;
  {
    py::gil_scoped_release unlocked;
    const replay::Profile profile = replay::load_profile(path);
    const replay::Result result = replay::replay(profile, spec, {.unknown_phase = unknown_phase});
    report = replay::report_json(profile, result);
    predictions = replay::predictions_json(profile, result);
  }
  return py::make_tuple(report, predictions);
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  m.doc() = "trnsim's machine, traces and tools; the Python package wraps these";
  py::register_exception<Error>(m, "Error", PyExc_RuntimeError);

  py::class_<Session>(m, "Session")
      .def("totals", &totals_of)
      .def("top_waits", &waits_of)
      .def("programs", &programs_of)
      .def("fidelity_json", &fidelity_json, py::call_guard<py::gil_scoped_release>())
      .def("summary_json", &summary_json, py::call_guard<py::gil_scoped_release>())
      .def("report_json", &report_json, py::arg("max_slices") = 60000, py::call_guard<py::gil_scoped_release>())
      .def("write_perfetto", &write_perfetto_file, py::call_guard<py::gil_scoped_release>());

  py::class_<runtime::Recording, std::shared_ptr<runtime::Recording>>(m, "Recording")
      .def("finish", [](const std::shared_ptr<runtime::Recording>& r) {
        py::gil_scoped_release unlocked;
        return python::take_session(r);
      });
  m.def("start_recording", [] { return runtime::recorder().start(); });
  m.def("last_launch", &python::last_launch, py::call_guard<py::gil_scoped_release>());
  m.def("counters", &runtime_counters);
  m.def("machine", &machine);
  m.def("mode", [] { return static_cast<int>(nrt_sim_get_mode()); });
  m.def("set_mode", [](int mode) { nrt_sim_set_mode(static_cast<nrt_sim_mode_t>(mode)); });

  m.def("time_program", &time_program, py::arg("executable"), py::arg("trace") = "");
  m.def("set_threads", &set_threads);
  m.def("replay", &replay_profile, py::arg("path"), py::arg("unknown_phase") = false,
        py::arg("numbers") = std::map<std::string, double>{});

  m.def("isa_text", [](const std::string& target) { return isa_text(spec_of(target)); });
  m.def("isa_markdown", &isa_markdown);
  m.def("isa_json", &isa_json);
  m.def("card_text", [](const std::string& n, const std::string& t) { return card_text(n, spec_of(t)); });
  m.def("card_markdown", [](const std::string& n, const std::string& t) { return card_markdown(n, spec_of(t)); });
  m.def("card_json", [](const std::string& n, const std::string& t) { return card_json(n, spec_of(t)); });
  m.def("assemble", [](const std::string& text) {
    const std::vector<std::byte> bytes = to_container(from_assembly(text));
    return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  m.def("disassemble", [](const py::bytes& bytes) { return to_assembly(read_container(bytes)); });
  m.def("check", [](const py::bytes& bytes) {
    const Program p = read_container(bytes);
    py::list findings;
    for (const Finding& f : find_hazards(p, spec_of(p.target))) {
      py::dict d;
      d["kind"] = std::string(name(f.kind));
      d["fault"] = std::string(fault_name(f.fault));
      d["rule"] = f.rule.in(p);
      d["advice"] = f.advice;
      d["text"] = explain(f, p);
      findings.append(d);
    }
    return findings;
  });
}
