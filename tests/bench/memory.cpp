#include "tests/bench/memory.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> g_now{0}, g_peak{0};

void* taken(void* p) {
  if (!p) throw std::bad_alloc();
  const size_t now = g_now += malloc_usable_size(p);
  if (now > g_peak) g_peak = now;
  return p;
}
void given_back(void* p) {
  g_now -= malloc_usable_size(p);
  std::free(p);
}

}  // namespace

void* operator new(size_t n) { return taken(std::malloc(n)); }
void* operator new(size_t n, std::align_val_t a) {
  return taken(
      std::aligned_alloc(static_cast<size_t>(a), (n + static_cast<size_t>(a) - 1) & ~(static_cast<size_t>(a) - 1)));
}
void operator delete(void* p) noexcept { given_back(p); }
void operator delete(void* p, size_t) noexcept { given_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { given_back(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { given_back(p); }

namespace trn::bench {

size_t bytes_now() { return g_now; }
size_t bytes_peak() { return g_peak; }
void forget_peak() { g_peak = g_now.load(); }

}  // namespace trn::bench
