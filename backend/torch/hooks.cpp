#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "backend/torch/allocator.h"
#include "backend/torch/generator.h"
#include "backend/torch/host_allocator.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"

namespace trn::torch_backend {
namespace {

struct NeuronHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  void init() const override { ensure_runtime(); }
  bool hasPrimaryContext(c10::DeviceIndex device) const override { return runtime_usable() && device < device_count(); }

  c10::DeviceIndex deviceCount() const override { return device_count(); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { exchange_device(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override { return exchange_device(device); }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? current_device() : exchange_device(device);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override { return default_generator(device); }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override { return make_generator(device); }

  at::Device getDeviceFromPtr(void* data) const override {
    const c10::DeviceIndex device = device_of(data);
    TORCH_CHECK(device >= 0, "this address belongs to no neuron device");
    return at::Device(kNeuron, device);
  }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return host_allocator(); }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t size) const override {
    c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
    TORCH_CHECK(impl->resizable(), "Trying to resize storage that is not resizable");
    const c10::DeviceIndex device = exchange_device(impl->device().index());
    c10::DataPtr data = allocator()->allocate(size);
    exchange_device(device);
    if (const size_t kept = std::min(size, impl->nbytes()))
      enqueue_copy(impl->device().index(), locate(data), locate(impl->data_ptr()), kept, "aten::resize_");
    impl->set_data_ptr_noswap(
        std::move(data));  // the old block may be reused: the queue reads it before anything later writes
    impl->set_nbytes(size);
  }
};

[[maybe_unused]] const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new NeuronHooks);
  return true;
}();

}  // namespace
}  // namespace trn::torch_backend
