#pragma once
#include <cstdint>
#include <type_traits>

namespace trn {

// Threads that one large instruction may use. Process-wide; 0, as at the start, means as many as the system gives this
// process. No result depends on it.
void set_threads(int count);
int threads();

namespace threads_detail {
void split(int64_t count, int64_t pieces, int64_t unit, void (*body)(void*, int64_t, int64_t), void* context);
}

// body(first, last) for `pieces` consecutive parts of [0, count), each but the last a multiple of `unit`, at the same
// time where threads are free.
template <class Body>
void split(int64_t count, int64_t pieces, int64_t unit, Body&& body) {
  if (pieces <= 1) return body(int64_t{0}, count);
  using B = std::remove_reference_t<Body>;
  threads_detail::split(
      count, pieces, unit, [](void* b, int64_t first, int64_t last) { (*static_cast<B*>(b))(first, last); },
      const_cast<std::remove_const_t<B>*>(&body));
}

// Parts into which `work` is worth cutting: one per `grain`, at most one per thread.
int64_t pieces_of(int64_t work, int64_t grain);

}  // namespace trn
