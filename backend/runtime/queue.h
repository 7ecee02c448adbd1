#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backend/runtime/handles.h"
#include "backend/runtime/machine.h"
#include "backend/runtime/record.h"
#include "backend/runtime/status.h"
#include "nrt/nrt_async.h"

namespace trn::runtime {

struct Launch;
struct Mark;

enum class WorkKind : unsigned char { launch, write, read, copy, fill, mark, wait_mark };

// One request of a core's queue. Plain data, resolved when it was made.
struct Work {
  WorkKind kind = WorkKind::mark;
  Mode mode = Mode::both;
  bool notifies = false;  // tell nrt_register_async_exec_callback's function
  uint16_t lane = 0;      // unit and queue: unit << 2 | queue
  Origin origin{};
  int value = 0;            // fill: byte; launch: repetitions
  double submitted_ns = 0;  // host clock
  Launch* launch = nullptr;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  size_t bytes = 0;
  Mark* mark = nullptr;
  void* tracker = nullptr;     // handle of an error tracker
  Failure* outcome = nullptr;  // of a caller that waits for this request and keeps it alive
};

// One core's requests in order of arrival, served by one thread that starts with the first. Requests are numbered
// from 1. Enqueueing takes a spin lock and, while the thread is busy, no system call. A full queue makes enqueue wait.
class Queue {
 public:
  static constexpr uint64_t kCapacity = 2048;
  static constexpr int kLanes = NRTA_XU_TYPE_NUM << 2;

  // Serves requests; may not throw.
  class Server {
   public:
    virtual ~Server() = default;
    virtual void serve(const Work& w, uint64_t number) noexcept = 0;
  };

  explicit Queue(Server& server) : server_(server) {}
  ~Queue() { stop(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  uint64_t enqueue(const Work& w);
  uint64_t enqueued() const { return enqueued_.load(std::memory_order_acquire); }
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  uint64_t completed_in(int lane) const {
    return lane_completed_[static_cast<size_t>(lane)].load(std::memory_order_acquire);
  }
  bool idle() const { return completed() >= enqueued(); }

  // Until request `number` is done; false if `timeout_us` passed first. Returns at once on the queue's own thread.
  bool wait(uint64_t number, uint64_t timeout_us = ~uint64_t{0});
  void drain() { wait(enqueued()); }

  // A file descriptor of the caller's that becomes readable when `number` is done.
  int completion_handle(uint64_t number);

  // Serves what is queued, then ends the thread. Nothing may be enqueued any more.
  void stop();

 private:
  void run();
  bool has_work(uint64_t next) const { return enqueued_.load(std::memory_order_seq_cst) > next; }
  void sleep(uint64_t next);
  void notify_handles(uint64_t done);

  Server& server_;
  std::unique_ptr<std::array<Work, kCapacity>> ring_ = std::make_unique<std::array<Work, kCapacity>>();
  SpinLock producers_;
  alignas(64) std::atomic<uint64_t> enqueued_{0};
  alignas(64) std::atomic<uint64_t> completed_{0};
  std::array<std::atomic<uint64_t>, kLanes> lane_completed_{};

  alignas(64) std::atomic<bool> sleeping_{false}, stopping_{false};
  std::atomic<int> waiters_{0};
  std::mutex mutex_;
  std::condition_variable work_arrived_, work_done_;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};

  struct Handle {
    uint64_t number;
    int fd;
  };
  std::vector<Handle> handles_;  // guarded by mutex_
  std::atomic<size_t> handle_count_{0};
};

}  // namespace trn::runtime
