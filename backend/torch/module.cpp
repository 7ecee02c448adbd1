#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>

#include "backend/torch/allocator.h"
#include "backend/torch/generator.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace py = pybind11;

namespace trn::torch_backend {
namespace {

// The runtime may wait inside these, so they run without the GIL; Python errors (Ctrl-C) pass through.
template <typename F>
auto waiting(F f) {
  return torch::wrap_pybind_function_no_gil(f);
}

py::list segment_list() {
  py::list out;
  for (const SegmentReport& s : segments()) {
    py::dict d;
    d["device"] = static_cast<int>(s.device);
    d["segment_type"] = s.large ? "large" : "small";
    d["address"] = s.address;
    d["total_size"] = s.size;
    d["allocated_size"] = s.allocated;
    d["largest_free"] = s.largest_free;
    out.append(d);
  }
  return out;
}

int exchange_device_int(int device) { return exchange_device(checked(static_cast<c10::DeviceIndex>(device))); }

}  // namespace
}  // namespace trn::torch_backend

PYBIND11_MODULE(_C, m) {
  using namespace trn::torch_backend;
  m.def("init", waiting(&ensure_runtime));
  m.def("is_initialized", &runtime_usable);
  m.def("in_bad_fork", &in_bad_fork);
  m.def("device_count", [] { return static_cast<int>(device_count()); });
  m.def("current_device", [] { return static_cast<int>(current_device()); });
  m.def("exchange_device", torch::wrap_pybind_function(exchange_device_int));
  m.def("synchronize", waiting([](int device) { synchronize(checked(static_cast<c10::DeviceIndex>(device))); }));
  m.def("default_generator", [](int device) { return default_generator(static_cast<c10::DeviceIndex>(device)); });
  m.def("segments", &segment_list);
}
