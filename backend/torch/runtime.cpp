#include "backend/torch/runtime.h"

#include <c10/util/Exception.h>
#include <nrt/nrt_sim.h>
#include <pthread.h>
#include <torch/version.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>

namespace trn::torch_backend {
namespace {

enum class State { never, started, closed, forked };
std::atomic<State> state{State::never};
std::atomic<bool> abandoned{false};
std::mutex start_mutex;
thread_local c10::DeviceIndex thread_device = 0;

// Storages may die after this; their blocks stay where they are.
void close_at_exit() {
  State expected = State::started;
  const c10::DeviceIndex count = device_count();
  if (!state.compare_exchange_strong(expected, State::closed)) return;
  for (c10::DeviceIndex d = 0; abandoned && d < count; ++d) nrt_sim_interrupt(static_cast<uint32_t>(d));
  nrt_close();
}

// The queues' threads do not exist in a forked child.
void mark_child() {
  if (state.load() == State::started) state = State::forked;
}

void start() {
  std::lock_guard lock(start_mutex);
  if (state.load() == State::started) return;
  check(nrt_init(NRT_FRAMEWORK_TYPE_PYTORCH, TORCH_VERSION, ""), "nrt_init");
  static const bool once = [] {
    pthread_atfork(nullptr, nullptr, &mark_child);
    std::atexit(&close_at_exit);
    return true;
  }();
  static_cast<void>(once);
  state = State::started;
}

}  // namespace

void check(NRT_STATUS status, std::string_view call) {
  if (status == NRT_SUCCESS) [[likely]]
    return;
  const std::string_view detail = nrt_sim_last_error();
  TORCH_CHECK(false, call, " failed with status ", static_cast<int>(status), ", ", nrt_get_status_as_str(status),
              detail.empty() ? "" : ": ", detail);
}

void ensure_runtime() {
  const State now = state.load(std::memory_order_acquire);
  if (now == State::started) [[likely]]
    return;
  TORCH_CHECK(
      now != State::forked,
      "Cannot re-initialize the Neuron runtime in a forked subprocess. To use neuron devices with multiprocessing, you "
      "must use the 'spawn' start method");
  TORCH_CHECK(now != State::closed, "The Neuron runtime was closed at the end of this process (NRT_CLOSED)");
  start();
}

bool runtime_usable() { return state.load() == State::started; }
void abandon_at_exit() { abandoned = true; }
bool in_bad_fork() { return state.load() == State::forked; }

c10::DeviceIndex device_count() noexcept {
  static std::atomic<int> counted{-1};
  const int known = counted.load(std::memory_order_relaxed);
  if (known >= 0) return static_cast<c10::DeviceIndex>(known);
  uint32_t count = 0;
  if (nrt_get_visible_vnc_count(&count) != NRT_SUCCESS) return 0;
  const int visible = static_cast<int>(std::min<uint32_t>(count, 127));
  if (runtime_usable()) counted = visible;  // before that, NEURON_RT_VISIBLE_CORES may still change
  return static_cast<c10::DeviceIndex>(visible);
}

c10::DeviceIndex current_device() { return thread_device; }

c10::DeviceIndex checked(c10::DeviceIndex device) {
  if (device == -1) return thread_device;
  c10::DeviceIndex count = device_count();
  if (device >= count && !runtime_usable()) {  // says what is wrong with the machine's settings, if that is why
    ensure_runtime();
    count = device_count();
  }
  TORCH_CHECK(device >= 0 && device < count, "invalid neuron device index ", static_cast<int>(device),
              ": this process sees ", static_cast<int>(count),
              " logical NeuronCores (NEURON_RT_VISIBLE_CORES, NEURON_RT_NUM_CORES)");
  return device;
}

c10::DeviceIndex exchange_device(c10::DeviceIndex device) {
  const c10::DeviceIndex before = thread_device;
  if (device != before) thread_device = checked(device);
  return before;
}

}  // namespace trn::torch_backend
