#pragma once
#include <string_view>

#include "backend/torch/operator.h"

namespace trn::torch_backend {

// What PyTorch's host kernels refuse and its shape functions do not: numbers and sizes that the host knows before a
// call. `op` without overload and without the underscore of its in-place variant ("aten::fill"). Null for most.
Prepare check_for(std::string_view op);

}  // namespace trn::torch_backend
