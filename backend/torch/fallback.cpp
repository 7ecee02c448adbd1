#include "backend/torch/fallback.h"

#include <ATen/native/CPUFallback.h>
#include <nrt/nrt_sim.h>
#include <torch/library.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "backend/torch/program_cache.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

std::mutex& mutex() {
  static std::mutex m;
  return m;
}
std::map<std::string, uint64_t>& counts() {
  static std::map<std::string, uint64_t> c;
  return c;
}

bool is_error() {
  const char* text = std::getenv("TRNSIM_FALLBACK");
  const std::string_view mode = text ? text : "";
  TORCH_CHECK(mode.empty() || mode == "warn" || mode == "error", "TRNSIM_FALLBACK=", mode, " must be warn or error");
  return mode == "error";
}

// A result that aliases an argument without being written cannot be a copy from the host.
bool returns_view(const c10::FunctionSchema& schema) {
  for (const c10::Argument& r : schema.returns())
    if (r.alias_info() && !r.alias_info()->isWrite()) return true;
  return false;
}

// The host's kernels take the host's generator; a neuron generator has no meaning there.
void drop_generators(const c10::FunctionSchema& schema, c10::Stack& stack) {
  const size_t first = stack.size() - schema.arguments().size();
  for (size_t i = first; i < stack.size(); ++i)
    if (stack[i].isGenerator() && stack[i].toGenerator().device().type() == kNeuron) stack[i] = c10::IValue();
}

bool count(const std::string& op) {
  const std::lock_guard lock(mutex());
  return counts()[op]++ == 0;
}

void fallback(const c10::OperatorHandle& op, c10::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const std::string name = c10::toString(op.operator_name());
  TORCH_CHECK_NOT_IMPLEMENTED(!returns_view(schema), name,
                              " has no neuron kernel, and a view cannot be made on the host");
  TORCH_CHECK_NOT_IMPLEMENTED(!is_error(), name,
                              " has no neuron lowering, and TRNSIM_FALLBACK=error forbids to run it on the host");
  statistics().fallbacks.fetch_add(1, std::memory_order_relaxed);
  if (count(name)) TORCH_WARN("OPERATOR_FALLBACK: ", name, " executed via CPU fallback");
  drop_generators(schema, *stack);
  const double start = nrt_sim_host_time();
  at::native::cpu_fallback(op, stack, true);
  nrt_sim_host_span(NRT_SIM_HOST_FALLBACK, nrt_sim_intern(name.c_str()), start, nrt_sim_host_time());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

}  // namespace

std::map<std::string, uint64_t> fallback_ops() {
  const std::lock_guard lock(mutex());
  return counts();
}

void clear_fallback_ops() {
  const std::lock_guard lock(mutex());
  counts().clear();
}

}  // namespace trn::torch_backend
