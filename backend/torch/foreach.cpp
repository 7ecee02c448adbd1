// _foreach_ operators with a list of numbers, one for each tensor. Optimizers mostly repeat one number: then it is the
// operator with that number, which is one Program for the list; else one operator for each tensor.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include <algorithm>
#include <string>

namespace trn::torch_backend {
namespace {

using c10::IValue;
using c10::Stack;

bool same_number(const IValue& a, const IValue& b) { return a.tagKind() == b.tagKind() && a == b; }

bool is_numbers(const c10::Argument& a) {
  const auto list = a.type()->cast<c10::ListType>();
  return list && list->getElementType()->kind() != c10::TypeKind::TensorType;
}

// The arguments with item `i` of every list of tensors, or all items (-1), and one number.
Stack with_number(const Stack& arguments, size_t numbers, const IValue& number, int64_t item) {
  Stack one;
  for (size_t a = 0; a < arguments.size(); ++a) {
    if (a == numbers) {
      one.push_back(number);
    } else if (item >= 0 && arguments[a].isTensorList()) {
      one.emplace_back(std::vector{arguments[a].toTensorVector()[static_cast<size_t>(item)]});
    } else {
      one.push_back(arguments[a]);
    }
  }
  return one;
}

void by_numbers(const c10::OperatorHandle& op, Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const Stack arguments = torch::jit::pop(*stack, schema.arguments().size());
  size_t at = 0;
  while (!is_numbers(schema.arguments()[at])) ++at;
  const std::vector<IValue> numbers = arguments[at].toListRef().vec();
  const size_t tensors = arguments[0].toListRef().size();
  TORCH_CHECK(tensors == numbers.size(), "Tensor list must have same number of elements as scalar list, got ", tensors,
              " and ", numbers.size());
  const auto scalar = c10::Dispatcher::singleton().findSchemaOrThrow(schema.name().c_str(), "Scalar");
  const bool one =
      std::all_of(numbers.begin(), numbers.end(), [&](const IValue& n) { return same_number(n, numbers.front()); });
  std::vector<at::Tensor> results;
  for (size_t i = 0; i < (one ? std::min<size_t>(tensors, 1) : tensors); ++i) {
    Stack call = with_number(arguments, at, numbers[i], one ? -1 : static_cast<int64_t>(i));
    scalar.callBoxed(&call);
    if (call.empty()) continue;
    const std::vector<at::Tensor> part = call.back().toTensorVector();
    results.insert(results.end(), part.begin(), part.end());
  }
  if (!schema.returns().empty()) stack->emplace_back(std::move(results));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* op : {"add", "sub", "mul", "div", "clamp_min", "clamp_max", "maximum", "minimum", "pow", "addcmul",
                         "addcdiv", "lerp"})
    for (const char* in_place : {"", "_"})
      m.impl((std::string("_foreach_") + op + in_place + ".ScalarList").c_str(),
             torch::CppFunction::makeFromBoxedFunction<&by_numbers>());
}

}  // namespace
}  // namespace trn::torch_backend
