#pragma once
#include <span>
#include <string_view>

#include "backend/torch/lowerings/lowering.h"

namespace trn::torch_backend {

// The operator table: every family's rows, in the order of lowering.h. Free of torch.
std::span<const Row> operator_table();
const Row* row_named(std::string_view op);  // "add.Tensor"; null if there is none

}  // namespace trn::torch_backend
