#pragma once

namespace trn::torch_backend {

// Names what this thread queues from now on: the op and the Python line that asked for it, e.g. "aten::add.Tensor
// train.py:12". The line is the innermost one outside torch's own files. `op` must live as long as the process.
void set_source(const char* op);

}  // namespace trn::torch_backend
