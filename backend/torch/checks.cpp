#include "backend/torch/checks.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/native/BucketizationUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "backend/torch/runtime.h"
#include "backend/torch/scan.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;
using c10::IValue;
using c10::Stack;
using Handle = c10::OperatorHandle;

const IValue* argument_named(const Handle& op, Stack& stack, std::string_view name) {
  const std::optional<int> i = op.schema().argumentIndexWithName(name);
  return i ? &argument(op, stack, static_cast<size_t>(*i)) : nullptr;
}

Tensor self_of(const Handle& op, Stack& stack) { return argument(op, stack, 0).toTensor(); }

at::TensorOptions on_host(const Tensor& t) { return at::TensorOptions(at::kCPU).dtype(t.dtype()); }
Tensor one(const Tensor& t) { return at::ones({1}, on_host(t)); }

c10::ArrayRef<IValue> arguments_of(const Handle& op, const Stack& stack) {
  return c10::ArrayRef<IValue>(stack).slice(stack.size() - op.schema().arguments().size());
}

// Parameters of distributions.
bool distribution(const Handle& op, Stack& stack) {
  ask_host(op, arguments_of(op, stack), one);
  return false;
}

// Reductions without an identity, over no elements.
bool has_elements(const Handle& op, Stack& stack) {
  if (self_of(op, stack).numel() == 0) ask_host(op, arguments_of(op, stack), host_zeros_like);
  return false;
}

// "value cannot be converted to type int8_t without overflow"
void require_fits(const IValue& number, c10::ScalarType dtype) {
  if (!number.isScalar()) return;
  const at::Scalar value = number.toScalar();
  AT_DISPATCH_V2(dtype, "value", AT_WRAP([&] { (void)value.to<scalar_t>(); }), AT_EXPAND(AT_ALL_TYPES),
                 AT_EXPAND(AT_BAREBONES_UNSIGNED_TYPES), AT_EXPAND(AT_COMPLEX_TYPES), AT_EXPAND(AT_FLOAT8_TYPES),
                 at::kHalf, at::kBFloat16, at::kBool);
}
bool value_fits(const Handle& op, Stack& stack) {
  if (const IValue* value = argument_named(op, stack, "value")) require_fits(*value, self_of(op, stack).scalar_type());
  return false;
}
// Fills of narrow floats go through float32.
bool fill_fits(const Handle& op, Stack& stack) {
  const c10::ScalarType d = self_of(op, stack).scalar_type();
  const bool narrow = c10::isFloatingType(d) && c10::elementSize(d) < 4;
  require_fits(argument(op, stack, 1), narrow ? at::kFloat : d);
  return false;
}
bool bounds_fit(const Handle& op, Stack& stack) {
  const c10::ScalarType self = self_of(op, stack).scalar_type();
  for (size_t i = 1; i < op.schema().arguments().size(); ++i)
    if (argument(op, stack, i).isInt() && c10::isIntegralType(self, false)) require_fits(argument(op, stack, i), self);
  return false;
}

bool is_whole(const IValue& v) {
  return v.isTensor() ? c10::isIntegralType(v.toTensor().scalar_type(), true) : v.isInt() || v.isBool();
}

// A divisor that the host knows. Zeros inside a tensor of the device go unseen.
bool divisor_is_not_zero(const Handle& op, Stack& stack) {
  const IValue &self = argument(op, stack, 0), &divisor = argument(op, stack, 1);
  if (!is_whole(self) || !is_whole(divisor)) return false;
  const bool known = !divisor.isTensor() || is_cpu_scalar(*divisor.toTensor().unsafeGetTensorImpl());
  if (!known || (self.isTensor() && self.toTensor().numel() == 0)) return false;
  const HostNumber n =
      divisor.isTensor() ? cpu_scalar(*divisor.toTensor().unsafeGetTensorImpl()) : host_number(divisor);
  TORCH_CHECK(n.whole != 0, "ZeroDivisionError");
  return false;
}

bool rounded_divisor_is_not_zero(const Handle& op, Stack& stack) {
  const IValue* mode = argument_named(op, stack, "rounding_mode");
  return mode && !mode->isNone() && divisor_is_not_zero(op, stack);
}

// In-place variants of functions whose results are floats.
bool takes_floats(const Handle& op, Stack& stack) {
  const c10::ScalarType d = self_of(op, stack).scalar_type();
  TORCH_CHECK(op.schema().name().back() != '_' || !c10::isIntegralType(d, true), "result type ",
              c10::toString(c10::get_default_dtype_as_scalartype()), " can't be cast to the desired output type ", d);
  return false;
}

bool bucketize(const Handle& op, Stack& stack) {
  const Tensor boundaries = argument(op, stack, 1).toTensor();
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
  return false;
}

bool searchsorted(const Handle& op, Stack& stack) {
  const Tensor edges = self_of(op, stack);
  const IValue &values = argument(op, stack, 1), &side = argument(op, stack, 4), &sorter = argument(op, stack, 5);
  const bool as_int = argument(op, stack, 2).toBool();
  std::optional<std::string_view> side_text;
  if (!side.isNone()) side_text = side.toStringRef();
  if (sorter.isTensor() && sorter.toTensor().defined())  // its values are checked on the device
    TORCH_CHECK(sorter.toTensor().sizes() == edges.sizes() && sorter.toTensor().scalar_type() == at::kLong,
                "torch.searchsorted(): sorter must be a tensor of long dtype and of the boundaries' size, but got ",
                sorter.toTensor().scalar_type(), sorter.toTensor().sizes());
  if (values.isTensor())
    at::native::searchsorted_pre_check(edges, values.toTensor(),
                                       at::empty({0}, at::TensorOptions(at::kCPU).dtype(as_int ? at::kInt : at::kLong)),
                                       as_int, argument(op, stack, 3).toBool(), side_text, Tensor());
  return false;
}

bool multinomial(const Handle& op, Stack& stack) {
  const Tensor p = self_of(op, stack);
  const int64_t samples = argument(op, stack, 1).toInt();
  TORCH_CHECK(p.dim() == 1 || p.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(c10::isFloatingType(p.scalar_type()),
              "multinomial only supports floating-point dtypes for input, got: ", p.scalar_type());
  TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(argument(op, stack, 2).toBool() || samples <= p.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  return false;
}

struct Check {
  std::string_view op;
  Prepare prepare;
};
constexpr Check kChecks[] = {
    {"aten::uniform", distribution},
    {"aten::normal", distribution},
    {"aten::log_normal", distribution},
    {"aten::exponential", distribution},
    {"aten::geometric", distribution},
    {"aten::cauchy", distribution},
    {"aten::bernoulli", distribution},
    {"aten::random", distribution},
    {"aten::multinomial", multinomial},
    {"aten::max", has_elements},
    {"aten::min", has_elements},
    {"aten::amax", has_elements},
    {"aten::amin", has_elements},
    {"aten::aminmax", has_elements},
    {"aten::argmax", has_elements},
    {"aten::argmin", has_elements},
    {"aten::median", has_elements},
    {"aten::kthvalue", has_elements},
    {"aten::topk", has_elements},
    {"aten::fill", fill_fits},
    {"aten::masked_fill", value_fits},
    {"aten::index_fill", value_fits},
    {"aten::scatter", value_fits},
    {"aten::constant_pad_nd", value_fits},
    {"aten::clamp", bounds_fit},
    {"aten::clamp_min", bounds_fit},
    {"aten::clamp_max", bounds_fit},
    {"aten::floor_divide", divisor_is_not_zero},
    {"aten::remainder", divisor_is_not_zero},
    {"aten::fmod", divisor_is_not_zero},
    {"aten::div", rounded_divisor_is_not_zero},
    {"aten::logit", takes_floats},
    {"aten::bucketize", bucketize},
    {"aten::searchsorted", searchsorted},
};

}  // namespace

void ask_host(const Handle& op, c10::ArrayRef<IValue> arguments, Tensor (*instead)(const Tensor&)) {
  thread_local const at::Generator generator = at::detail::createCPUGenerator();
  Stack host;
  for (const IValue& v : arguments) {
    const bool ours = v.isTensor() && v.toTensor().defined() && v.toTensor().device().type() == kNeuron;
    host.push_back(ours ? IValue(instead(v.toTensor())) : v);
    if (v.isDevice()) host.back() = c10::Device(c10::kCPU);
    if (op.schema().arguments()[host.size() - 1].name() == "generator") host.back() = generator;
  }
  op.callBoxed(&host);
}

Tensor host_zeros_like(const Tensor& t) { return at::zeros(t.sizes(), on_host(t)); }

Prepare check_for(std::string_view op) {
  for (const Check& c : kChecks)
    if (c.op == op) return c.prepare;
  return nullptr;
}

}  // namespace trn::torch_backend
