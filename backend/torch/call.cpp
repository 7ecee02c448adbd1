#include "backend/torch/call.h"

#include <c10/core/ScalarType.h>

#include <algorithm>

#include "backend/compiler/view.h"
#include "memory/error.h"

namespace trn::torch_backend {
namespace {

// Elements from the first to the last that a strided tensor touches.
int64_t extent(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return last + 1;
}

Dims dims(c10::IntArrayRef a) { return {a.begin(), a.end()}; }

constexpr c10::ScalarType kComplex = c10::ScalarType::ComplexFloat;

// complex64 in memory is pairs of float32.
void as_pairs(Dims& sizes, Dims& strides) {
  for (int64_t& s : strides) s *= 2;
  sizes.push_back(2);
  strides.push_back(1);
}

}  // namespace

std::string name(const Binding& b) {
  if (b.kind == Binding::seed) return "seed";
  constexpr char letters[] = {'t', 'r', 'p', 'c'};
  std::string s = letters[b.kind] + std::to_string(b.index);
  if (b.kind == Binding::argument_number || b.kind == Binding::tensor_number) s += b.is_float ? 'f' : 'i';
  return s;
}

Binding binding_named(std::string_view slot) {
  if (slot == "seed") return {Binding::seed};
  constexpr std::string_view letters = "trpc";
  const size_t kind = slot.empty() ? letters.npos : letters.find(slot[0]);
  int index = 0;
  size_t at = 1;
  for (; at < slot.size() && slot[at] >= '0' && slot[at] <= '9'; ++at) index = index * 10 + (slot[at] - '0');
  if (kind == letters.npos || at == 1) throw Error(Fault::illegal, "not a slot of an eager Program", std::string(slot));
  return {static_cast<Binding::Kind>(kind), slot.back() == 'f', index};
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

GraphCall::GraphCall(Graph& g, const c10::IValue* arguments, const std::vector<Role>& roles, const Scan& scan,
                     const std::vector<ResultInfo>& results)
    : Call(g),
      arguments_(arguments),
      roles_(roles),
      scan_(scan),
      results_(results),
      given_(results.size()),
      slot_of_tensor_(scan.tensors.size(), -1) {
  for (ResultInfo& r : results_) {
    complex_results_.push_back(r.dtype == kComplex);
    if (r.dtype != kComplex) continue;
    as_pairs(r.sizes, r.strides);
    r.dtype = c10::ScalarType::Float;
  }
}

bool GraphCall::present(int arg) const {
  const c10::IValue& v = arguments_[arg];
  return v.isTensor() ? v.toTensor().defined() : !v.isNone();
}

Value GraphCall::tensor(int flat) {
  const c10::TensorImpl* t = scan_.tensors[flat];
  if (!t) throw Error(Fault::internal, "a lowering asked for an undefined tensor", g.name);
  const c10::ScalarType type = c10::typeMetaToScalarType(t->dtype());
  if (is_cpu_scalar(*t)) {
    // A wide integer goes as a float: exact enough beside floats, saturated where integers are computed.
    const bool is_float = c10::isFloatingType(type) || is_wide(*t, cpu_scalar(*t));
    const Value v = parameter({Binding::tensor_number, is_float, flat});
    return type == c10::ScalarType::Bool ? to_bool(v) : v;
  }
  Dims sizes = dims(t->sizes()), strides = dims(t->strides());
  if (type == kComplex) as_pairs(sizes, strides);
  const Dtype d = device_dtype(type == kComplex ? c10::ScalarType::Float : type);
  if (product(sizes) == 0) return expand(trn::torch_backend::number(g, 0, d), sizes);
  int& slot = slot_of_tensor_[flat];
  if (slot < 0)
    slot = static_cast<int>(g.slot({name(Binding{Binding::tensor, false, flat}), SlotUse::input, d,
                                    extent(sizes, strides) * size_of(d), 0, sizes}));
  return {&g, g.input(static_cast<uint32_t>(slot), d, sizes, strides)};
}

Value GraphCall::parameter(Binding b) {
  const Dtype d = b.is_float ? Dtype::float32 : Dtype::int32;
  const std::string slot_name = name(b);
  for (size_t i = 0; i < g.slots.size(); ++i)
    if (g.slots[i].name == slot_name) return {&g, g.input(static_cast<uint32_t>(i), d, {}, {})};
  return {&g, g.input(g.slot({slot_name, SlotUse::input, d, size_of(d), 0, {}}), d, {}, {})};
}

Value GraphCall::in(int arg) {
  const TensorRange r = scan_.ranges[arg];
  if (r.count == 1) return tensor(r.first);
  // A Scalar where another overload of the row takes a tensor.
  return number(arg, arguments_[arg].isDouble() ? Dtype::float32 : Dtype::int32);
}

std::vector<Value> GraphCall::list(int arg) {
  std::vector<Value> values;
  const TensorRange r = scan_.ranges[arg];
  for (int i = 0; i < r.count; ++i) values.push_back(tensor(r.first + i));
  return values;
}

std::vector<std::optional<Value>> GraphCall::optional_list(int arg) {
  std::vector<std::optional<Value>> values;
  const TensorRange r = scan_.ranges[arg];
  for (int i = 0; i < r.count; ++i)
    values.push_back(scan_.tensors[r.first + i] ? std::optional(tensor(r.first + i)) : std::nullopt);
  return values;
}

bool GraphCall::is_parameter(int arg) const {
  return std::any_of(scan_.parameters.begin(), scan_.parameters.end(),
                     [arg](const Parameter& p) { return !p.is_tensor && p.owner == arg; });
}

Value GraphCall::number(int arg, Dtype as) {
  if (is_parameter(arg)) {
    const Value v = parameter({Binding::argument_number, is_float(as) || as == Dtype::boolean, arg});
    return convert(v, as);
  }
  const HostNumber n = host_number(arguments_[arg]);
  if (is_float(as)) return trn::torch_backend::number(g, n.real, as);
  if (as == Dtype::boolean) return trn::torch_backend::number(g, n.real != 0, as);
  return trn::torch_backend::number(g, static_cast<double>(n.whole), as);
}

bool GraphCall::known(int arg) const {
  return !is_parameter(arg) && (arguments_[arg].isScalar() || arguments_[arg].isBool());
}

bool GraphCall::complex(int arg, int item) const {
  const TensorRange r = scan_.ranges[arg];
  return item < r.count && scan_.tensors[r.first + item] &&
         c10::typeMetaToScalarType(scan_.tensors[r.first + item]->dtype()) == kComplex;
}

double GraphCall::constant(int arg) const {
  if (is_parameter(arg))
    throw Error(Fault::internal, "a run-time parameter has no constant value",
                g.name + " argument " + std::to_string(arg));
  return host_number(arguments_[arg]).real;
}

bool GraphCall::integral(int arg) const { return arguments_[arg].isInt() || arguments_[arg].isBool(); }
int64_t GraphCall::integer(int arg) const { return host_number(arguments_[arg]).whole; }
bool GraphCall::flag(int arg) const { return arguments_[arg].isBool() && arguments_[arg].toBool(); }

Dims GraphCall::integers(int arg) const {
  const c10::IValue& v = arguments_[arg];
  if (v.isInt()) return {v.toInt()};
  Dims d;
  if (!v.isNone())
    for (const c10::IValue& item : v.toListRef()) d.push_back(item.isBool() ? item.toBool() : item.toInt());
  return d;
}

std::vector<double> GraphCall::numbers(int arg) const {
  const c10::IValue& v = arguments_[arg];
  std::vector<double> d;
  if (v.isNone()) return d;
  if (!v.isList()) return {host_number(v).real};
  for (const c10::IValue& item : v.toListRef()) d.push_back(host_number(item).real);
  return d;
}

std::string GraphCall::text(int arg) const {
  const c10::IValue& v = arguments_[arg];
  return v.isNone() ? std::string() : v.toStringRef();
}

Value GraphCall::random_seed(int64_t draws) {
  if (draws_ > 0) throw Error(Fault::internal, "a lowering asked for the generator twice", g.name);
  draws_ = draws;
  return {&g, g.input(g.slot({name(Binding{Binding::seed}), SlotUse::input, Dtype::uint32, 16, 0, {4}}), Dtype::uint32,
                      {4}, {1})};
}

bool GraphCall::wanted(int result) const {
  return result < results() && results_[result].dtype != c10::ScalarType::Undefined &&
         product(results_[result].sizes) > 0;
}

void GraphCall::out(int result, Value value) {
  if (!wanted(result)) return;
  Value v = convert(value, dtype(result));
  const Dims& want = shape(result);
  if (v.numel() == product(want)) {
    v = reshape(v, want);
  } else {
    v = expand(v, want);
  }
  given_[result] = v;
}

std::vector<bool> GraphCall::depends_on(int slot) const {
  std::vector<bool> reached(g.nodes.size(), false);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const compiler::Node& n = g.nodes[i];
    reached[i] = (n.op == compiler::Op::input && static_cast<int>(n.slot) == slot) ||
                 std::any_of(n.inputs.begin(), n.inputs.end(), [&](NodeId input) { return reached[input]; });
  }
  return reached;
}

GraphCall::Overlap GraphCall::overlap(int result, int flat) const {
  const c10::TensorImpl *t = scan_.tensors[flat], *target = scan_.tensors[results_[result].written];
  const int slot = slot_of_tensor_[flat];
  if (slot < 0 || t->storage().unsafeGetStorageImpl() != target->storage().unsafeGetStorageImpl()) return Overlap::none;
  const std::vector<bool> reached = depends_on(slot);
  bool used = false, by_others = false, by_elements = true;
  for (int r = 0; r < results(); ++r)
    if (given_[r].g && reached[given_[r].id]) (r == result ? used : by_others) = true;
  if (!used && !by_others) return Overlap::none;
  for (size_t i = 0; i < reached.size(); ++i)
    if (reached[i] && g.nodes[i].op != compiler::Op::input)
      by_elements = by_elements && compiler::is_pointwise(g.nodes[i].op);
  const bool same = t->storage_offset() == target->storage_offset() && t->sizes() == target->sizes() &&
                    t->strides() == target->strides() && t->dtype() == target->dtype();
  return same && by_elements && !by_others ? Overlap::same_elements : Overlap::conflict;
}

int GraphCall::output_slot(int result, bool temporary) {
  const ResultInfo& info = results_[result];
  if (info.written >= 0 && !temporary)
    for (size_t flat = 0; flat < scan_.tensors.size(); ++flat)
      if (overlap(result, static_cast<int>(flat)) == Overlap::same_elements) {
        g.slots[slot_of_tensor_[flat]].use = SlotUse::inout;
        return slot_of_tensor_[flat];
      }
  const Dtype d = dtype(result);
  const int64_t elements = temporary ? product(info.sizes) : extent(info.sizes, info.strides);
  return static_cast<int>(g.slot(
      {name(Binding{Binding::result, false, result}), SlotUse::output, d, elements * size_of(d), 0, info.sizes}));
}

std::vector<int> GraphCall::finish() {
  std::vector<int> temporaries;
  std::vector<std::pair<int, int>>
      slots;  // result, slot: found before the first output node, which would count as a use
  for (int r = 0; r < results(); ++r) {
    if (!wanted(r)) continue;
    if (!given_[r].g)
      throw Error(Fault::internal, "a lowering left a result out", g.name + " result " + std::to_string(r));
    bool temporary = false;
    for (size_t flat = 0; results_[r].written >= 0 && flat < scan_.tensors.size(); ++flat)
      temporary = temporary || overlap(r, static_cast<int>(flat)) == Overlap::conflict;
    if (temporary) temporaries.push_back(r);
    slots.emplace_back(r, output_slot(r, temporary));
  }
  for (const auto& [r, slot] : slots) {
    const bool temporary = std::find(temporaries.begin(), temporaries.end(), r) != temporaries.end();
    const ResultInfo& info = results_[r];
    g.output(given_[r].id, static_cast<uint32_t>(slot),
             temporary ? compiler::contiguous_strides(info.sizes) : info.strides);
  }
  return temporaries;
}

}  // namespace trn::torch_backend
