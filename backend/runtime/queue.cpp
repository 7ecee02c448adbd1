#include "backend/runtime/queue.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace trn::runtime {
namespace {

using SteadyClock = std::chrono::steady_clock;

// How long a thread looks before it sleeps: a wake-up through the kernel costs about as much.
constexpr auto kPatience = std::chrono::microseconds(50);

// True if `ready()` became true before patience ran out.
template <class Ready>
bool look(Ready&& ready) {
  for (int i = 0; i < 64; ++i)
    if (ready()) return true;
  const auto until = SteadyClock::now() + kPatience;
  do {
    for (int i = 0; i < 8; ++i) {
      if (ready()) return true;
      std::this_thread::yield();
    }
  } while (SteadyClock::now() < until);
  return ready();
}

void signal(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = write(fd, &one, sizeof one);
}

}  // namespace

uint64_t Queue::enqueue(const Work& w) {
  uint64_t number;
  {
    const std::lock_guard lock(producers_);
    const uint64_t at = enqueued_.load(std::memory_order_relaxed);
    if (!thread_.joinable()) [[unlikely]] {
      thread_ = std::thread(&Queue::run, this);
      thread_id_ = thread_.get_id();
    }
    while (at - completed_.load(std::memory_order_acquire) >= kCapacity) std::this_thread::yield();
    (*ring_)[at % kCapacity] = w;
    number = at + 1;
    enqueued_.store(number, std::memory_order_seq_cst);
  }
  if (sleeping_.load(std::memory_order_seq_cst)) {
    const std::lock_guard lock(mutex_);
    work_arrived_.notify_one();
  }
  return number;
}

void Queue::sleep(uint64_t next) {
  std::unique_lock lock(mutex_);
  sleeping_.store(true, std::memory_order_seq_cst);
  work_arrived_.wait(lock, [&] { return has_work(next) || stopping_; });
  sleeping_.store(false, std::memory_order_relaxed);
}

void Queue::run() {
  for (uint64_t next = 0;; ++next) {
    if (!has_work(next) && !look([&] { return has_work(next) || stopping_.load(std::memory_order_relaxed); }))
      sleep(next);
    if (!has_work(next)) return;  // stopping
    const Work& w = (*ring_)[next % kCapacity];
    const uint16_t lane = w.lane;
    server_.serve(w, next + 1);
    lane_completed_[lane].store(next + 1, std::memory_order_release);
    completed_.store(next + 1, std::memory_order_seq_cst);
    if (waiters_.load(std::memory_order_seq_cst) > 0) {
      const std::lock_guard lock(mutex_);
      work_done_.notify_all();
    }
    if (handle_count_.load(std::memory_order_seq_cst) > 0) notify_handles(next + 1);
  }
}

bool Queue::wait(uint64_t number, uint64_t timeout_us) {
  const auto done = [&] { return completed_.load(std::memory_order_seq_cst) >= number; };
  if (done() || std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed)) return true;
  if (timeout_us == 0) return false;
  if (look(done)) return true;
  std::unique_lock lock(mutex_);
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  bool in_time = true;
  constexpr uint64_t kForever = uint64_t{1} << 50;
  if (timeout_us >= kForever)
    work_done_.wait(lock, done);
  else
    in_time = work_done_.wait_for(lock, std::chrono::microseconds(timeout_us), done);
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  return in_time;
}

int Queue::completion_handle(uint64_t number) {
  const int fd = eventfd(0, EFD_CLOEXEC);
  if (fd < 0) fail(NRT_RESOURCE, "no file descriptor for a completion handle");
  const int ours = fcntl(fd, F_DUPFD_CLOEXEC, 0);  // the caller may close its own before we are done
  if (ours < 0) {
    close(fd);
    fail(NRT_RESOURCE, "no file descriptor for a completion handle");
  }
  {
    const std::lock_guard lock(mutex_);
    handles_.push_back({number, ours});
    handle_count_.fetch_add(1, std::memory_order_seq_cst);
  }
  notify_handles(completed_.load(std::memory_order_seq_cst));
  return fd;
}

void Queue::notify_handles(uint64_t done) {
  const std::lock_guard lock(mutex_);
  std::erase_if(handles_, [&](const Handle& h) {
    if (h.number > done) return false;
    signal(h.fd);
    close(h.fd);
    return true;
  });
  handle_count_.store(handles_.size(), std::memory_order_seq_cst);
}

void Queue::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_arrived_.notify_one();
  }
  thread_.join();
}

}  // namespace trn::runtime
