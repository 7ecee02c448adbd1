#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace trn::torch_backend {

// PyTorch's own shape inference and argument checks: runs `op` on meta copies of the arguments. `stack` holds the
// arguments and is replaced by the results.
void infer(const c10::OperatorHandle& op, c10::Stack& stack);

}  // namespace trn::torch_backend
