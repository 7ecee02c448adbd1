// Changes to arguments before their key is made: what must be known on the host first.
#include <ATen/ScalarOps.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/nonzero.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "backend/torch/checks.h"
#include "backend/torch/infer.h"
#include "backend/torch/operator.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;
using c10::IValue;
using c10::Stack;

bool is_mask(const Tensor& t) { return t.scalar_type() == at::kBool || t.scalar_type() == at::kByte; }

// indices: a boolean mask becomes the index tensors of its true elements; indices on the host go to the device.
bool expand_masks(const c10::OperatorHandle& op, Stack& stack) {
  IValue& indices = argument(op, stack, 1);
  const auto items = indices.toListRef();
  const bool plain = std::all_of(items.begin(), items.end(), [](const IValue& v) {
    return v.isNone() || !v.toTensor().defined() || (!is_mask(v.toTensor()) && v.toTensor().device().type() == kNeuron);
  });
  if (plain) return false;
  const Tensor self = argument(op, stack, 0).toTensor();
  c10::List<std::optional<Tensor>> list;
  for (const IValue& v : items) {
    if (v.isNone() || !v.toTensor().defined()) {
      list.push_back(std::nullopt);
      continue;
    }
    const Tensor t = v.toTensor().to(self.device());
    if (!is_mask(t)) {
      list.push_back(t);
      continue;
    }
    const auto at = static_cast<int64_t>(list.size());
    for (int64_t d = 0; d < t.dim(); ++d)
      TORCH_CHECK_INDEX(at + d < self.dim() && t.size(d) == self.size(at + d), "The shape of the mask ", t.sizes(),
                        " at index ", d, " does not match the shape of the indexed tensor ", self.sizes(), " at index ",
                        at + d);
    for (const Tensor& part : at::nonzero(t).unbind(1)) list.push_back(part);
  }
  indices = std::move(list);
  return false;
}

// x[mask] = one value is masked_fill_, which needs no look at the mask.
bool put_by_mask(const c10::OperatorHandle& op, Stack& stack) {
  const auto items = argument(op, stack, 1).toListRef();
  const Tensor values = argument(op, stack, 2).toTensor();
  const bool in_place = op.schema().name().back() == '_';
  if (in_place && items.size() == 1 && !items[0].isNone() && is_mask(items[0].toTensor()) && values.numel() == 1 &&
      !argument(op, stack, 3).toBool()) {
    Tensor self = argument(op, stack, 0).toTensor();
    Tensor mask = items[0].toTensor().to(self.device()).to(at::kBool);
    if (mask.sizes() == self.sizes().slice(0, std::min(mask.dim(), self.dim()))) {
      for (int64_t d = mask.dim(); d < self.dim(); ++d) mask = mask.unsqueeze(-1);
      self.masked_fill_(mask, values.reshape({}).to(self.scalar_type()));
      torch::jit::drop(stack, op.schema().arguments().size());
      stack.emplace_back(self);
      return true;
    }
  }
  Tensor self = argument(op, stack, 0).toTensor();
  if (values.device() != self.device() && values.dim() > 0) argument(op, stack, 2) = values.to(self.device());
  return expand_masks(op, stack);
}

// The length of arange depends on its run-time numbers: `out` gets its size here.
bool size_arange(const c10::OperatorHandle& op, Stack& stack) {
  const auto number = [&](size_t i) { return argument(op, stack, i).toScalar(); };
  const Tensor out = argument(op, stack, 3).toTensor();
  const at::Scalar start = number(0), end = number(1), step = number(2);
  TORCH_CHECK(step.toDouble() != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(start.toDouble()) && std::isfinite(end.toDouble()), "unsupported range: ", start.toDouble(),
              " -> ", end.toDouble());
  TORCH_CHECK((step.toDouble() > 0) == (end.toDouble() >= start.toDouble()) || start.toDouble() == end.toDouble(),
              "upper bound and lower bound inconsistent with step sign");
  const bool long_result = out.scalar_type() == at::kLong;  // whole numbers, as PyTorch's kernel for int64 takes them
  TORCH_CHECK_VALUE(!long_result || step.toLong() != 0, "step must be nonzero");
  const bool whole = long_result || (start.isIntegral(false) && end.isIntegral(false) && step.isIntegral(false));
  const int64_t size =
      whole ? (end.toLong() - start.toLong() + step.toLong() - (step.toLong() > 0 ? 1 : -1)) / step.toLong()
            : static_cast<int64_t>(std::ceil((end.toDouble() - start.toDouble()) / step.toDouble()));
  if (out.numel() != size) at::native::resize_output(out, {size});
  return false;
}

// A complex number of the host stands on the device as a tensor.
bool move_complex_numbers(const c10::OperatorHandle& op, Stack& stack) {
  const auto is_ours = [](const IValue& v) { return v.isTensor() && v.toTensor().device().type() == kNeuron; };
  for (size_t i = 0; i < 2; ++i) {
    IValue &number = argument(op, stack, i), &other = argument(op, stack, 1 - i);
    if (number.isTensor() && number.toTensor().is_cpu() && number.toTensor().dim() == 0 &&
        number.toTensor().is_complex() && is_ours(other))
      number = number.toTensor().to(other.toTensor().device(), at::kComplexFloat);
  }
  return false;
}

bool multiply_by_complex(const c10::OperatorHandle& op, Stack& stack) {
  const IValue number = argument(op, stack, 1);
  if (!number.isComplexDouble()) return false;
  Tensor self = argument(op, stack, 0).toTensor();
  const Tensor factor = c10::scalar_to_tensor(number.toScalar()).to(self.device(), at::kComplexFloat);
  const bool in_place = op.schema().name().back() == '_';
  torch::jit::drop(stack, op.schema().arguments().size());
  stack.emplace_back(in_place ? self.mul_(factor) : at::mul(self, factor));
  return true;
}

// Products and a few others take lazily conjugated or negated tensors as they are (PyTorch's ConjugateFallback falls
// through to their kernels); here memory has to hold the numbers.
bool resolve(const c10::OperatorHandle& op, Stack& stack) {
  for (size_t i = 0; i < op.schema().arguments().size(); ++i) {
    IValue& v = argument(op, stack, i);
    if (!v.isTensor() || !v.toTensor().defined() || !(v.toTensor().is_conj() || v.toTensor().is_neg())) continue;
    const c10::AliasInfo* alias = op.schema().arguments()[i].alias_info();
    TORCH_CHECK(!alias || !alias->isWrite(), op.schema().name(), ": a conjugated view is no target on neuron");
    v = v.toTensor().resolve_conj().resolve_neg();
  }
  return false;
}
bool takes_lazy_tensors(std::string_view op) {
  if (op == "aten::copy_") return false;  // copy_from resolves
  const size_t dot = op.find('.');
  const std::string name(op.substr(0, dot)), overload(dot == op.npos ? "" : op.substr(dot + 1));
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  return handle && (handle->hasKernelForDispatchKey(c10::DispatchKey::Conjugate) ||
                    handle->hasKernelForDispatchKey(c10::DispatchKey::Negative));
}

struct Hook {
  std::string_view op;
  Prepare prepare;
};
constexpr Hook kHooks[] = {
    {"aten::index.Tensor", expand_masks},       {"aten::index.Tensor_out", expand_masks},
    {"aten::index_put", put_by_mask},           {"aten::index_put_", put_by_mask},
    {"aten::_index_put_impl_", put_by_mask},    {"aten::arange.start_out", size_arange},
    {"aten::add.Tensor", move_complex_numbers}, {"aten::sub.Tensor", move_complex_numbers},
    {"aten::mul.Tensor", move_complex_numbers}, {"aten::eq.Tensor", move_complex_numbers},
    {"aten::mul.Scalar", multiply_by_complex},  {"aten::mul_.Scalar", multiply_by_complex},
    {"aten::ne.Tensor", move_complex_numbers},  {"aten::div.Tensor", move_complex_numbers},
};

}  // namespace

Prepare prepare_for(std::string_view op) {
  for (const Hook& h : kHooks)
    if (h.op == op) return h.prepare;
  if (takes_lazy_tensors(op)) return resolve;
  std::string_view base = op.substr(0, op.find('.'));
  if (base.ends_with('_')) base.remove_suffix(1);
  return check_for(base);
}

}  // namespace trn::torch_backend
