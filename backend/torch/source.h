#pragma once
#include <string>

namespace trn::torch_backend {

// Names what this thread queues from now on: the op and the Python line that asked for it, e.g. "aten::add.Tensor
// train.py:12". The line is the innermost one outside torch's own files. `op` must live as long as the process.
void set_source(const char* op);

// That line alone, "train.py:12"; empty if no Python code is running.
std::string current_line();

// set_source() for as long as it lives: what is queued inside is part of `op`, whatever it calls itself. Taken before
// any lock, because finding the line needs the interpreter's.
class SourceScope {
 public:
  explicit SourceScope(const char* op);
  ~SourceScope();
  SourceScope(const SourceScope&) = delete;
  SourceScope& operator=(const SourceScope&) = delete;
};

}  // namespace trn::torch_backend
