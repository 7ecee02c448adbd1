#pragma once
#include <string_view>

#include "backend/torch/operator.h"

namespace trn::torch_backend {

// Argument i of a call whose arguments end the stack.
inline c10::IValue& argument(const c10::OperatorHandle& op, c10::Stack& stack, size_t i) {
  return stack[stack.size() - op.schema().arguments().size() + i];
}

// Runs the host's kernel for the error that it raises, with `instead` of each neuron tensor among the arguments
// (scalars and tensors, no lists). Its generator is one that nobody sees.
void ask_host(const c10::OperatorHandle& op, c10::ArrayRef<c10::IValue> arguments,
              at::Tensor (*instead)(const at::Tensor&));
at::Tensor host_zeros_like(const at::Tensor& t);  // sizes and dtype; contiguous

// What PyTorch's host kernels refuse and its shape functions do not: numbers and sizes that the host knows before a
// call. `op` without overload and without the underscore of its in-place variant ("aten::fill"). Null for most.
Prepare check_for(std::string_view op);

}  // namespace trn::torch_backend
