#include "isa/threads.h"

#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>

namespace trn {

namespace {
std::atomic<int> g_threads{0};
}

void set_threads(int count) { g_threads = std::max(0, count); }

int threads() {
  static const int available = std::max(1, oneapi::tbb::info::default_concurrency());
  const int chosen = g_threads;
  return chosen > 0 ? chosen : available;
}

int64_t pieces_of(int64_t work, int64_t grain) { return std::clamp<int64_t>(work / grain, 1, threads()); }

void threads_detail::split(int64_t count, int64_t pieces, int64_t unit, void (*body)(void*, int64_t, int64_t),
                           void* context) {
  const int64_t share = (count / pieces + unit - 1) / unit * unit;
  oneapi::tbb::parallel_for(int64_t{0}, pieces, [=](int64_t i) {
    const int64_t first = std::min(count, i * share), last = i + 1 == pieces ? count : std::min(count, (i + 1) * share);
    if (first < last) body(context, first, last);
  });
}

}  // namespace trn
