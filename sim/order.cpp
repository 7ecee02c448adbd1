#include "sim/order.h"

#include <algorithm>
#include <utility>

namespace trn {

bool is_met_by_engine_order(const Instruction& producer, const Instruction& consumer, Hazard hazard) {
  if (producer.core != consumer.core || producer.engine != consumer.engine) return false;
  if (hazard == Hazard::engine_order) return true;
  if (row(producer).is_dma) return false;
  if (hazard == Hazard::write_after_read) return !row(consumer).is_dma;
  return hazard == Hazard::write_after_write && producer.engine == Engine::tensor && !row(consumer).is_dma;
}

// ---- Streams ----

void Streams::Sorted::count(size_t key) {
  if (begin_.size() < key + 2) begin_.resize(key + 2);
  ++begin_[key + 1];
}

void Streams::Sorted::place() {
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  filled_ = begin_;
  all_.resize(begin_.empty() ? 0 : begin_.back());
}

// Issuers and completers are numbered as they appear.
Streams::Streams(const Program& p) {
  constexpr uint16_t kNone = 0xFFFF;
  constexpr uint8_t kCompute = 0xFF;  // no queue: what an engine computes
  struct Completer {
    uint16_t issuer;
    uint8_t queue;
    uint32_t completed;
  };
  std::array<uint16_t, 2 * kEngines> issuers;
  issuers.fill(kNone);
  std::array<uint32_t, 2 * kEngines> issued{};
  std::vector<Completer> completers;  // few: they are looked through
  completers.reserve(2 * issued.size());
  places_.reserve(p.instructions.size());
  const auto rows = isa();
  for (uint32_t i = 0; i < p.instructions.size(); ++i) {
    const Instruction& in = p.instructions[i];
    const size_t engine = in.core * kEngines + static_cast<size_t>(in.engine);
    uint16_t& issuer = issuers[engine];
    if (issuer == kNone) issuer = static_cast<uint16_t>(issuers_++);
    const uint8_t queue = rows[in.card].is_dma ? in.queue : kCompute;
    size_t c = 0;
    while (c < completers.size() && (completers[c].issuer != issuer || completers[c].queue != queue)) ++c;
    if (c == completers.size()) completers.push_back({issuer, queue, 0});
    places_.push_back({issuer, static_cast<uint16_t>(c), issued[issuer]++, completers[c].completed++});
    issued_.count(issuer);
    if (in.update != Instruction::kNoUpdate) posts_.count(in.update);
  }
  completers_ = static_cast<int>(completers.size());
  issued_.place();
  posts_.place();
  for (uint32_t i = 0; i < p.instructions.size(); ++i) {
    issued_.add(places_[i].issuer, i);
    if (p.instructions[i].update != Instruction::kNoUpdate) posts_.add(p.instructions[i].update, i);
  }
}

// ---- EagerRun ----

EagerRun::EagerRun(const Program& p, const Streams& s, uint32_t held) : p_(p), streams_(s), held_(held) {
  next_.resize(static_cast<size_t>(s.issuers()));
  blocked_.resize(static_cast<size_t>(s.completers()));
  size_t semaphores = s.semaphores();
  for (const Wait& w : p.waits) semaphores = std::max<size_t>(semaphores, w.semaphore + 1u);
  values_.resize(semaphores);
  waiting_.resize(semaphores);
  for (int i = s.issuers(); i-- > 0;) ready_.push_back(static_cast<uint16_t>(i));
  while (!ready_.empty()) {
    const int issuer = ready_.back();
    ready_.pop_back();
    advance(issuer);
  }
}

void EagerRun::advance(int issuer) {
  uint32_t& next = next_[static_cast<size_t>(issuer)];
  const auto mine = streams_.issued_by(issuer);
  for (; next < mine.size(); ++next) {
    const Instruction& in = p_.instructions[mine[next]];
    for (const Wait& w : p_.waits_of(in))
      if (values_[w.semaphore] < w.value) {
        waiting_[w.semaphore].push_back(static_cast<uint16_t>(issuer));
        return;
      }
    complete(mine[next]);
  }
}

void EagerRun::complete(uint32_t instruction) {
  const uint16_t completer = streams_.of(instruction).completer;
  if (instruction == held_) blocked_[completer] = true;
  const uint16_t update = p_.instructions[instruction].update;
  if (blocked_[completer] || update == Instruction::kNoUpdate) return;
  ++values_[update];
  ready_.insert(ready_.end(), waiting_[update].begin(), waiting_[update].end());
  waiting_[update].clear();
}

bool EagerRun::started(uint32_t instruction) const {
  const Streams::Place& at = streams_.of(instruction);
  return at.issued < next_[at.issuer];
}

uint32_t EagerRun::stuck(int issuer) const {
  const auto mine = streams_.issued_by(issuer);
  const uint32_t next = next_[static_cast<size_t>(issuer)];
  return next < mine.size() ? mine[next] : kNobody;
}

bool EagerRun::done() const {
  for (int i = 0; i < streams_.issuers(); ++i)
    if (stuck(i) != kNobody) return false;
  return true;
}

// ---- Order ----

Order::Order(const Program& p, const Streams& s)
    : p_(p), streams_(s), width_(static_cast<size_t>(2 * s.issuers() + s.completers())) {
  uint32_t rows = 0;
  post_.resize(p.instructions.size());
  for (uint16_t semaphore = 0; semaphore < s.semaphores(); ++semaphore) {
    const auto posts = s.posts(semaphore);
    for (const uint32_t i : posts) post_[i] = rows++;
    const auto other = [&](uint32_t i) { return s.of(i).completer != s.of(posts[0]).completer; };
    if (std::none_of(posts.begin(), posts.end(), other)) continue;
    std::map<uint16_t, std::vector<uint32_t>> by_completer;
    for (const uint32_t i : posts) by_completer[s.of(i).completer].push_back(i);
    for (auto& [completer, mine] : by_completer) shared_[semaphore].push_back(std::move(mine));
  }
  clocks_.resize(size_t{rows} * width_);
  restart();
  if (shared_.empty()) return;
  // Each pass may only add to what is known; in practice the second one finds what there is.
  constexpr int kMostPasses = 4;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const std::vector<uint32_t> known = std::move(guarantees_);
    for (size_t i = 0; i <= p.instructions.size(); ++i) next();
    const bool settled = guarantees_ == known;
    before_ = clocks_;
    restart();
    if (settled) break;
  }
}

void Order::restart() {
  at_ = 0;
  first_ = true;
  guarantees_.clear();
  known_.assign(static_cast<size_t>(streams_.issuers()) * width_, 0);
  over_.assign(static_cast<size_t>(streams_.completers()) * width_, 0);
}

void Order::join(uint32_t* into, const uint32_t* other) const {
  for (size_t k = 0; k < width_; ++k) into[k] = std::max(into[k], other[k]);
}

// Of one completer's posts, how many can happen before `waiter` starts, and while `without` does not complete.
uint32_t Order::possible(std::span<const uint32_t> posts, uint32_t waiter, uint32_t without) const {
  const Streams::Place& w = streams_.of(waiter);
  const Streams::Place& x = streams_.of(without);
  const auto can = [&](uint32_t y) {
    const Streams::Place& at = streams_.of(y);
    if (at.issuer == w.issuer && at.issued >= w.issued) return false;
    if (before_.empty()) return true;
    const uint32_t* then = post_clock(before_, y);
    return then[issued(w.issuer)] <= w.issued && then[complete(x.completer)] <= x.completed;
  };
  return static_cast<uint32_t>(std::partition_point(posts.begin(), posts.end(), can) - posts.begin());
}

void Order::wait_for(const Wait& w, uint32_t* now) {
  if (w.value == 0) return;
  const auto shared = shared_.find(w.semaphore);
  if (shared == shared_.end()) {
    const auto posts = streams_.posts(w.semaphore);
    if (w.value <= posts.size()) join(now, post_clock(clocks_, posts[w.value - 1]));
    return;
  }
  const auto& posters = shared->second;
  for (size_t k = 0; k < posters.size(); ++k) {
    // The posts of this one without which the count stays below the value: a first part of them.
    const auto needed = [&](uint32_t m) {
      uint64_t without = m;
      for (size_t j = 0; j < posters.size(); ++j)
        if (j != k) without += possible(posters[j], at_, posters[k][m]);
      return without < w.value;
    };
    uint32_t low = 0, high = static_cast<uint32_t>(posters[k].size());
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      needed(middle) ? low = middle + 1 : high = middle;
    }
    while (low > 0 && posters[k][low - 1] >= at_) --low;
    guarantees_.push_back(low);
    if (low > 0) join(now, post_clock(clocks_, posters[k][low - 1]));
  }
}

void Order::next() {
  if (!std::exchange(first_, false)) {
    const Streams::Place& at = streams_.of(at_);
    uint32_t* now = &known_[at.issuer * width_];
    uint32_t* over = &over_[at.completer * width_];
    now[issued(at.issuer)] = at.issued + 1;
    join(over, now);
    if (!row(p_.instructions[at_]).is_dma) over[read(at.issuer)] = at.issued + 1;
    over[complete(at.completer)] = at.completed + 1;
    if (p_.instructions[at_].update != Instruction::kNoUpdate)
      std::copy_n(over, width_, &clocks_[size_t{post_[at_]} * width_]);
    ++at_;
  }
  if (at_ >= p_.instructions.size()) return;
  uint32_t* now = &known_[streams_.of(at_).issuer * width_];
  for (const Wait& w : p_.waits_of(p_.instructions[at_])) wait_for(w, now);
}

bool Order::is_over(uint32_t earlier, bool written) const {
  const Streams::Place& e = streams_.of(earlier);
  if (!written && !row(p_.instructions[earlier]).is_dma)
    return known_[streams_.of(at_).issuer * width_ + read(e.issuer)] > e.issued;
  return completed(e.completer) > e.completed;
}

uint32_t Order::completed(int completer) const {
  return known_[streams_.of(at_).issuer * width_ + complete(completer)];
}

}  // namespace trn
