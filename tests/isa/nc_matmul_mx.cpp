#include "isa/nc_matmul_mx.h"

#include <catch2/catch.hpp>

#include "isa/quantize_mx.h"
#include "tests/isa/machine.h"

namespace trn::test {

namespace {

// Element `e` of a packed word, by the formats' definitions (OCP MX 1.0: e2m1 is 0, 0.5, 1, 1.5, 2, 3, 4, 6).
double packed(Machine& m, const Access& a, int64_t i, int e) {
  const auto word = static_cast<uint32_t>(m.get(a, i));
  if (a.dtype == Dtype::float8_e5m2_x4) return float8(Dtype::float8_e5m2, static_cast<uint8_t>(word >> 8 * e));
  if (a.dtype == Dtype::float8_e4m3fn_x4) return float8(Dtype::float8_e4m3fn, static_cast<uint8_t>(word >> 8 * e));
  const uint32_t bits = word >> 4 * e & 15;
  const int exponent = static_cast<int>(bits >> 1 & 3), mantissa = static_cast<int>(bits & 1);
  const double magnitude = exponent == 0 ? mantissa * 0.5 : std::ldexp(1 + mantissa * 0.5, exponent - 1);
  return bits & 8 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("nc_matmul_mx multiplies scaled float8 by scaled float4") {
  using namespace example;
  Machine m;
  const Access w = sbuf(64, 16, Dtype::float8_e4m3fn_x4), x = sbuf(64, 40, Dtype::float4_e2m1fn_x4, 1024);
  const Access ws = sbuf(36, 16, Dtype::float8_e8m0fnu, 4096), xs = sbuf(36, 40, Dtype::uint8, 8192);
  NcMatmulMx::Args a{.dst = psum(16, 40), .stationary = w, .moving = x, .stationary_scale = ws, .moving_scale = xs};
  REQUIRE_FALSE(NcMatmulMx::check(a, Engine::tensor, trn3()));
  // Small e4m3fn codes: up to 1.875 in eighths and less, so that sums stay exact.
  m.fill(w, [](int64_t i) { return 0x38 + i % 8 + (0x30 + i % 7) * 256.0 + (0xB8 + i % 5) * 65536.0; });
  m.fill(x, [](int64_t i) { return (i * 4099 + 77) % 65536; });
  m.fill(ws, [](int64_t i) { return std::ldexp(1.0, static_cast<int>(i % 4) - 2); });
  m.fill(xs, [](int64_t i) { return 127 + i % 3; });
  for (const bool accumulate : {false, true}) {
    a.accumulate = accumulate;
    m.fill(a.dst, [](int64_t i) { return i; });
    NcMatmulMx::run(a, m.memory());
    for (int r = 0; r < 16; ++r)
      for (int c = 0; c < 40; ++c) {
        double want = accumulate ? r * 40 + c : 0;
        for (int p = 0; p < 64; ++p) {
          const int row = p / 32 * 32 + p % 32 / 8;
          const double scale =
              m.get(ws, row * 16 + r) * std::ldexp(1.0, static_cast<int>(m.get(xs, row * 40 + c)) - 127);
          for (int e = 0; e < 4; ++e) want += scale * packed(m, w, p * 16 + r, e) * packed(m, x, p * 40 + c, e);
        }
        REQUIRE(m.get(a.dst, r * 40 + c) == Approx(want).epsilon(1e-6).margin(1e-6));
      }
  }
}

TEST_CASE("quantize_mx scales each group by the documented power of two") {
  using namespace example;
  for (const Dtype to : {Dtype::float8_e4m3fn_x4, Dtype::float8_e5m2_x4}) {
    INFO(name(to));
    Machine m;
    const Access x = sbuf(64, 24, Dtype::bfloat16), out = sbuf(64, 6, to, 512),
                 scale = sbuf(36, 6, Dtype::float8_e8m0fnu, 1024);
    REQUIRE_FALSE(QuantizeMx::check({out, x, scale}, Engine::vector, trn3()));
    m.fill(x, [n = Noise(9)](int64_t i) mutable {
      return i / 24 < 8 && i % 24 < 4 ? 0.0 : round_bfloat16(n() * std::ldexp(1.0, static_cast<int>(i % 40) - 20));
    });
    QuantizeMx::run({out, x, scale}, m.memory());
    const int largest_exponent = to == Dtype::float8_e5m2_x4 ? 15 : 8;
    for (int group = 0; group < 8; ++group)
      for (int column = 0; column < 6; ++column) {
        double most = 0;
        for (int p = group * 8; p < group * 8 + 8; ++p)
          for (int e = 0; e < 4; ++e) most = std::max(most, std::fabs(m.get(x, p * 24 + column * 4 + e)));
        const double want =
            most == 0 ? std::ldexp(1.0, -127) : std::exp2(std::floor(std::log2(most)) - (largest_exponent - 1));
        const int row = group / 4 * 32 + group % 4;
        REQUIRE(m.get(scale, row * 6 + column) == want);
        for (int p = group * 8; p < group * 8 + 8; ++p)
          for (int e = 0; e < 4; ++e) {
            const double v = m.get(x, p * 24 + column * 4 + e), got = packed(m, out, p * 6 + column, e) * want;
            // Half a step of a 3- (2-) bit mantissa, or of the smallest subnormal.
            const double step = std::max(std::fabs(v) * (largest_exponent == 8 ? 1.0 / 16 : 1.0 / 8),
                                         want * std::ldexp(1.0, largest_exponent == 8 ? -10 : -17));
            REQUIRE(std::fabs(got - v) <= step);
          }
      }
  }
}

}  // namespace trn::test
