#include <nrt/nrt_sim.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "backend/torch/allocator.h"
#include "backend/torch/compiled_module.h"
#include "backend/torch/dispatch.h"
#include "backend/torch/event.h"
#include "backend/torch/generator.h"
#include "backend/torch/program_log.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace py = pybind11;

namespace trn::torch_backend {
namespace {

py::list segment_list() {
  py::list out;
  for (const SegmentReport& s : segments()) {
    py::list blocks;
    for (const BlockReport& b : s.blocks) {
      py::dict block;
      block["address"] = b.address;
      block["size"] = b.size;
      block["requested_size"] = b.requested;
      block["state"] = b.allocated ? "active_allocated" : "inactive";
      block["frames"] = py::list();
      blocks.append(block);
    }
    py::dict segment;
    segment["device"] = static_cast<int>(s.device);
    segment["segment_type"] = s.large ? "large" : "small";
    segment["address"] = s.address;
    segment["total_size"] = s.size;
    segment["allocated_size"] = s.allocated;
    segment["active_size"] = s.allocated;
    segment["stream"] = 0;
    segment["segment_pool_id"] = py::make_tuple(0, 0);
    segment["is_expandable"] = false;
    segment["frames"] = py::list();
    segment["blocks"] = blocks;
    out.append(segment);
  }
  return out;
}

std::string device_name() {
  nrt_instance_info_t info{};
  check(nrt_get_instance_info(&info, sizeof info), "nrt_get_instance_info");
  return info.arch_name;
}

py::dict counters() {
  nrt_sim_counters_t c{};
  check(nrt_sim_get_counters(&c, sizeof c), "nrt_sim_get_counters");
  py::dict out;
  out["launches"] = c.launches;
  out["timings"] = c.timings;
  out["timings_cached"] = c.timings_cached;
  out["loads"] = c.loads;
  out["errors"] = c.errors;
  out["bytes_to_device"] = c.bytes_to_device;
  out["bytes_to_host"] = c.bytes_to_host;
  out["device_ns"] = c.device_ns;
  return out;
}

// Events by torch.Event.event_id, which is the guard's own pointer; 0 before the first record().
double elapsed_ms(uint64_t start, uint64_t end) {
  TORCH_CHECK_VALUE(start && end, "Both events must be recorded before calculating elapsed time.");
  return Event::elapsed(*reinterpret_cast<const Event*>(start), *reinterpret_cast<const Event*>(end));
}

int checked_device(int device) {
  TORCH_CHECK(device >= -1 && device < 128, "invalid neuron device index ", device);
  return checked(static_cast<c10::DeviceIndex>(device));
}

}  // namespace
}  // namespace trn::torch_backend

// What may wait or start the runtime runs without the GIL. torch's wrappers let Ctrl-C and torch's exception types
// through.
PYBIND11_MODULE(_C, m) {
  using namespace trn::torch_backend;
  using torch::wrap_pybind_function;
  using torch::wrap_pybind_function_no_gil;
  using Index = c10::DeviceIndex;

  m.def("init", wrap_pybind_function_no_gil(&ensure_runtime));
  m.def("is_initialized", &runtime_usable);
  m.def("in_bad_fork", &in_bad_fork);
  m.def("device_count", [] { return static_cast<int>(device_count()); });
  m.def("device_name", wrap_pybind_function(&device_name));
  m.def("checked_device", wrap_pybind_function(&checked_device));
  m.def("current_device", [] { return static_cast<int>(current_device()); });
  m.def("exchange_device", wrap_pybind_function([](int device) {
          return static_cast<int>(exchange_device(static_cast<Index>(checked_device(device))));
        }));
  m.def("synchronize",
        wrap_pybind_function_no_gil([](int device) { synchronize(static_cast<Index>(checked_device(device))); }));
  m.def("memory_info", wrap_pybind_function_no_gil([](int device) {
          return allocator()->getMemoryInfo(static_cast<Index>(checked_device(device)));
        }));
  m.def("default_generator",
        wrap_pybind_function([](int device) { return default_generator(static_cast<Index>(checked_device(device))); }));
  m.def("elapsed_ms", wrap_pybind_function_no_gil(&elapsed_ms));
  m.def("segments", wrap_pybind_function(&segment_list));
  m.def("counters", wrap_pybind_function(&counters));
  m.def("executed_ops", &executed_ops);
  m.def("fallback_ops", &fallback_ops);
  m.def("clear_op_tracking", &clear_op_tracking);
  m.def("program_statistics", &program_statistics);
  m.def("registered_ops", [] {
    std::map<std::string, std::pair<std::string, std::string>> rows;  // by overload: its row's name, notes
    for (RegisteredOp& op : registered_ops()) rows[op.overload] = {std::move(op.row), std::move(op.notes)};
    return rows;
  });
  m.def("made_programs", [] {
    py::list all;
    for (const MadeProgram& p : made_programs()) all.append(py::make_tuple(p.op, p.line, p.arguments, p.operators));
    return all;
  });
  m.def("note_program", wrap_pybind_function([](std::string op, std::string line, std::vector<std::string> arguments,
                                                int64_t operators) {
          note_program({std::move(op), std::move(line), std::move(arguments), operators});
        }));
  bind_compiled(m);
}
