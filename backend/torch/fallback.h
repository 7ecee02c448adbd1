#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace trn::torch_backend {

// Ops that ran on the host because the operator table has no row for them, with how often.
std::map<std::string, uint64_t> fallback_ops();
void clear_fallback_ops();

}  // namespace trn::torch_backend
