#include "backend/runtime/record.h"

#include <utility>

#include "backend/runtime/clock.h"

namespace trn::runtime {
namespace {

// Never destroyed: cores' threads and late calls of other libraries' exit handlers may still come here.
template <class T>
T& immortal() {
  static T& object = *new T;
  return object;
}

struct Texts {
  std::mutex mutex;
  std::deque<std::string> by_number{""};
  std::unordered_map<std::string_view, uint32_t> numbers{{"", 0}};
};

thread_local uint32_t t_source = 0;

struct ModeSwitch {
  std::atomic<Mode> mode{mode_from_environment()};
};

}  // namespace

HostClock& host_clock() { return immortal<HostClock>(); }
Counters& counters() { return immortal<Counters>(); }
Mode current_mode() { return immortal<ModeSwitch>().mode.load(std::memory_order_relaxed); }
void set_mode(Mode m) { immortal<ModeSwitch>().mode = m; }

Recorder& recorder() { return immortal<Recorder>(); }

void Recorder::start() {
  const std::lock_guard lock(mutex_);
  launches_.clear();
  host_.clear();
  recording_ = true;
}

void Recorder::add(LaunchRecord r) {
  const std::lock_guard lock(mutex_);
  if (recording_) launches_.push_back(r);
  last_ = std::move(r);
}

void Recorder::add(const HostRecord& r) {
  if (!recording()) return;
  const std::lock_guard lock(mutex_);
  host_.push_back(r);
}

std::vector<LaunchRecord> Recorder::take_launches() {
  const std::lock_guard lock(mutex_);
  return std::exchange(launches_, {});
}

std::vector<HostRecord> Recorder::take_host() {
  const std::lock_guard lock(mutex_);
  return std::exchange(host_, {});
}

LaunchRecord Recorder::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

uint32_t intern(std::string_view text) {
  auto& t = immortal<Texts>();
  const std::lock_guard lock(t.mutex);
  if (const auto known = t.numbers.find(text); known != t.numbers.end()) return known->second;
  const auto number = static_cast<uint32_t>(t.by_number.size());
  t.numbers.emplace(t.by_number.emplace_back(text), number);
  return number;
}

const std::string& interned(uint32_t number) {
  auto& t = immortal<Texts>();
  const std::lock_guard lock(t.mutex);
  return t.by_number[number < t.by_number.size() ? number : 0];
}

void set_source(uint32_t number) { t_source = number; }
uint32_t current_source() { return t_source; }

}  // namespace trn::runtime
