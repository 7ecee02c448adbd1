#include "backend/torch/compiled_module.h"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/jit/python/pybind_utils.h>

#include "backend/torch/compiled.h"
#include "memory/error.h"

namespace py = pybind11;

namespace trn::torch_backend {
namespace {

c10::OperatorHandle operator_named(const std::string& name, const std::string& overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload.c_str());
}

// False if the op has to run by itself; `why` says so in words.
py::object call(GraphBuilder& builder, const std::string& name, const std::string& overload, const py::tuple& args,
                const py::dict& kwargs, const std::vector<std::optional<at::Tensor>>& results) {
  const c10::OperatorHandle op = operator_named(name, overload);
  const torch::jit::ToIValueAllowNumbersAsTensors numbers(true);
  const c10::Stack stack =
      torch::jit::createStackForSchema(op.schema(), torch::jit::tuple_slice(args), py::kwargs(kwargs), std::nullopt);
  std::vector<at::Tensor> given;
  for (const auto& t : results) given.push_back(t.value_or(at::Tensor()));
  try {
    builder.call(op, stack, given);
  } catch (const NotLowered& why) {
    return py::str(why.what());
  } catch (const Error& e) {
    TORCH_CHECK(false, name, ": COMPILATION FAILED: ", e.what());
  }
  return py::none();
}

}  // namespace

void bind_compiled(py::module_& m) {
  using torch::wrap_pybind_function;
  using torch::wrap_pybind_function_no_gil;

  py::class_<CompiledProgram, std::shared_ptr<CompiledProgram>>(m, "CompiledProgram")
      .def("run", wrap_pybind_function_no_gil(
                      [](CompiledProgram& p, std::vector<at::Tensor> inputs) { return p.run(std::move(inputs)); }))
      .def_property_readonly("name", [](const CompiledProgram& p) { return p.name(); })
      .def_property_readonly("nodes", &CompiledProgram::nodes);

  py::class_<GraphBuilder>(m, "GraphBuilder")
      .def(py::init<const std::string&, int>(), py::arg("name"), py::arg("device"))
      .def("input", wrap_pybind_function(&GraphBuilder::input))
      .def("call", wrap_pybind_function(&call), "None, or why the op has to run by itself.")
      .def("write_input", wrap_pybind_function(&GraphBuilder::write_input))
      .def("storage", &GraphBuilder::storage)
      .def("output", wrap_pybind_function(&GraphBuilder::output))
      .def("compile", wrap_pybind_function_no_gil([](GraphBuilder& b) { return b.compile(); }));

  m.def("is_lowered", wrap_pybind_function([](const std::string& name, const std::string& overload) {
          return is_lowered(operator_named(name, overload));
        }));
}

}  // namespace trn::torch_backend
