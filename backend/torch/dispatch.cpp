#include "backend/torch/dispatch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "backend/torch/copy.h"
#include "backend/torch/fallback.h"
#include "backend/torch/operator.h"
#include "backend/torch/registry.h"
#include "memory/error.h"

namespace trn::torch_backend {
namespace {

using Overloads = std::unordered_map<std::string, std::vector<c10::OperatorHandle>>;

// All overloads by base name ("aten::add"), of the base names that rows have.
Overloads all_overloads() {
  Overloads map;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& n : dispatcher.getAllOpNames())
    if (n.name.starts_with("aten::") || n.name.starts_with("neuron::"))
      if (const auto handle = dispatcher.findSchema(n)) map[n.name].push_back(*handle);
  return map;
}

bool same_argument(const c10::Argument& a, const c10::Argument& b) {
  return a.name() == b.name() && *a.type() == *b.type();
}

// The arguments that are read, in order: what siblings share.
bool same_inputs(const c10::FunctionSchema& functional, const c10::FunctionSchema& other) {
  size_t i = 0;
  for (const c10::Argument& a : other.arguments()) {
    if (a.is_out()) continue;
    if (i >= functional.arguments().size() || !same_argument(functional.arguments()[i], a)) return false;
    ++i;
  }
  return i == functional.arguments().size();
}

bool is_out_variant(const c10::FunctionSchema& s) {
  for (const c10::Argument& a : s.arguments())
    if (a.is_out()) return true;
  return false;
}

class Kernel final : public c10::OperatorKernel {
 public:
  explicit Kernel(Operator& op) : op_(op) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, c10::Stack* stack) { op_.call(stack); }

 private:
  Operator& op_;
};

struct Registered {
  const Row* row;
  std::unique_ptr<Operator> op;
};

std::vector<Registered>& registered() {
  static auto* all = new std::vector<Registered>;  // kernels may run while the process exits
  return *all;
}

// copy_ itself stays PyTorch's, which comes to copy_from; its row serves device_copy.
constexpr std::string_view kInternal[] = {"copy_"};

// An op that PyTorch composes of others, and derives by doing so: a kernel of ours would cut its gradient off.
bool derived_by_composition(const c10::OperatorHandle& handle) {
  return handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
         !handle.hasKernelForDispatchKey(c10::DispatchKey::Autograd);
}

void add(torch::Library& library, const Row& row, const c10::OperatorHandle& handle) {
  registered().push_back({&row, std::make_unique<Operator>(row, handle)});
  const c10::OperatorName& n = handle.operator_name();
  const std::string full = n.name + (n.overload_name.empty() ? "" : "." + n.overload_name);
  library.impl(full.c_str(),
               torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(*registered().back().op)));
}

void add_row(torch::Library& library, const Overloads& overloads, const Row& row) {
  const std::string op(row.op);
  const size_t dot = op.find('.');
  const std::string base = op.find("::") == op.npos ? "aten::" + op.substr(0, dot) : op.substr(0, dot);
  const std::string overload = dot == op.npos ? "" : op.substr(dot + 1);
  const auto family = overloads.find(base);
  const c10::OperatorHandle* main = nullptr;
  if (family != overloads.end())
    for (const c10::OperatorHandle& h : family->second)
      if (h.operator_name().overload_name == overload) main = &h;
  TORCH_CHECK(main, "operator table: PyTorch has no operator ", op);
  TORCH_CHECK(!derived_by_composition(*main), "operator table: PyTorch derives ", op, " by composing it of others");
  add(library, row, *main);
  if (is_out_variant(main->schema()) || base.ends_with('_')) return;
  for (const c10::OperatorHandle& h : family->second)
    if (is_out_variant(h.schema()) && same_inputs(main->schema(), h.schema()) && !derived_by_composition(h))
      add(library, row, h);
  if (const auto in_place = overloads.find(base + "_"); in_place != overloads.end())
    for (const c10::OperatorHandle& h : in_place->second)
      if (same_inputs(main->schema(), h.schema()) && !derived_by_composition(h)) add(library, row, h);
}

void register_table(torch::Library& library, std::string_view name_space) {
  const Overloads overloads = all_overloads();
  for (const Row& row : operator_table()) {
    const bool own = row.op.find("::") != row.op.npos;
    if (own != (name_space == "neuron") ||
        std::find(std::begin(kInternal), std::end(kInternal), row.op) != std::end(kInternal))
      continue;
    add_row(library, overloads, row);
  }
}

// Steps of ours that rows lower and composites.cpp calls.
TORCH_LIBRARY(neuron, m) {
  m.def(
      "batch_norm_training(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
      "float momentum, float eps) -> (Tensor "
      "out, Tensor mean, Tensor rstd, Tensor running_mean, Tensor running_var)");
  m.def(
      "batch_norm_inference(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float "
      "eps) -> Tensor");
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { register_table(m, "aten"); }
TORCH_LIBRARY_IMPL(neuron, PrivateUse1, m) { register_table(m, "neuron"); }

Operator& copy_operator() {
  static auto* op =
      new Operator(*row_named("copy_"), c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", ""));
  return *op;
}

}  // namespace

void device_copy(const at::Tensor& src, const at::Tensor& dst) {
  c10::Stack stack{dst, src, false};
  copy_operator().call(&stack);
}

std::map<std::string, uint64_t> executed_ops() {
  std::map<std::string, uint64_t> ops;
  for (const Registered& r : registered())
    if (const uint64_t n = r.op->calls()) ops[r.op->name()] += n;
  if (const uint64_t n = copy_operator().calls()) ops[copy_operator().name()] += n;
  return ops;
}

void clear_op_tracking() {
  clear_fallback_ops();
  for (const Registered& r : registered()) r.op->reset_calls();
  copy_operator().reset_calls();
}

std::map<std::string, uint64_t> program_statistics() {
  const Statistics& s = statistics();
  return {{"aten_calls", s.calls},    {"programs_compiled", s.compiled}, {"memory_hits", s.memory_hits},
          {"disk_hits", s.disk_hits}, {"fallbacks", s.fallbacks},        {"compile_ns", s.compile_ns}};
}

std::vector<RegisteredOp> registered_ops() {
  std::vector<RegisteredOp> ops;
  for (const Registered& r : registered())
    ops.push_back({r.op->name(), std::string(r.row->op), std::string(r.row->runtime), std::string(r.row->notes)});
  return ops;
}

}  // namespace trn::torch_backend
