#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "backend/torch/compiled.h"
#include "backend/torch/registry.h"
#include "memory/error.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;

// The number of an argument's tensors, lists flattened, as scan_arguments has it; no key.
Scan scan_values(const c10::Stack& arguments) {
  Scan s;
  const auto add = [&](const c10::IValue& v) {
    s.tensors.push_back(v.isTensor() && v.toTensor().defined() ? v.unsafeToTensorImpl() : nullptr);
  };
  for (const c10::IValue& v : arguments) {
    const auto first = static_cast<int16_t>(s.tensors.size());
    if (v.isTensor()) add(v);
    if (v.isTensorList() || v.isOptionalTensorList())
      for (const c10::IValue& item : v.toListRef()) add(item);
    s.ranges.push_back({first, static_cast<int16_t>(static_cast<int16_t>(s.tensors.size()) - first)});
  }
  return s;
}

ResultInfo described(const Tensor& t) {
  if (!t.defined()) return {};
  return {t.scalar_type(), dims(t.sizes()), dims(t.strides()), -1};
}

// "aten::add.Tensor" -> "add.Tensor", as rows are named.
std::string row_name(const c10::OperatorName& n) {
  const std::string full = n.name + (n.overload_name.empty() ? "" : "." + n.overload_name);
  return full.starts_with("aten::") ? full.substr(6) : full;
}

const Row* find_row(const c10::OperatorHandle& op) {
  static std::mutex mutex;
  static auto* known = new std::unordered_map<std::string, const Row*>;
  const std::lock_guard lock(mutex);
  const auto [entry, added] = known->try_emplace(row_name(op.operator_name()), nullptr);
  if (added) entry->second = graph_row(entry->first);
  return entry->second;
}

const std::string* kept(const std::string& name) {
  static std::mutex mutex;
  static auto* names = new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return &*names->insert(name).first;
}

}  // namespace

// One node on its way into the graph.
class NodeCall final : public ArgumentCall {
 public:
  NodeCall(GraphBuilder& builder, const c10::Stack& arguments, const Scan& scan, const std::vector<ResultInfo>& infos,
           const std::vector<Tensor>& results)
      : ArgumentCall(builder.graph_, arguments.data(), scan, infos), builder_(builder), given_to_(results) {}

  Value random_seed(int64_t draws) override { return builder_.random_seed(draws); }

 private:
  Value tensor(int flat) override { return builder_.value_of(scan_.tensors[flat]); }
  void give(int result, Value value) override { builder_.values_[given_to_[result].unsafeGetTensorImpl()] = value; }

  GraphBuilder& builder_;
  const std::vector<Tensor>& given_to_;
};

bool is_lowered(const c10::OperatorHandle& op) { return find_row(op) != nullptr; }

GraphBuilder::GraphBuilder(const std::string& name, int device)
    : graph_(name), program_(std::make_shared<CompiledProgram>()) {
  program_->name_ = kept(name);
  program_->device_ = static_cast<c10::DeviceIndex>(device);
}

void GraphBuilder::input(const Tensor& meta, bool host_number) {
  inputs_[meta.unsafeGetTensorImpl()] = static_cast<int>(program_->inputs_.size());
  metas_.push_back(meta);
  slot_of_input_.push_back(-1);
  program_->inputs_.push_back({meta.scalar_type(), dims(meta.sizes()), dims(meta.strides()), host_number});
}

uint32_t GraphBuilder::input_slot(int index) {
  int& slot = slot_of_input_[index];
  if (slot >= 0) return static_cast<uint32_t>(slot);
  const CompiledProgram::Input& in = program_->inputs_[index];
  Dims sizes = in.sizes, strides = in.strides;
  if (in.dtype == kComplex) as_pairs(sizes, strides);
  Binding b{Binding::tensor, false, index};
  Dtype d = device_dtype(in.dtype == kComplex ? c10::ScalarType::Float : in.dtype);
  if (in.host_number) {
    b = {Binding::tensor_number, c10::isFloatingType(in.dtype), index};
    d = b.is_float ? Dtype::float32 : Dtype::int32;
  }
  slot = static_cast<int>(graph_.slot({name(b), SlotUse::input, d, extent(sizes, strides) * size_of(d), 0, sizes}));
  return static_cast<uint32_t>(slot);
}

Value GraphBuilder::value_of(const c10::TensorImpl* t) {
  if (!t) throw Error(Fault::internal, "a lowering asked for an undefined tensor", graph_.name);
  if (const auto found = values_.find(t); found != values_.end()) return found->second;
  const c10::ScalarType type = c10::typeMetaToScalarType(t->dtype());
  if (is_cpu_scalar(*t)) {  // a number of the graph itself
    const HostNumber n = cpu_scalar(*t);
    const bool real = c10::isFloatingType(type) || is_wide(*t, n);
    const Dtype d = real ? Dtype::float32 : type == c10::ScalarType::Bool ? Dtype::boolean : Dtype::int32;
    return number(graph_, real ? n.real : static_cast<double>(n.whole), d);
  }
  Dims sizes = dims(t->sizes()), strides = dims(t->strides());
  if (type == kComplex) as_pairs(sizes, strides);
  const Dtype d = device_dtype(type == kComplex ? c10::ScalarType::Float : type);
  if (product(sizes) == 0) return expand(number(graph_, 0, d), sizes);
  const auto input = inputs_.find(t);
  if (input == inputs_.end()) throw Error(Fault::internal, "a node reads what nothing has computed", graph_.name);
  const uint32_t slot = input_slot(input->second);
  Value v{&graph_, graph_.input(slot, graph_.slots[slot].dtype, sizes, strides)};
  if (type == c10::ScalarType::Bool) v = to_bool(v);
  return values_[t] = v;
}

Value GraphBuilder::random_seed(int64_t draws) {
  const Binding b{Binding::seed, false, static_cast<int>(program_->draws_.size())};
  program_->draws_.push_back(draws);
  return {&graph_,
          graph_.input(graph_.slot({name(b), SlotUse::input, Dtype::uint32, 16, 0, {4}}), Dtype::uint32, {4}, {1})};
}

void GraphBuilder::call(const c10::OperatorHandle& op, const c10::Stack& arguments,
                        const std::vector<Tensor>& results) {
  const Row* row = find_row(op);
  if (!row) throw NotLowered("no lowering");
  const Scan scan = scan_values(arguments);
  std::vector<ResultInfo> infos;
  for (const Tensor& t : results) {
    infos.push_back(described(t));
    metas_.push_back(t);
  }
  if (refused_complex(*row, scan, infos) != c10::ScalarType::Undefined) throw NotLowered("complex numbers");
  NodeCall call(*this, arguments, scan, infos, results);
  try {
    lower(*row, call);
  } catch (const Error& e) {
    if (e.fault() != Fault::unsupported) throw;
    throw NotLowered(e.what());
  }
}

void GraphBuilder::write_input(const Tensor& input, const Tensor& value) {
  const int index = inputs_.at(input.unsafeGetTensorImpl());
  const CompiledProgram::Input& in = program_->inputs_[index];
  if (input.numel() == 0) return;
  Value v = value_of(value.unsafeGetTensorImpl());
  const bool used = slot_of_input_[index] >= 0;
  const uint32_t slot = input_slot(index);
  graph_.slots[slot].use = used ? SlotUse::inout : SlotUse::output;
  Dims sizes = in.sizes, strides = in.strides;
  if (in.dtype == kComplex) as_pairs(sizes, strides);
  v = convert(v, graph_.slots[slot].dtype);
  writes_.push_back({v.numel() == product(sizes) ? reshape(v, sizes) : expand(v, sizes), slot, strides});
  program_->written_.resize(program_->inputs_.size());
  program_->written_[index] = true;
}

int GraphBuilder::storage(int64_t bytes) {
  program_->storages_.push_back(bytes);
  return static_cast<int>(program_->storages_.size()) - 1;
}

void GraphBuilder::output(const Tensor& meta, int storage, int64_t offset, bool computed) {
  const auto index = static_cast<int>(program_->outputs_.size());
  program_->outputs_.push_back({meta.scalar_type(), dims(meta.sizes()), dims(meta.strides()), offset, storage});
  if (!computed || meta.numel() == 0) return;
  Dims sizes = dims(meta.sizes()), strides = dims(meta.strides());
  if (meta.scalar_type() == kComplex) as_pairs(sizes, strides);
  const Value v = value_of(meta.unsafeGetTensorImpl());
  const uint32_t slot = graph_.slot({name(Binding{Binding::result, false, index}), SlotUse::output, v.dtype(),
                                     extent(sizes, strides) * size_of(v.dtype()), 0, sizes});
  writes_.push_back({v, slot, strides});
}

}  // namespace trn::torch_backend
