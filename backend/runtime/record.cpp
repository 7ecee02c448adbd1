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

thread_local Origin t_origin;

struct ModeSwitch {
  std::atomic<Mode> mode{mode_from_environment()};
};

}  // namespace

HostClock& host_clock() { return immortal<HostClock>(); }
Counters& counters() { return immortal<Counters>(); }
Mode current_mode() { return immortal<ModeSwitch>().mode.load(std::memory_order_relaxed); }
void set_mode(Mode m) { immortal<ModeSwitch>().mode = m; }

Recorder& recorder() { return immortal<Recorder>(); }

std::shared_ptr<Recording> Recorder::start() {
  const std::lock_guard lock(mutex_);
  recordings_.push_back(std::make_shared<Recording>());
  active_ = recordings_.size();
  return recordings_.back();
}

Recording Recorder::finish(const std::shared_ptr<Recording>& recording) {
  const std::lock_guard lock(mutex_);
  if (std::erase(recordings_, recording) == 0) return {};
  active_ = recordings_.size();
  return std::exchange(*recording, {});
}

void Recorder::add(LaunchRecord r) {
  const std::lock_guard lock(mutex_);
  for (const auto& recording : recordings_) recording->launches.push_back(r);
  last_ = std::move(r);
}

void Recorder::add(const HostRecord& r) {
  if (!recording()) return;
  const std::lock_guard lock(mutex_);
  for (const auto& recording : recordings_) recording->host.push_back(r);
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

Origin& current_origin() { return t_origin; }

}  // namespace trn::runtime
