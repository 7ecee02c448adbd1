#include "memory/nan.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <vector>

using namespace trn;

namespace {

template <class T>
void check_bits(Dtype d, std::vector<T> nans, std::vector<T> numbers) {
  for (const int64_t count : {1, 255, 256, 257, 1000}) {
    std::vector<T> x(static_cast<size_t>(count));
    for (size_t i = 0; i < x.size(); ++i) x[i] = numbers[i % numbers.size()];
    const auto found = [&] { return first_nan(d, reinterpret_cast<const std::byte*>(x.data()), count); };
    CHECK(found() == -1);
    for (const T nan : nans)
      for (const int64_t at : {int64_t{0}, count / 2, count - 1}) {
        const T number = std::exchange(x[static_cast<size_t>(at)], nan);
        CHECK(found() == at);
        x[static_cast<size_t>(at)] = number;
      }
  }
}

}  // namespace

TEST_CASE("the first NaN is found in every float dtype") {
  check_bits<uint32_t>(Dtype::float32, {0x7F800001, 0xFFFFFFFF, 0x7FC00000},
                       {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7F7FFFFF});
  check_bits<uint16_t>(Dtype::bfloat16, {0x7F81, 0xFFFF}, {0, 0x8000, 0x7F80, 0xFF80, 0x3F80});
  check_bits<uint16_t>(Dtype::float16, {0x7C01, 0xFFFF}, {0, 0x8000, 0x7C00, 0xFC00, 0x7BFF});
  check_bits<uint64_t>(Dtype::float64, {0x7FF0000000000001, ~uint64_t{0}}, {0, 0x7FF0000000000000, 0xFFF0000000000000});
  check_bits<uint8_t>(Dtype::float8_e5m2, {0x7D, 0x7F, 0xFF}, {0, 0x80, 0x7C, 0xFC, 0x3C});
}
