#pragma once
#include <c10/core/Device.h>
#include <nrt/nrt.h>

#include <string_view>

namespace trn::torch_backend {

constexpr c10::DeviceType kNeuron = c10::DeviceType::PrivateUse1;

// Throws RuntimeError naming `call`, its status number and libnrt's text for it; nothing on NRT_SUCCESS.
void check(NRT_STATUS status, std::string_view call);

// Starts the Neuron runtime on the first use of a device. Throws in a child forked after the parent had started it.
void ensure_runtime();
bool runtime_usable();  // started, and not closed by the end of the process
bool in_bad_fork();
void abandon_at_exit();  // the user has interrupted: the end of the process shall not wait for what is still queued

// Logical cores that this process sees; 0 if there is none or the runtime cannot tell. Does not start the runtime.
c10::DeviceIndex device_count() noexcept;

// The calling thread's device. Changing it does not start the runtime. A device outside [0, device_count) throws.
c10::DeviceIndex current_device();
c10::DeviceIndex exchange_device(c10::DeviceIndex device);
c10::DeviceIndex checked(c10::DeviceIndex device);  // -1 means the current one

}  // namespace trn::torch_backend
