#include "isa/tile_matmul.h"

#include <catch2/catch.hpp>

#include "isa/matmul_kernel.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

struct Product {
  int k, m, n;
  std::vector<uint16_t> a, b;
  Product(int k, int m, int n) : k(k), m(m), n(n), a(k * (m + 3)), b(k * (n + 5)) {
    Noise noise(k + m + n);
    const auto value = [&] {
      return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(round_bfloat16(noise()))) >> 16);
    };
    for (auto& v : a) v = value();
    for (auto& v : b) v = value();
  }
  static double wide(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }
  double at(int row, int column) const {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += wide(a[i * (m + 3) + row]) * wide(b[i * (n + 5) + column]);
    return sum;
  }
  MatrixView left() const { return {reinterpret_cast<const std::byte*>(a.data()), (m + 3) * 2, 2, Dtype::bfloat16}; }
  MatrixView right() const { return {reinterpret_cast<const std::byte*>(b.data()), (n + 5) * 2, 2, Dtype::bfloat16}; }
};

void compare(decltype(tile_matmul)* f) {
  for (const auto& [k, m, n] :
       {std::array{128, 128, 512}, {1, 1, 1}, {33, 17, 31}, {64, 32, 32}, {127, 40, 100}, {2, 128, 16}, {96, 5, 512}}) {
    const Product p(k, m, n);
    for (const bool accumulate : {false, true}) {
      INFO(k << " x " << m << " x " << n << (accumulate ? " accumulating" : ""));
      const int step = n + 7;  // floats between rows of dst; what lies between stays
      std::vector<float> dst(m * step, 2);
      f(k, m, n, p.left(), p.right(), dst.data(), step * 4, accumulate);
      int wrong = 0;
      for (int r = 0; r < m; ++r)
        for (int c = 0; c < step; ++c) {
          const double want = c >= n ? 2 : p.at(r, c) + (accumulate ? 2 : 0);
          wrong += std::fabs(dst[r * step + c] - want) > (c >= n ? 0 : 1e-5 * k);
        }
      CHECK(wrong == 0);
    }
  }
}

}  // namespace

TEST_CASE("tile products pack, block and cut edges right") { compare(tile_matmul_emulated); }

TEST_CASE("tile products run on the CPU's tiles") {
  if (has_tiles()) compare(tile_matmul);
}

}  // namespace trn::test
