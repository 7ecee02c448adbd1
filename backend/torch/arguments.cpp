#include "backend/torch/arguments.h"

#include <c10/core/ScalarType.h>

#include "memory/error.h"

namespace trn::torch_backend {

int64_t extent(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

void as_pairs(Dims& sizes, Dims& strides) {
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
}

Dtype device_dtype(c10::ScalarType d) {
  using enum c10::ScalarType;
  switch (d) {
    case Float: return Dtype::float32;
    case BFloat16: return Dtype::bfloat16;
    case Half: return Dtype::float16;
    case Double: return Dtype::float64;
    case Long: return Dtype::int64;
    case Int: return Dtype::int32;
    case Short: return Dtype::int16;
    case Char: return Dtype::int8;
    case Byte: return Dtype::uint8;
    case Bool: return Dtype::boolean;
    case UInt16: return Dtype::uint16;
    case UInt32: return Dtype::uint32;
    case UInt64: return Dtype::uint64;
    case Float8_e4m3fn: return Dtype::float8_e4m3;
    case Float8_e5m2: return Dtype::float8_e5m2;
    default: TORCH_CHECK(false, "dtype ", d, " is not supported on neuron");
  }
}

c10::ScalarType refused_complex(const Row& row, const Scan& scan, const std::vector<ResultInfo>& results) {
  auto operand = c10::ScalarType::Undefined, result = c10::ScalarType::Undefined;
  for (const c10::TensorImpl* t : scan.tensors)
    if (t && c10::isComplexType(c10::typeMetaToScalarType(t->dtype()))) operand = c10::typeMetaToScalarType(t->dtype());
  for (const ResultInfo& r : results)
    if (c10::isComplexType(r.dtype)) result = r.dtype;
  if (row.complex == Complex64::refused) return operand != c10::ScalarType::Undefined ? operand : result;
  // By parts, a real result would have to be made of both.
  const bool mixes = row.complex == Complex64::parts && result == c10::ScalarType::Undefined;
  return mixes ? operand : c10::ScalarType::Undefined;
}

ArgumentCall::ArgumentCall(Graph& g, const c10::IValue* arguments, const Scan& scan,
                           const std::vector<ResultInfo>& results)
    : Call(g), arguments_(arguments), scan_(scan), results_(results) {
  for (ResultInfo& r : results_) {
    complex_results_.push_back(r.dtype == kComplex);
    if (r.dtype != kComplex) continue;
    as_pairs(r.sizes, r.strides);
    r.dtype = c10::ScalarType::Float;
  }
}

bool ArgumentCall::present(int arg) const {
  const c10::IValue& v = arguments_[arg];
  return v.isTensor() ? v.toTensor().defined() : !v.isNone();
}

Value ArgumentCall::in(int arg) {
  const TensorRange r = scan_.ranges[arg];
  if (r.count == 1) return tensor(r.first);
  // A Scalar where another overload of the row takes a tensor.
  return number(arg, arguments_[arg].isDouble() ? Dtype::float32 : Dtype::int32);
}

std::vector<Value> ArgumentCall::list(int arg) {
  std::vector<Value> values;
  const TensorRange r = scan_.ranges[arg];
  for (int i = 0; i < r.count; ++i) values.push_back(tensor(r.first + i));
  return values;
}

std::vector<std::optional<Value>> ArgumentCall::optional_list(int arg) {
  std::vector<std::optional<Value>> values;
  const TensorRange r = scan_.ranges[arg];
  for (int i = 0; i < r.count; ++i)
    values.push_back(scan_.tensors[r.first + i] ? std::optional(tensor(r.first + i)) : std::nullopt);
  return values;
}

Value ArgumentCall::number(int arg, Dtype as) {
  const HostNumber n = host_number(arguments_[arg]);
  if (is_float(as)) return trn::torch_backend::number(g, n.real, as);
  if (as == Dtype::boolean) return trn::torch_backend::number(g, n.real != 0, as);
  return trn::torch_backend::number(g, static_cast<double>(n.whole), as);
}

bool ArgumentCall::known(int arg) const {
  return !is_parameter(arg) && (arguments_[arg].isScalar() || arguments_[arg].isBool());
}

bool ArgumentCall::complex(int arg, int item) const {
  const TensorRange r = scan_.ranges[arg];
  return item < r.count && scan_.tensors[r.first + item] &&
         c10::typeMetaToScalarType(scan_.tensors[r.first + item]->dtype()) == kComplex;
}

double ArgumentCall::constant(int arg) const {
  if (is_parameter(arg))
    throw Error(Fault::internal, "a run-time parameter has no constant value",
                g.name + " argument " + std::to_string(arg));
  return host_number(arguments_[arg]).real;
}

bool ArgumentCall::integral(int arg) const { return arguments_[arg].isInt() || arguments_[arg].isBool(); }
int64_t ArgumentCall::integer(int arg) const { return host_number(arguments_[arg]).whole; }
bool ArgumentCall::flag(int arg) const { return arguments_[arg].isBool() && arguments_[arg].toBool(); }

Dims ArgumentCall::integers(int arg) const {
  const c10::IValue& v = arguments_[arg];
  if (v.isInt()) return {v.toInt()};
  Dims d;
  if (!v.isNone())
    for (const c10::IValue& item : v.toListRef()) d.push_back(item.isBool() ? item.toBool() : item.toInt());
  return d;
}

std::vector<double> ArgumentCall::numbers(int arg) const {
  const c10::IValue& v = arguments_[arg];
  std::vector<double> d;
  if (v.isNone()) return d;
  if (!v.isList()) return {host_number(v).real};
  for (const c10::IValue& item : v.toListRef()) d.push_back(host_number(item).real);
  return d;
}

std::string ArgumentCall::text(int arg) const {
  const c10::IValue& v = arguments_[arg];
  return v.isNone() ? std::string() : v.toStringRef();
}

bool ArgumentCall::wanted(int result) const {
  return result < results() && results_[result].dtype != c10::ScalarType::Undefined &&
         product(results_[result].sizes) > 0;
}

void ArgumentCall::out(int result, Value value) {
  if (!wanted(result)) return;
  Value v = convert(value, dtype(result));
  const Dims& want = shape(result);
  if (v.numel() == product(want)) {
    v = reshape(v, want);
  } else {
    v = expand(v, want);
  }
  give(result, v);
}

}  // namespace trn::torch_backend
