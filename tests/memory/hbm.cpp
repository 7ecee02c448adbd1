#include "memory/hbm.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace trn;

namespace {

constexpr int64_t kCapacity = int64_t{1} << 20;

struct Random {
  uint32_t state = 3;
  uint32_t next() { return (state = state * 1664525u + 1013904223u) >> 8; }
};

// Runs `act` in a child process; the signal that ended it, or 0.
template <class Act>
int signal_of(Act act) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Writable private memory of this process, as RLIMIT_DATA counts it.
rlim_t private_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmData:") {
      rlim_t kib = 0;
      status >> kib;
      return kib << 10;
    }
  return 0;
}

}  // namespace

TEST_CASE("blocks never overlap, and freeing everything gives one block back") {
  HbmStack stack(kCapacity);
  Random random;
  std::map<std::byte*, int64_t> live;
  int64_t used = 0, peak = 0;
  for (int round = 0; round < 20000; ++round) {
    if (live.empty() || random.next() % 5 < 3) {
      const auto bytes = static_cast<int64_t>(random.next() % 20000);
      std::byte* p = stack.allocate(bytes);
      if (!p) {
        REQUIRE(stack.statistics().largest_free < bytes);
        continue;
      }
      REQUIRE(reinterpret_cast<uintptr_t>(p) % HbmStack::kAlignment == 0);
      const int64_t size = stack.size_of_block(p);
      REQUIRE(size >= std::max<int64_t>(bytes, 1));
      const auto after = live.lower_bound(p);
      REQUIRE((after == live.end() || p + size <= after->first));
      REQUIRE((after == live.begin() || std::prev(after)->first + std::prev(after)->second <= p));
      REQUIRE((stack.owns(p) && stack.owns(p + size - 1)));
      live.emplace(p, size);
      used += size;
      peak = std::max(peak, used);
    } else {
      auto victim = live.begin();
      std::advance(victim, random.next() % live.size());
      used -= victim->second;
      stack.free(victim->first);
      live.erase(victim);
    }
    REQUIRE(stack.statistics().used == used);
  }
  CHECK(stack.statistics().peak_used == peak);
  for (const auto& [p, size] : live) stack.free(p);
  const auto s = stack.statistics();
  CHECK((s.used == 0 && s.blocks == 0 && s.largest_free == kCapacity));
  stack.reset_peak();
  CHECK(stack.statistics().peak_used == 0);
}

TEST_CASE("capacity is exact, and running out is a null") {
  HbmStack stack(kCapacity);
  std::byte* all = stack.allocate(kCapacity);
  REQUIRE(all);
  CHECK_FALSE(stack.allocate(0));
  stack.free(all);
  CHECK_FALSE(stack.allocate(kCapacity + 1));
  CHECK_FALSE(stack.allocate(INT64_MAX));
  CHECK(stack.allocate(kCapacity));
}

TEST_CASE("the smallest block that fits is taken") {
  HbmStack stack(kCapacity);
  std::byte* a = stack.allocate(8192);
  std::byte* gap = stack.allocate(1024);
  std::byte* b = stack.allocate(512);
  std::byte* small = stack.allocate(512);
  std::byte* c = stack.allocate(512);
  stack.free(a);
  stack.free(small);
  CHECK(stack.allocate(512) == small);
  CHECK(stack.allocate(1024) == a);
  CHECK((gap && b && c));
}

TEST_CASE("misuse is refused") {
  HbmStack stack(kCapacity);
  std::byte* p = stack.allocate(1000);
  CHECK_THROWS_AS(stack.free(p + 512), Error);
  stack.free(p);
  CHECK_THROWS_AS(stack.free(p), Error);
  CHECK_THROWS_AS(stack.allocate(-1), Error);
  CHECK_THROWS_AS(HbmStack(0), Error);
}

TEST_CASE("24 GiB are reserved without being touched") {
  HbmStack stack(int64_t{24} << 30);
  std::byte* p = stack.allocate(int64_t{20} << 30);
  REQUIRE(p);
  p[(int64_t{20} << 30) - 1] = std::byte{1};
  stack.free(p);
  p = stack.allocate(int64_t{20} << 30);
  CHECK(p[(int64_t{20} << 30) - 1] == std::byte{0});  // the pages went back to the host
}

TEST_CASE("threads may allocate at once") {
  HbmStack stack(int64_t{64} << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&stack] {
      for (int i = 0; i < 1000; ++i) stack.free(stack.allocate(i * 7));
    });
  for (auto& t : threads) t.join();
  CHECK(stack.statistics().allocations == 4000);
  CHECK(stack.statistics().used == 0);
}

#ifndef __SANITIZE_ADDRESS__  // ASan turns the expected signal into its own report
TEST_CASE("with TRNSIM_PROTECT a stray host read crashes, an engine's does not") {
  setenv("TRNSIM_PROTECT", "1", 1);
  HbmStack stack(kCapacity);
  unsetenv("TRNSIM_PROTECT");
  volatile std::byte* p = stack.allocate(100);
  CHECK(signal_of([&] { *p = std::byte{1}; }) == SIGSEGV);
  {
    const HbmAccess outer(stack);
    { const HbmAccess inner(stack); }
    *p = std::byte{42};
  }
  CHECK(signal_of([&] { (void)*p; }) == SIGSEGV);
  const HbmAccess again(stack);
  CHECK(*p == std::byte{42});
}
#endif

TEST_CASE("a limit of the host's memory is met by what is used, not by what the device has") {
  constexpr int64_t kMiB = int64_t{1} << 20;
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t limit_bytes = private_bytes() + 256 * kMiB;
    const rlimit limit{limit_bytes, limit_bytes};
    setrlimit(RLIMIT_DATA, &limit);
    HbmStack stack(24 * 1024 * kMiB);
    std::byte* small = stack.allocate(kMiB);
    const bool refused = !stack.allocate(1024 * kMiB) && stack.statistics().used == kMiB;
    _exit(small && refused && stack.allocate(kMiB) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}
