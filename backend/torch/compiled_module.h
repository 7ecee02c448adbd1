#pragma once
#include <torch/csrc/utils/pybind.h>

namespace trn::torch_backend {

// GraphBuilder and CompiledProgram for torch_neuronx/_graph.py.
void bind_compiled(pybind11::module_& m);

}  // namespace trn::torch_backend
