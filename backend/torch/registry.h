#pragma once
#include <span>
#include <string_view>

#include "backend/torch/lowerings/lowering.h"

namespace trn::torch_backend {

// The operator table: every family's rows, in the order of lowering.h. Free of torch.
std::span<const Row> operator_table();
const Row* row_named(std::string_view op);  // "add.Tensor"; null if there is none

// What a node of a compiled graph is lowered by: graph_rows() first; then the functional row; then the row of its
// in-place or out= form, whose first arguments are the same. Null if there is none.
const Row* graph_row(std::string_view op);

}  // namespace trn::torch_backend
