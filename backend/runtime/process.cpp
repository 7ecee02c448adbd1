#include "backend/runtime/process.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>

#include "backend/runtime/clock.h"
#include "backend/runtime/log.h"
#include "backend/runtime/model.h"
#include "backend/runtime/record.h"
#include "sim/execute.h"

namespace trn::runtime {
namespace {

enum class State : int { never, open, closed, forked };
std::atomic<State> g_state{State::never};
std::atomic<Process*> g_process{nullptr};
std::mutex g_mutex;  // opening and closing

// The queues' threads do not exist in a child, and its parent's cores are not its own.
void mark_child() {
  if (g_state == State::open) g_state = State::forked;
}

// Threads must not outlive the static objects that cards use. What is still queued is dropped.
void stop_at_exit() {
  Process* p = g_process;
  if (g_state != State::open || !p) return;
  for (const auto& core : p->cores) core->interrupt();
  for (const auto& core : p->cores) core->stop();
}

void once_per_process() {
  static const bool done = [] {
    pthread_atfork(nullptr, nullptr, &mark_child);
    std::atexit(&stop_at_exit);
    return true;
  }();
  static_cast<void>(done);
}

std::string name_of(int logical) { return "nc" + std::to_string(logical); }

// All physical cores of a logical one, or none.
pid_t claim(CoreClaims& claims, const Machine& m, int logical) {
  for (int i = 0; i < m.lnc; ++i) {
    const pid_t owner = claims.claim(logical * m.lnc + i);
    if (!owner) continue;
    claims.release_last(static_cast<size_t>(i));
    return owner;
  }
  return 0;
}

[[noreturn]] void not_available(const std::string& requested, size_t available, int first, pid_t owner) {
  const std::string text =
      "Logical Neuron Core(s) not available - Requested:" + requested + " Available:" + std::to_string(available);
  const std::string who = name_of(first) + " is in use by process " + (owner > 0 ? std::to_string(owner) : "(unknown)");
  log(Level::error, Component::nrt, "nrt_allocate_neuron_cores", text);
  log(Level::error, Component::nrt, "nrt_allocate_neuron_cores", who);
  fail(NRT_RESOURCE, text + ": " + who + "; end it, or choose other cores with NEURON_RT_VISIBLE_CORES");
}

// The logical cores that are now this process's.
std::vector<int> claim_cores(CoreClaims& claims, const Machine& m) {
  const auto needed = static_cast<size_t>(m.visible());
  std::vector<int> ours;
  int busy = -1;
  pid_t owner = 0;
  for (const int logical : m.wanted) {
    if (ours.size() == needed) break;
    const pid_t holder = claim(claims, m, logical);
    if (!holder) {
      ours.push_back(logical);
    } else if (busy < 0) {
      busy = logical;
      owner = holder;
    }
  }
  if (ours.size() == needed) return ours;
  const std::string requested =
      m.any ? std::to_string(m.any) : name_of(m.wanted.front()) + "-" + name_of(m.wanted.back());
  not_available(requested, ours.size(), busy, owner);
}

template <class Table, class Take>
void clear(Table& table, Take&& take) {
  table.for_each_live([&](void* handle, auto&) { table.release(handle, take); });
}

}  // namespace

void open_process() {
  const std::lock_guard lock(g_mutex);
  if (g_state == State::open) return;
  if (g_state == State::forked)
    fail(NRT_UNINITIALIZED,
         "the Neuron runtime cannot be used in a forked child of a process that opened it; start processes with spawn");
  set_injection({});
  if (const char* text = std::getenv("TRNSIM_INJECT"); text && *text) set_injection(parse_injection(text));
  current_mode();  // a wrong TRNSIM_MODE fails here
  auto p = std::make_unique<Process>();
  p->machine = machine_from_environment();
  const std::vector<int> ours = claim_cores(p->claims, p->machine);
  for (size_t i = 0; i < ours.size(); ++i)
    p->cores.push_back(std::make_unique<Core>(p->machine, static_cast<int>(i), ours[i]));
  once_per_process();
  host_clock().reset();
  g_process = p.release();
  g_state = State::open;
  log(Level::info, Component::nrt, "nrt_init",
      "simulated " + std::string(g_process.load()->machine.instance.name) + ", " + std::to_string(ours.size()) +
          " logical cores of " + std::to_string(g_process.load()->machine.lnc));
}

void close_process() {
  const std::lock_guard lock(g_mutex);
  if (g_state != State::open) return;
  Process& p = *g_process;
  for (const auto& core : p.cores) core->stop();
  clear(models(), [](ModelHandle& m) { m.executable = nullptr; });
  clear(events(), [](Event& e) { let_go(e.mark); });
  clear(tensor_sets(), [](TensorSet&) {});
  clear(error_trackers(), [](ErrorTracker&) {});
  clear(tensors(), [](Tensor& t) { let_go(t.storage); });
  g_state = State::closed;
  delete g_process.exchange(nullptr);
}

Process& process() {
  switch (g_state.load(std::memory_order_acquire)) {
    case State::open: return *g_process.load(std::memory_order_acquire);
    case State::forked:
      fail(NRT_UNINITIALIZED,
           "the Neuron runtime cannot be used in a forked child of a process that opened it; start processes with "
           "spawn");
    case State::closed: fail(NRT_CLOSED, "the Neuron runtime is closed");
    default: fail(NRT_UNINITIALIZED, "nrt_init() was not called");
  }
}

Core& core(int64_t index) {
  Process& p = process();
  if (index < 0 || index >= static_cast<int64_t>(p.cores.size()))
    fail(NRT_INVALID, "there is no core " + std::to_string(index) + ": this process sees " +
                          std::to_string(p.cores.size()) + " logical cores");
  return *p.cores[static_cast<size_t>(index)];
}

Request request(nrta_seq_t seq) {
  const auto index = static_cast<int64_t>(seq >> 53);
  const int lane = static_cast<int>(seq >> 48 & 31);
  const uint64_t number = seq & NRTA_SEQ_NUM_MASK;
  Process& p = process();
  if (index >= static_cast<int64_t>(p.cores.size()) || lane >= Queue::kLanes || number == 0 ||
      number > core(index).queue().enqueued())
    fail(NRT_INVALID, "this sequence number was never given out");
  return {core(index), lane, number};
}

}  // namespace trn::runtime
