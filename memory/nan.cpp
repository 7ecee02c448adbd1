#include "memory/nan.h"

#include <algorithm>
#include <cstring>

namespace trn {
namespace {

constexpr int64_t kBlock = 256;

// Is there a NaN? Elements whose bits without the sign pass infinity's. No early exit: blocks are what vectorises.
template <class Bits>
bool any_above(const std::byte* at, Bits infinity) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  Bits x[kBlock];
  std::memcpy(x, at, sizeof x);
  unsigned found = 0;
  for (int64_t i = 0; i < kBlock; ++i) found |= (x[i] & kMagnitude) > infinity;
  return found != 0;
}

template <class Bits>
int64_t first_above(const std::byte* elements, int64_t count, Bits infinity) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  int64_t at = 0;
  while (at + kBlock <= count && !any_above(elements + at * kSize, infinity)) at += kBlock;
  for (; at < count; ++at) {
    Bits x;
    std::memcpy(&x, elements + at * kSize, sizeof x);
    if ((x & kMagnitude) > infinity) return at;
  }
  return -1;
}

}  // namespace

int64_t first_nan(Dtype d, const std::byte* elements, int64_t count) {
  switch (d) {
    case Dtype::float32:
    case Dtype::tfloat32: return first_above<uint32_t>(elements, count, 0x7F800000);
    case Dtype::bfloat16: return first_above<uint16_t>(elements, count, 0x7F80);
    case Dtype::float16: return first_above<uint16_t>(elements, count, 0x7C00);
    case Dtype::float64: return first_above<uint64_t>(elements, count, 0x7FF0000000000000);
    default: break;
  }
  float values[kBlock];
  const int size = size_of(d);
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t n = std::min(kBlock, count - at);
    read_as_float(d, elements + at * size, size, values, static_cast<size_t>(n));
    const auto nan = std::find_if(values, values + n, [](float x) { return x != x; });
    if (nan != values + n) return at + (nan - values);
  }
  return -1;
}

}  // namespace trn
