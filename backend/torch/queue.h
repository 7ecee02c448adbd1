#pragma once
#include <c10/core/Device.h>
#include <c10/core/Storage.h>
#include <nrt/nrt_sim.h>

#include <cstdint>
#include <span>

#include "backend/torch/allocator.h"

namespace trn::torch_backend {

// The work of one device. Its core serves everything in the order of the calls, whatever stream it came from, so a
// later request may reuse memory that an earlier one still reads. Functions are thread-safe.
//
// Errors of queued work surface at the next wait as RuntimeError with the op's name and the Python line that submitted
// it (NEURON_LAUNCH_BLOCKING=1: at once). `op` must live as long as the process.

// Copies `size` bytes. The host side must stay valid until the returned request is done.
nrta_seq_t enqueue_write(c10::DeviceIndex device, Location dst, const void* src, uint64_t size, const char* op);
nrta_seq_t enqueue_read(c10::DeviceIndex device, void* dst, Location src, uint64_t size, const char* op);
nrta_seq_t enqueue_copy(c10::DeviceIndex device, Location dst, Location src, uint64_t size, const char* op);

// Runs a loaded model with one binding per slot, in slot order.
nrta_seq_t enqueue_execute(c10::DeviceIndex device, nrt_model_t* model, std::span<const nrt_sim_binding_t> slots,
                           const char* op);

// Keeps host memory alive until `seq` is done.
void keep_until(c10::DeviceIndex device, nrta_seq_t seq, c10::Storage storage);

// The newest request of a device, of one of its streams; 0 if there was none.
nrta_seq_t last_work(c10::DeviceIndex device);
nrta_seq_t last_work(c10::DeviceIndex device, c10::StreamId stream);
bool is_done(nrta_seq_t seq);

// Waits, interruptibly: KeyboardInterrupt leaves the work queued and the device usable. Then throws the first error
// that queued work has left since the last wait.
void wait(c10::DeviceIndex device, nrta_seq_t seq);
void synchronize(c10::DeviceIndex device);

// Waits and neither reports errors nor sees signals: for memory that must not be in use any more.
void settle(c10::DeviceIndex device);

}  // namespace trn::torch_backend
