#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "backend/torch/allocator.h"
#include "backend/torch/event.h"
#include "backend/torch/queue.h"
#include "backend/torch/runtime.h"
#include "backend/torch/stream.h"

namespace trn::torch_backend {
namespace {

c10::Device device_at(c10::DeviceIndex index) { return c10::Device(kNeuron, index); }

struct NeuronGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kNeuron; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Device exchangeDevice(c10::Device device) const override {
    return device_at(device.has_index() ? exchange_device(device.index()) : current_device());
  }
  c10::Device getDevice() const override { return device_at(current_device()); }
  void setDevice(c10::Device device) const override {
    if (device.has_index()) exchange_device(device.index());
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.has_index() && device.index() < device_count()) exchange_device(device.index());
  }

  c10::Stream getStream(c10::Device device) const override { return current_stream(device.index()); }
  c10::Stream getDefaultStream(c10::Device device) const override { return default_stream(device.index()); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high_priority) const override {
    return next_stream(device.index(), high_priority);
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return next_stream(device.index(), priority < 0);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  void* getStreamNativeHandle(const c10::Stream stream) const override { return reinterpret_cast<void*>(stream.id()); }
  bool queryStream(const c10::Stream& stream) const override {
    const nrta_seq_t last = last_work(stream.device_index(), stream.id());
    return last == 0 || is_done(last);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    if (const nrta_seq_t last = last_work(stream.device_index(), stream.id())) wait(stream.device_index(), last);
  }
  void synchronizeDevice(c10::DeviceIndex device) const override { synchronize(checked(device)); }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex device, c10::EventFlag flag) const override {
    TORCH_CHECK(device == -1 || device == stream.device_index(), "an event of device ", static_cast<int>(device),
                " cannot be recorded on a stream of device ", static_cast<int>(stream.device_index()));
    if (!*event) *event = new Event;
    static_cast<Event*>(*event)->record(stream, flag == c10::EventFlag::BACKEND_DEFAULT);
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) static_cast<const Event*>(event)->block(stream);
  }
  bool queryEvent(void* event) const override { return !event || static_cast<const Event*>(event)->query(); }
  void synchronizeEvent(void* event) const override {
    if (event) static_cast<const Event*>(event)->synchronize();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  double elapsedTime(void* start, void* end, c10::DeviceIndex) const override {
    TORCH_CHECK_VALUE(start && end, "Both events must be recorded before calculating elapsed time.");
    return Event::elapsed(*static_cast<const Event*>(start), *static_cast<const Event*>(end));
  }

  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    allocator()->recordStream(data, stream);
  }

  // What the engines compute in, and the 64-bit types that they store (interfaces: 64-bit tensors carry 32-bit values).
  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = 0;
    auto& has = capability.capability_data.supported_scalar_types;
    has.has_Byte = has.has_Char = has.has_Short = has.has_Int = has.has_Long = has.has_Bool = 1;
    has.has_Half = has.has_BFloat16 = has.has_Float = has.has_Double = 1;
    return capability;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, NeuronGuard)

}  // namespace
}  // namespace trn::torch_backend
