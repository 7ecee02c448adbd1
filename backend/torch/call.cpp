#include "backend/torch/call.h"

#include <c10/core/ScalarType.h>

#include <algorithm>

#include "backend/compiler/view.h"
#include "memory/error.h"

namespace trn::torch_backend {

std::string name(const Binding& b) {
  if (b.kind == Binding::seed) return b.index == 0 ? "seed" : "seed" + std::to_string(b.index);
  constexpr char letters[] = {'t', 'r', 'p', 'c'};
  std::string s = letters[b.kind] + std::to_string(b.index);
  if (b.kind == Binding::argument_number || b.kind == Binding::tensor_number) s += b.is_float ? 'f' : 'i';
  return s;
}

Binding binding_named(std::string_view slot) {
  constexpr std::string_view letters = "trpcs", seed = "seed";
  const size_t kind = slot.empty() ? letters.npos : letters.find(slot[0]);
  int index = 0;
  size_t at = slot.starts_with(seed) ? seed.size() : 1;
  for (; at < slot.size() && slot[at] >= '0' && slot[at] <= '9'; ++at) index = index * 10 + (slot[at] - '0');
  if (kind == letters.npos || at == 1) throw Error(Fault::illegal, "not a slot that PyTorch binds", std::string(slot));
  return {static_cast<Binding::Kind>(kind), slot.back() == 'f', index};
}

GraphCall::GraphCall(Graph& g, const c10::IValue* arguments, const Scan& scan, const std::vector<ResultInfo>& results)
    : ArgumentCall(g, arguments, scan, results), given_(results.size()), slot_of_tensor_(scan.tensors.size(), -1) {}

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

bool GraphCall::is_parameter(int arg) const {
  return std::any_of(scan_.parameters.begin(), scan_.parameters.end(),
                     [arg](const Parameter& p) { return !p.is_tensor && p.owner == arg; });
}

Value GraphCall::number(int arg, Dtype as) {
  if (!is_parameter(arg)) return ArgumentCall::number(arg, as);
  const Value v = parameter({Binding::argument_number, is_float(as) || as == Dtype::boolean, arg});
  return convert(v, as);
}

Value GraphCall::random_seed(int64_t draws) {
  if (draws_ > 0) throw Error(Fault::internal, "a lowering asked for the generator twice", g.name);
  draws_ = draws;
  return {&g, g.input(g.slot({name(Binding{Binding::seed}), SlotUse::input, Dtype::uint32, 16, 0, {4}}), Dtype::uint32,
                      {4}, {1})};
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
