#pragma once
#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>

namespace trn::torch_backend {

// Philox 4x32-10 as on CUDA: a 64-bit seed and a 64-bit counter offset. State tensor: 16 bytes, seed then offset,
// little endian.
struct NeuronGenerator final : c10::GeneratorImpl {
  explicit NeuronGenerator(c10::DeviceIndex device);

  void set_current_seed(uint64_t seed) override;
  uint64_t current_seed() const override { return seed_; }
  uint64_t seed() override;
  void set_offset(uint64_t offset) override;  // must be a multiple of 4
  uint64_t get_offset() const override { return offset_; }
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  static c10::DeviceType device_type() { return c10::DeviceType::PrivateUse1; }

 private:
  NeuronGenerator* clone_impl() const override;

  uint64_t seed_ = c10::default_rng_seed_val;
  uint64_t offset_ = 0;
};

const at::Generator& default_generator(c10::DeviceIndex device);  // -1: the current device
at::Generator make_generator(c10::DeviceIndex device);

struct PhiloxState {
  uint64_t seed, offset;
};

// Takes `increment` 32-bit numbers per thread (rounded up to 4) from `generator`, or from the device's default one.
PhiloxState next_philox(const std::optional<at::Generator>& generator, c10::DeviceIndex device, uint64_t increment);

}  // namespace trn::torch_backend
