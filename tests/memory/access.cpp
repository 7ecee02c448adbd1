#include "memory/access.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace trn;

namespace {

Access hbm(std::initializer_list<Dim> dims, int64_t offset = 0, Dtype d = Dtype::float32) {
  Access a{.space = Space::hbm, .dtype = d, .ndim = static_cast<uint8_t>(dims.size()), .offset = offset};
  std::copy(dims.begin(), dims.end(), a.dims.begin());
  return a;
}
Access sbuf(std::initializer_list<Dim> dims, int64_t offset = 0, Dtype d = Dtype::float32) {
  Access a = hbm(dims, offset, d);
  a.space = Space::sbuf;
  return a;
}

// Byte offsets of all elements in order, the slow and obvious way. On chip: of the free dims.
std::vector<int64_t> walk(const Access& a) {
  std::vector<int64_t> out{a.offset};
  for (int i = a.on_chip() ? 1 : 0; i < a.ndim; ++i) {
    std::vector<int64_t> next;
    for (const int64_t base : out)
      for (int k = 0; k < a.dims[i].count; ++k) next.push_back(base + int64_t{a.dims[i].step} * k * size_of(a.dtype));
    out = next;
  }
  return out;
}

struct Random {
  uint32_t state = 7;
  int below(int n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int>((state >> 8) % static_cast<uint32_t>(n));
  }
};

}  // namespace

TEST_CASE("access algebra agrees with a brute-force walk") {
  Random random;
  for (int round = 0; round < 4000; ++round) {
    Access a = random.below(2) ? hbm({}) : sbuf({});
    a.dtype = static_cast<Dtype>(random.below(17));
    a.offset = random.below(1000);
    a.ndim = static_cast<uint8_t>(a.on_chip() ? 1 + random.below(5) : random.below(6));
    int32_t inner = 1;
    for (int i = a.ndim - 1; i >= 0; --i) {
      const int count = 1 + random.below(4);
      // Often the step that continues the inner dims, so that merges happen.
      const int32_t step = random.below(3) ? inner : random.below(9) - 4;
      a.dims[i] = {step, count};
      inner = step * count;
    }
    if (a.on_chip()) a.dims[0] = {random.below(2), 1 + random.below(128)};
    const auto elements = walk(a);
    const auto [least, most] = std::minmax_element(elements.begin(), elements.end());
    const ByteRange range = byte_range(a);
    INFO(to_string(a));
    CHECK(range.begin == *least);
    CHECK(range.end == *most + size_of(a.dtype));
    bool consecutive = true;
    for (size_t i = 1; i < elements.size(); ++i)
      consecutive = consecutive && elements[i] == elements[i - 1] + size_of(a.dtype);
    CHECK(is_contiguous(a) == consecutive);
    const Access s = simplified(a);
    CHECK(walk(s) == elements);
    CHECK(s.partitions() * (a.on_chip() ? 1 : 0) == a.partitions() * (a.on_chip() ? 1 : 0));
    CHECK(s.elements() == a.elements());
    CHECK(simplified(s) == s);
    for (int i = s.on_chip() ? 1 : 0; i < s.ndim; ++i) {
      CHECK(s.dims[i].count != 1);
      if (i > (s.on_chip() ? 1 : 0)) CHECK(s.dims[i - 1].step != s.dims[i].step * s.dims[i].count);
    }
  }
}

TEST_CASE("merging stops before a count overflows") {
  const Access a = hbm({{1 << 20, 1 << 12}, {1, 1 << 20}});
  CHECK(simplified(a).ndim == 2);
  CHECK(simplified(a).elements() == int64_t{1} << 32);
}

TEST_CASE("an access has one spelling") {
  Access a = sbuf({{1, 128}, {1, 512}}, 4096, Dtype::bfloat16);
  CHECK(to_string(a) == "sbuf bfloat16 p0+128 @4096 [1,512]");
  a.partition = 32;
  a.dims[0] = {0, 32};
  CHECK(to_string(a) == "sbuf bfloat16 p32+32/0 @4096 [1,512]");
  Access h = hbm({{512, 128}, {-1, 512}}, 8);
  h.buffer = 3;
  CHECK(to_string(h) == "hbm float32 #3 @8 [512,128][-1,512]");
  CHECK(to_string(Access{}) == "none");
}
