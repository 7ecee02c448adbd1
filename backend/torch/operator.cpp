#include "backend/torch/operator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/compiler/view.h"
#include "backend/torch/allocator.h"
#include "backend/torch/copy.h"
#include "backend/torch/generator.h"
#include "backend/torch/infer.h"
#include "backend/torch/parameters.h"
#include "backend/torch/program_log.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"
#include "backend/torch/source.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;
using c10::IValue;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

Tensor borrowed(c10::TensorImpl* t) { return Tensor(c10::intrusive_ptr<c10::TensorImpl>::reclaim_copy(t)); }

bool names(std::string_view list, std::string_view argument, char mark) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    std::string_view word = list.substr(at, end - at);
    const bool marked = word.starts_with('=');
    if (marked) word.remove_prefix(1);
    if (word == argument && marked == (mark == '=')) return true;
    at = end + 1;
  }
  return false;
}

// Result metadata from a meta tensor. Undefined stays undefined.
ResultInfo described(const Tensor& t) {
  if (!t.defined()) return {};
  return {t.scalar_type(), {t.sizes().begin(), t.sizes().end()}, {t.strides().begin(), t.strides().end()}, -1};
}

// Rows whose PyTorch kernels are element by element refuse a target that partly overlaps an operand.
bool is_element_by_element(const Row& row) {
  for (const auto rows : {unary_rows(), binary_rows(), activation_rows()})
    if (std::any_of(rows.begin(), rows.end(), [&](const Row& r) { return r.op == row.op; })) return true;
  return row.op == "copy_";
}

// Running out of memory is said before much is compiled.
void refuse_what_never_fits(const std::vector<ResultInfo>& results) {
  constexpr int64_t kLarge = int64_t{1} << 28;
  for (const ResultInfo& r : results)
    if (r.written < 0 && r.dtype != c10::ScalarType::Undefined && product(r.sizes) > kLarge)
      at::detail::empty_strided_generic(r.sizes, r.strides, allocator(), kKeys, r.dtype);
}

bool empty(const ResultInfo& r) { return r.dtype == c10::ScalarType::Undefined || product(r.sizes) == 0; }

}  // namespace

Operator::Operator(const Row& row, c10::OperatorHandle handle) : row_(row), handle_(handle) {
  const c10::OperatorName& n = handle_.operator_name();
  name_ = n.name + (n.overload_name.empty() ? "" : "." + n.overload_name);
  prepare_ = prepare_for(name_);
  by_element_ = is_element_by_element(row);
  read_schema();
}

void Operator::read_schema() {
  const c10::FunctionSchema& schema = handle_.schema();
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& a = schema.arguments()[i];
    const bool option = a.name() == "dtype" || a.name() == "layout" || a.name() == "device" ||
                        a.name() == "pin_memory" || a.name() == "memory_format" || a.name() == "generator" ||
                        a.name() == "non_blocking";
    if (a.name() == "generator") generator_ = static_cast<int>(i);
    roles_.push_back(names(row_.runtime, a.name(), ' ')   ? Role::run_time
                     : names(row_.runtime, a.name(), '=') ? Role::run_time_unless_one
                     : option && a.name() != "dtype"      ? Role::ignored
                                                          : Role::keyed);
    if (!a.alias_info() || !a.alias_info()->isWrite()) continue;
    written_.push_back(static_cast<int>(i));
    resizes_ = resizes_ || a.is_out();
  }
  for (const c10::Argument& r : schema.returns()) {
    int alias = -1;
    if (r.alias_info())
      for (int w : written_)
        if (*schema.arguments()[w].alias_info() == *r.alias_info()) alias = w;
    return_alias_.push_back(alias);
  }
}

void Operator::call(c10::Stack* stack) {
  if (prepare_ && prepare_(handle_, *stack)) return;
  calls_.fetch_add(1, std::memory_order_relaxed);
  statistics().calls.fetch_add(1, std::memory_order_relaxed);
  run(stack);
}

void Operator::run(c10::Stack* stack) {
  const size_t first = stack->size() - roles_.size();
  Scan scan;
  scan_arguments(scan, stack->data() + first, roles_, written_, name());
  Entry* entry = find(scan);
  if (entry) {
    statistics().memory_hits.fetch_add(1, std::memory_order_relaxed);
  } else {
    entry = make(*stack, first, scan);
    if (!entry) return run(stack);
  }
  c10::SmallVector<Tensor, 4> results;
  launch(*entry, scan, stack->data() + first, results);
  give_results(*entry, stack, results);
}

Operator::Entry* Operator::find(const Scan& scan) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(scan.hash);
  if (found == entries_.end()) return nullptr;
  for (const auto& e : found->second)
    if (e->key.size() == scan.key.size() &&
        std::memcmp(e->key.data(), scan.key.data(), scan.key.size() * sizeof(uint64_t)) == 0)
      return e.get();
  return nullptr;
}

Operator::Entry* Operator::make(const c10::Stack& stack, size_t first, const Scan& scan) {
  bool resized = false;
  std::unique_ptr<Entry> entry = infer_results(stack, first, scan, resized);
  if (resized) return nullptr;
  entry->key.assign(scan.key.begin(), scan.key.end());
  refuse_what_never_fits(entry->results);
  if (!std::all_of(entry->results.begin(), entry->results.end(), empty)) {
    try {
      build(*entry, stack.data() + first, scan);
    } catch (const Error& e) {
      TORCH_CHECK(false, name_, ": COMPILATION FAILED: ", e.what());
    }
    note_program({name_, current_line(), described_arguments(handle_.schema(), stack.data() + first, roles_)});
  }
  const std::lock_guard lock(mutex_);
  auto& bucket = entries_[scan.hash];
  bucket.push_back(std::move(entry));
  return bucket.back().get();
}

std::unique_ptr<Operator::Entry> Operator::infer_results(const c10::Stack& stack, size_t first, const Scan& scan,
                                                         bool& resized) {
  auto entry = std::make_unique<Entry>();
  c10::Stack metas(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
  infer(handle_, metas);
  if (written_.empty()) {
    for (const IValue& v : metas) {
      if (v.isTensor()) {
        entry->results.push_back(described(v.toTensor()));
      } else if (v.isTensorList()) {
        for (const IValue& item : v.toListRef()) entry->results.push_back(described(item.toTensor()));
      }
      entry->fixed.push_back(v.isTensor() || v.isTensorList() ? IValue() : v);
    }
    return entry;
  }
  for (size_t r = 0; r < metas.size(); ++r) {
    if (return_alias_[r] < 0 || !metas[r].isTensor()) continue;
    const Tensor& target = stack[first + static_cast<size_t>(return_alias_[r])].toTensor();
    const auto wanted = metas[r].toTensor().sizes();
    if (target.sizes() == wanted) continue;
    TORCH_CHECK(resizes_, "output with shape ", target.sizes(), " doesn't match the broadcast shape ", wanted);
    const auto same = [&](const c10::TensorImpl* t) { return t == target.unsafeGetTensorImpl(); };
    TORCH_CHECK(std::count_if(scan.tensors.begin(), scan.tensors.end(), same) <= 1,
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation.");
    resized = at::native::resize_output(target, wanted) || resized;
  }
  for (int w : written_) {
    const TensorRange range = scan.ranges[w];
    if (by_element_ && range.count == 1 && scan.tensors[range.first])
      for (c10::TensorImpl* t : scan.tensors)
        if (t) at::assert_no_partial_overlap(borrowed(scan.tensors[range.first]), borrowed(t));
    for (int flat = range.first; flat < range.first + range.count; ++flat) {
      c10::TensorImpl* t = scan.tensors[flat];
      if (!t) {
        entry->results.push_back({});
        continue;
      }
      TORCH_CHECK(t->device().type() == kNeuron,
                  "Expected all tensors to be on the same device, but found at least two devices, neuron:", scan.device,
                  " and ", t->device(), "!");
      at::assert_no_internal_overlap(borrowed(t));
      ResultInfo info = described(borrowed(t));
      info.written = flat;
      entry->results.push_back(std::move(info));
    }
  }
  return entry;
}

void Operator::build(Entry& entry, const IValue* arguments, const Scan& scan) {
  if (const c10::ScalarType d = refused_complex(row_, scan, entry.results); d != c10::ScalarType::Undefined)
    TORCH_CHECK(false, name_, ": dtype ", d, " is not supported on neuron");
  compiler::Graph graph(name_);
  GraphCall call(graph, arguments, scan, entry.results);
  lower(row_, call);
  entry.temporaries = call.finish();
  entry.draws = call.draws();
  const LoadedProgram program = load_program(graph, scan.device);
  entry.model = program.model;
  int bytes = 0;
  for (const LoadedProgram::BoundSlot& slot : program.slots) {
    entry.bindings.push_back(binding_named(slot.name));
    entry.bytes.push_back(slot.bytes);
    const Binding& b = entry.bindings.back();
    if (b.kind != Binding::tensor && b.kind != Binding::result) bytes += static_cast<int>(slot.bytes);
  }
  TORCH_CHECK(bytes <= static_cast<int>(kParameterBytes), name_, ": ", bytes,
              " bytes of run-time parameters are more than the device takes");
  entry.parameter_bytes = bytes;
}

void Operator::launch(const Entry& entry, const Scan& scan, const IValue* arguments,
                      c10::SmallVectorImpl<Tensor>& results) {
  const auto device = static_cast<c10::DeviceIndex>(scan.device);
  std::optional<c10::DeviceGuard> guard;
  if (current_device() != device) guard.emplace(c10::Device(kNeuron, device));
  const SourceScope source(name());

  c10::SmallVector<Tensor, 2> temporaries;
  for (const ResultInfo& r : entry.results) {
    if (r.written >= 0) {
      results.push_back(borrowed(scan.tensors[r.written]));
    } else if (r.dtype == c10::ScalarType::Undefined) {
      results.emplace_back();
    } else {
      results.emplace_back(at::detail::empty_strided_generic(r.sizes, r.strides, allocator(), kKeys, r.dtype));
    }
  }
  if (!entry.model) return;
  for (int r : entry.temporaries)
    temporaries.emplace_back(at::detail::empty_strided_generic(entry.results[r].sizes,
                                                               compiler::contiguous_strides(entry.results[r].sizes),
                                                               allocator(), kKeys, entry.results[r].dtype));

  Location parameters;
  if (entry.parameter_bytes > 0) {
    std::byte block[kParameterBytes];
    size_t at = 0;
    for (size_t i = 0; i < entry.bindings.size(); ++i) {
      const Binding& b = entry.bindings[i];
      if (b.kind == Binding::tensor || b.kind == Binding::result) continue;
      if (b.kind == Binding::seed) {
        std::optional<at::Generator> generator;
        if (generator_ >= 0 && arguments[generator_].isGenerator()) generator = arguments[generator_].toGenerator();
        const PhiloxState state = next_philox(generator, device, static_cast<uint64_t>(entry.draws));
        std::memcpy(block + at, &state, sizeof state);
        static_assert(sizeof state == 16);
      } else {
        const bool is_tensor = b.kind == Binding::tensor_number;
        const auto found = std::find_if(scan.parameters.begin(), scan.parameters.end(), [&](const Parameter& p) {
          return p.is_tensor == is_tensor && p.owner == b.index;
        });
        const float real = static_cast<float>(found->value.real);
        const auto whole = static_cast<int32_t>(std::clamp<int64_t>(found->value.whole, INT32_MIN, INT32_MAX));
        std::memcpy(block + at, b.is_float ? static_cast<const void*>(&real) : &whole, 4);
      }
      at += entry.bytes[i];
    }
    parameters = send_parameters(device, {block, at}, name());
  }

  c10::SmallVector<nrt_sim_binding_t, 16> slots;
  for (size_t i = 0; i < entry.bindings.size(); ++i) {
    const Binding& b = entry.bindings[i];
    Location place;
    if (b.kind == Binding::tensor || b.kind == Binding::result) {
      const c10::TensorImpl* t = nullptr;
      if (b.kind == Binding::tensor) {
        t = scan.tensors[b.index];
      } else {
        const auto aside = std::find(entry.temporaries.begin(), entry.temporaries.end(), b.index);
        t = aside == entry.temporaries.end() ? results[b.index].unsafeGetTensorImpl()
                                             : temporaries[aside - entry.temporaries.begin()].unsafeGetTensorImpl();
      }
      place = locate(t->storage().data_ptr());
      place.offset += static_cast<uint64_t>(t->storage_offset()) * t->itemsize();
    } else {
      place = parameters;
      parameters.offset += entry.bytes[i];
    }
    slots.push_back({place.segment, place.offset, entry.bytes[i]});
  }
  enqueue_execute(device, entry.model, {slots.data(), slots.size()}, name());
  for (size_t i = 0; i < entry.temporaries.size(); ++i) copy_from(temporaries[i], results[entry.temporaries[i]], true);
}

void Operator::give_results(const Entry& entry, c10::Stack* stack, const c10::SmallVectorImpl<Tensor>& results) {
  const size_t first = stack->size() - roles_.size();
  if (!written_.empty()) {
    c10::SmallVector<IValue, 4> aliased;
    for (int alias : return_alias_)
      aliased.push_back(alias >= 0 ? (*stack)[first + static_cast<size_t>(alias)] : IValue());
    stack->erase(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
    for (IValue& v : aliased) stack->push_back(std::move(v));
    return;
  }
  stack->erase(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
  const auto& returns = handle_.schema().returns();
  size_t next = 0;
  for (size_t i = 0; i < returns.size(); ++i) {
    const c10::TypeKind kind = returns[i].type()->kind();
    if (kind == c10::TypeKind::TensorType) {
      stack->emplace_back(results[next++]);
    } else if (kind == c10::TypeKind::ListType) {
      // A table row returns at most one list, and nothing after it.
      c10::List<Tensor> list;
      while (next < results.size()) list.push_back(results[next++]);
      stack->emplace_back(std::move(list));
    } else {
      stack->push_back(entry.fixed[i]);
    }
  }
}

}  // namespace trn::torch_backend
