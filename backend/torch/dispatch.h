#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/torch/fallback.h"

namespace trn::torch_backend {

// For Python: which overloads of the table ran on the device since the last clear, with how often (fallback.h has those
// that ran on the host).
std::map<std::string, uint64_t> executed_ops();
void clear_op_tracking();

// aten_calls, programs_compiled, memory_hits, disk_hits, fallbacks, compile_ns: of the process so far.
std::map<std::string, uint64_t> program_statistics();

// The registered overloads with their row's name and notes: the documentation's table.
struct RegisteredOp {
  std::string overload, row, runtime, notes;
};
std::vector<RegisteredOp> registered_ops();

}  // namespace trn::torch_backend
