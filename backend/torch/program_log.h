#pragma once
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/torch/scan.h"

namespace trn::torch_backend {

// A Program that an op or a graph made because it had none for these arguments. On hardware each is a run of
// neuronx-cc, or a look-up in its cache.
struct MadeProgram {
  std::string op;                      // "aten::add.Tensor", or the name of a compiled function
  std::string line;                    // the Python line that asked for it, "train.py:12"; empty if nobody's
  std::vector<std::string> arguments;  // "self float32[2, 13]", "dim 1": what the Program depends on
  int64_t operators = 1;               // aten operators in it
};

// Kept for the process. Past kManyPrograms Programs that differ from an earlier one only in their arguments, and again
// at every tenfold, one warning names the op and line that made most.
void note_program(MadeProgram p);
std::vector<MadeProgram> made_programs();

constexpr int64_t kManyPrograms = 64;

// The arguments of an aten call that its key has, as MadeProgram says them.
std::vector<std::string> described_arguments(const c10::FunctionSchema& schema, const c10::IValue* arguments,
                                             const std::vector<Role>& roles);

}  // namespace trn::torch_backend
