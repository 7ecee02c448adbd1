#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace trn {

// Finds arguments that a long Program already holds, so that equal ones are stored once: of the instructions of an
// unrolled loop nine in ten differ from an earlier one in nothing but what they wait for.
//
// It remembers places in `words` by the hash of what stands there, a bounded number of them, and compares before it
// shares. So it may forget, but a place that has been overwritten since is only a place that is not found.
class ArgumentPool {
 public:
  // Below this, nothing is remembered: building the Program of one operator must cost nothing.
  static constexpr size_t kFromWords = 32768;

  ArgumentPool() = default;
  ArgumentPool(const ArgumentPool&) {}  // a copy of the Program starts anew
  ArgumentPool(ArgumentPool&&) noexcept = default;
  ArgumentPool& operator=(const ArgumentPool&) { return *this = ArgumentPool(); }
  ArgumentPool& operator=(ArgumentPool&&) noexcept = default;

  // Where in `words` the arguments stand; appended there if they are new. Throws trn::Error (unsupported) when `words`
  // is longer than an index can say.
  uint32_t place(std::span<const uint64_t> arguments, std::vector<uint64_t>& words) {
    return words.size() < kFromWords ? append(arguments, words) : find_or_append(arguments, words);
  }
  static uint32_t append(std::span<const uint64_t> arguments, std::vector<uint64_t>& words);

 private:
  static constexpr size_t kWays = 8;  // places of one bucket: a cache line
  static constexpr size_t kLeast = 4096, kMost = size_t{1} << 21;
  struct Entry {
    uint32_t hash = 0;
    uint32_t place = UINT32_MAX;
    bool empty() const { return place == UINT32_MAX; }
  };

  uint32_t find_or_append(std::span<const uint64_t> arguments, std::vector<uint64_t>& words);
  std::span<Entry> bucket(uint32_t hash);
  void remember(Entry e);
  void grow();

  std::vector<Entry> entries_;
  size_t used_ = 0;
};

}  // namespace trn
