#include "backend/torch/generator.h"

#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <deque>
#include <mutex>

#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

constexpr size_t kStateSize = 2 * sizeof(uint64_t);

}  // namespace

NeuronGenerator::NeuronGenerator(c10::DeviceIndex device)
    : c10::GeneratorImpl(c10::Device(kNeuron, device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}

void NeuronGenerator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}

uint64_t NeuronGenerator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void NeuronGenerator::set_offset(uint64_t offset) {
  TORCH_CHECK(offset % 4 == 0, "offset must be a multiple of 4");
  offset_ = offset;
}

void NeuronGenerator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == kStateSize, "a neuron RNG state has ", kStateSize, " bytes, not ", state.numel());
  uint64_t words[2];
  std::memcpy(words, state.data_dtype_initialized<uint8_t>(), kStateSize);
  seed_ = words[0];
  set_offset(words[1]);
}

c10::intrusive_ptr<c10::TensorImpl> NeuronGenerator::get_state() const {
  const uint64_t words[2] = {seed_, offset_};
  at::Tensor state = at::empty({kStateSize}, at::kByte);
  std::memcpy(state.mutable_data_ptr(), words, kStateSize);
  return state.getIntrusivePtr();
}

NeuronGenerator* NeuronGenerator::clone_impl() const {
  auto* copy = new NeuronGenerator(device_.index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& default_generator(c10::DeviceIndex device) {
  static std::mutex mutex;
  static auto* generators = new std::deque<at::Generator>;  // stable references, outlive the interpreter
  device = checked(device);
  std::lock_guard lock(mutex);
  while (generators->size() <= static_cast<size_t>(device)) {
    generators->push_back(make_generator(static_cast<c10::DeviceIndex>(generators->size())));
    generators->back().seed();
  }
  return (*generators)[static_cast<size_t>(device)];
}

at::Generator make_generator(c10::DeviceIndex device) { return at::make_generator<NeuronGenerator>(checked(device)); }

PhiloxState next_philox(const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t increment) {
  const at::Generator& chosen = generator && generator->defined() ? *generator : default_generator(device);
  auto* impl = at::check_generator<NeuronGenerator>(chosen);
  std::lock_guard lock(impl->mutex_);
  const PhiloxState state{impl->current_seed(), impl->get_offset()};
  impl->set_offset(state.offset + (increment + 3) / 4 * 4);
  return state;
}

}  // namespace trn::torch_backend
