#include "backend/torch/queue.h"

#include <Python.h>
#include <torch/csrc/Exceptions.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>

#include "backend/torch/runtime.h"
#include "backend/torch/source.h"
#include "backend/torch/stream.h"

namespace trn::torch_backend {
namespace {

constexpr size_t kMaxDevices = 128;
constexpr uint64_t kSignalPollUs = 50'000;

struct DeviceWork {
  std::atomic<nrta_seq_t> last{0};
  std::array<std::atomic<nrta_seq_t>, kStreams> last_of_stream{};
  std::mutex kept_mutex;
  std::deque<std::pair<nrta_seq_t, c10::Storage>> kept;
};

DeviceWork& work(c10::DeviceIndex device) {
  static auto* all = new std::array<DeviceWork, kMaxDevices>;  // outlives tensors that die during exit
  return (*all)[static_cast<size_t>(device)];
}

// Requests of one core have growing numbers, but two threads may come here in the other order.
void raise_to(std::atomic<nrta_seq_t>& last, nrta_seq_t seq) {
  nrta_seq_t seen = last.load(std::memory_order_relaxed);
  while (NRTA_SEQ_GET_SEQ_NUM(seen) < NRTA_SEQ_GET_SEQ_NUM(seq) && !last.compare_exchange_weak(seen, seq)) {
  }
}

bool launch_blocking() {
  static const bool blocking = [] {
    const char* value = std::getenv("NEURON_LAUNCH_BLOCKING");
    return value && std::string_view(value) == "1";
  }();
  return blocking;
}

nrta_seq_t submitted(c10::DeviceIndex device, NRT_STATUS status, nrta_seq_t seq, const char* op) {
  if (status != NRT_SUCCESS) [[unlikely]]
    TORCH_CHECK(false, op, ": NRT EXECUTION FAILED: ", nrt_sim_last_error(), " (status=", static_cast<int>(status),
                ", ", nrt_get_status_as_str(status), ")");
  DeviceWork& w = work(device);
  raise_to(w.last, seq);
  raise_to(w.last_of_stream[static_cast<size_t>(current_stream(device).id())], seq);
  return seq;
}

nrta_seq_t launched(c10::DeviceIndex device, NRT_STATUS status, nrta_seq_t seq, const char* op) {
  submitted(device, status, seq, op);
  if (launch_blocking()) wait(device, seq);
  return seq;
}

void start(const char* op) {
  ensure_runtime();
  set_source(op);
}

void release_kept(c10::DeviceIndex device) {
  DeviceWork& w = work(device);
  std::vector<c10::Storage> done;  // dies outside the lock: a storage's deleter may come back here
  std::lock_guard lock(w.kept_mutex);
  while (!w.kept.empty() && is_done(w.kept.front().first)) {
    done.push_back(std::move(w.kept.front().second));
    w.kept.pop_front();
  }
}

// Ctrl-C, where the interpreter is there to tell.
void check_signals() {
  if (!PyGILState_GetThisThreadState()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  if (PyErr_CheckSignals() == 0) return PyGILState_Release(gil);
  abandon_at_exit();
  python_error interrupted;
  interrupted.persist();
  PyGILState_Release(gil);
  throw interrupted;
}

class WithoutGil {
 public:
  WithoutGil() : saved_(PyGILState_GetThisThreadState() && PyGILState_Check() ? PyEval_SaveThread() : nullptr) {}
  ~WithoutGil() {
    if (saved_) PyEval_RestoreThread(saved_);
  }

 private:
  PyThreadState* saved_;
};

void wait_for(nrta_seq_t seq) {
  NRT_STATUS status;
  while ((status = nrt_sim_wait_for(seq, kSignalPollUs)) == NRT_TIMEOUT) check_signals();
  check(status, "nrt_sim_wait_for");
}

}  // namespace

nrta_seq_t enqueue_write(c10::DeviceIndex device, Location dst, const void* src, uint64_t size, const char* op) {
  start(op);
  nrta_seq_t seq = 0;
  const NRT_STATUS status = nrta_tensor_write(dst.segment, src, dst.offset, size, 0, nullptr, &seq);
  return submitted(device, status, seq, op);
}

nrta_seq_t enqueue_read(c10::DeviceIndex device, void* dst, Location src, uint64_t size, const char* op) {
  start(op);
  nrta_seq_t seq = 0;
  const NRT_STATUS status = nrta_tensor_read(dst, src.segment, src.offset, size, 0, nullptr, &seq);
  return submitted(device, status, seq, op);
}

nrta_seq_t enqueue_copy(c10::DeviceIndex device, Location dst, Location src, uint64_t size, const char* op) {
  start(op);
  nrta_seq_t seq = 0;
  const NRT_STATUS status = nrta_tensor_copy(src.segment, src.offset, dst.segment, dst.offset, size, 0, nullptr, &seq);
  return launched(device, status, seq, op);
}

nrta_seq_t enqueue_execute(c10::DeviceIndex device, nrt_model_t* model, std::span<const nrt_sim_binding_t> slots,
                           const char* op) {
  start(op);
  nrta_seq_t seq = 0;
  const NRT_STATUS status = nrt_sim_execute(model, slots.data(), slots.size(), nullptr, &seq);
  return launched(device, status, seq, op);
}

void keep_until(c10::DeviceIndex device, nrta_seq_t seq, c10::Storage storage) {
  release_kept(device);
  std::lock_guard lock(work(device).kept_mutex);
  work(device).kept.emplace_back(seq, std::move(storage));
}

nrta_seq_t last_work(c10::DeviceIndex device) { return work(device).last; }

nrta_seq_t last_work(c10::DeviceIndex device, c10::StreamId stream) {
  return work(device).last_of_stream[static_cast<size_t>(stream)];
}

bool is_done(nrta_seq_t seq) {
  if (!runtime_usable()) return true;
  bool done = false;
  check(nrta_is_completed(seq, &done), "nrta_is_completed");
  return done;
}

void wait(c10::DeviceIndex device, nrta_seq_t seq) {
  ensure_runtime();
  const WithoutGil released;
  wait_for(seq);
  release_kept(device);
  // Also waits for what other threads have queued since, which no caller can tell from a slower device.
  const NRT_STATUS status = nrt_sim_synchronize(static_cast<uint32_t>(device));
  // The run is complete and NaN is a value in PyTorch: whoever asked for strict mode is told where it came from.
  if (status == NRT_EXEC_COMPLETED_WITH_NUM_ERR) {
    TORCH_WARN("NRT_EXEC_COMPLETED_WITH_NUM_ERR: ", nrt_sim_last_error());
    return;
  }
  TORCH_CHECK(status == NRT_SUCCESS, "NRT EXECUTION FAILED: ", nrt_sim_last_error(),
              " (status=", static_cast<int>(status), ", ", nrt_get_status_as_str(status), ")");
}

void synchronize(c10::DeviceIndex device) {
  if (const nrta_seq_t last = last_work(device)) wait(device, last);
}

void settle(c10::DeviceIndex device) {
  const nrta_seq_t last = last_work(device);
  if (last == 0 || !runtime_usable()) return;
  const WithoutGil released;
  check(nrt_sim_wait(last), "nrt_sim_wait");
}

}  // namespace trn::torch_backend
