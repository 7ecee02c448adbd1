#include "backend/torch/compiled.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/torch/generator.h"
#include "backend/torch/parameters.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"
#include "backend/torch/source.h"
#include "memory/error.h"

namespace trn::torch_backend {
namespace {

using at::Tensor;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

bool is_number(Binding::Kind k) { return k != Binding::tensor && k != Binding::result; }

std::string context(const std::string& program, size_t input) { return program + " input " + std::to_string(input); }

}  // namespace

// Inputs are what the graph was made for, by PyTorch's guards; only strides of gradients are a guess of AOTAutograd's.
void CompiledProgram::check_input(size_t i, Tensor& t) const {
  const Input& in = inputs_[i];
  const bool same_kind = in.host_number ? t.device().is_cpu() && t.dim() == 0 : t.device().type() == kNeuron;
  TORCH_CHECK(t.defined() && same_kind && t.scalar_type() == in.dtype && t.sizes() == c10::IntArrayRef(in.sizes),
              context(*name_, i), " is not the tensor that the graph was compiled for: ", t.scalar_type(), t.sizes(),
              " on ", t.device());
  TORCH_CHECK(in.host_number || t.device().index() == device_, context(*name_, i), " is on ", t.device(),
              ", but the graph was compiled for neuron:", static_cast<int>(device_));
  if (in.host_number || t.numel() == 0 || t.strides() == c10::IntArrayRef(in.strides)) return;
  TORCH_CHECK(!written_[i], context(*name_, i), " is written, and has other strides than the graph was compiled for");
  t = at::empty_strided(in.sizes, in.strides, t.options()).copy_(t);
}

Location CompiledProgram::send_numbers(const std::vector<Tensor>& inputs) const {
  std::vector<std::byte> block;
  for (size_t s = 0; s < bindings_.size(); ++s) {
    const Binding& b = bindings_[s];
    if (!is_number(b.kind)) continue;
    const size_t at = block.size();
    block.resize(at + program_.slots[s].bytes);
    if (b.kind == Binding::seed) {
      const PhiloxState state = next_philox(std::nullopt, device_, static_cast<uint64_t>(draws_[b.index]));
      std::memcpy(&block[at], &state, sizeof state);
      continue;
    }
    const c10::TensorImpl& t = *inputs[b.index].unsafeGetTensorImpl();
    const HostNumber n = cpu_scalar(t);
    TORCH_CHECK(b.is_float || !is_wide(t, n), context(*name_, static_cast<size_t>(b.index)), " holds ", n.whole,
                ", and integers on neuron have 32 bits");
    const auto real = static_cast<float>(n.real);
    const auto whole = static_cast<int32_t>(n.whole);
    std::memcpy(&block[at], b.is_float ? static_cast<const void*>(&real) : &whole, 4);
  }
  return block.empty() ? Location{} : send_parameters(device_, block, name_->c_str());
}

std::vector<Tensor> CompiledProgram::run(std::vector<Tensor> inputs) {
  TORCH_CHECK(inputs.size() == inputs_.size(), *name_, " takes ", inputs_.size(), " inputs, not ", inputs.size());
  const c10::DeviceGuard guard(c10::Device(kNeuron, device_));
  const SourceScope source(name_->c_str());
  for (size_t i = 0; i < inputs.size(); ++i) check_input(i, inputs[i]);

  std::vector<c10::Storage> storages;
  for (const int64_t bytes : storages_)
    storages.push_back(
        at::detail::empty_strided_generic({bytes}, {1}, allocator(), kKeys, c10::ScalarType::Byte).storage());
  std::vector<Tensor> results;
  for (const Output& o : outputs_) {
    Tensor t = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storages[o.storage]), kKeys,
                                                        c10::scalarTypeToTypeMeta(o.dtype));
    t.unsafeGetTensorImpl()->set_sizes_and_strides(o.sizes, o.strides, o.offset);
    results.push_back(std::move(t));
  }
  if (!program_.model) return results;

  Location numbers = send_numbers(inputs);
  std::vector<nrt_sim_binding_t> slots;
  for (size_t s = 0; s < bindings_.size(); ++s) {
    const uint64_t bytes = program_.slots[s].bytes;
    Location place = numbers;
    if (is_number(bindings_[s].kind))
      numbers.offset += bytes;
    else
      place = locate(bindings_[s].kind == Binding::tensor ? inputs[bindings_[s].index] : results[bindings_[s].index]);
    slots.push_back({place.segment, place.offset, bytes});
  }
  enqueue_execute(device_, program_.model, slots, name_->c_str());
  return results;
}

std::shared_ptr<CompiledProgram> GraphBuilder::compile() {
  for (const Write& w : writes_) graph_.output(w.value.id, w.slot, w.strides);
  program_->nodes_ = static_cast<int64_t>(graph_.nodes.size());
  program_->written_.resize(program_->inputs_.size());
  if (writes_.empty()) return std::move(program_);
  try {
    program_->program_ = load_program(graph_, program_->device_);
  } catch (const Error& e) {
    TORCH_CHECK(false, graph_.name, ": COMPILATION FAILED: ", e.what());
  }
  size_t bytes = 0;
  for (const LoadedProgram::BoundSlot& s : program_->program_.slots) {
    program_->bindings_.push_back(binding_named(s.name));
    if (is_number(program_->bindings_.back().kind)) bytes += s.bytes;
  }
  TORCH_CHECK(bytes <= kParameterBytes, graph_.name, ": ", bytes,
              " bytes of run-time parameters are more than the device takes");
  return std::move(program_);
}

}  // namespace trn::torch_backend
