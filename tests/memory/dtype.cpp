#include "memory/dtype.h"

#include <hwy/targets.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <vector>

using namespace trn;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Format {
  Dtype dtype;
  int exponent_bits, mantissa_bits;
  bool saturates;
};
constexpr Format kFormats[] = {{Dtype::float8_e3m4, 3, 4, true},
                               {Dtype::float8_e4m3, 4, 3, true},
                               {Dtype::float8_e5m2, 5, 2, false},
                               {Dtype::bfloat16, 8, 7, false},
                               {Dtype::float16, 5, 10, false}};

// The value of a code by the textbook formula.
double value_of(const Format& f, uint32_t code) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(code >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = static_cast<int>(code) & ((1 << f.mantissa_bits) - 1);
  const double sign = code >> (f.exponent_bits + f.mantissa_bits) & 1 ? -1 : 1;
  if (exponent == (1 << f.exponent_bits) - 1)
    return mantissa ? static_cast<double>(kNan) : sign * static_cast<double>(kInf);
  const double fraction = std::ldexp(mantissa, -f.mantissa_bits);
  return exponent ? sign * std::ldexp(1 + fraction, exponent - bias) : sign * std::ldexp(fraction, 1 - bias);
}

float read_one(Dtype d, uint64_t code) {
  float r = 0;
  read_as_float(d, reinterpret_cast<const std::byte*>(&code), size_of(d), &r, 1);
  return r;
}
uint32_t write_one(Dtype d, float v) {
  uint64_t code = 0;
  write_float(d, reinterpret_cast<std::byte*>(&code), size_of(d), &v, 1);
  return static_cast<uint32_t>(code);
}

// Nearest code by search among the non-negative finite ones, ties to the even code: an independent definition of the
// rounding.
uint32_t nearest_code(const Format& f, float v) {
  const uint32_t sign_bit = 1u << (f.exponent_bits + f.mantissa_bits);
  const uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  const double a = std::fabs(static_cast<double>(v));
  const uint32_t sign = std::signbit(v) ? sign_bit : 0;
  const double largest = value_of(f, infinity - 1), step = largest - value_of(f, infinity - 2);
  if (a >= largest + step / 2) return sign | (f.saturates ? infinity - 1 : infinity);
  uint32_t low = 0, high = infinity - 1;
  while (low < high) {  // the largest code whose value is <= a
    const uint32_t middle = (low + high + 1) / 2;
    if (value_of(f, middle) <= a)
      low = middle;
    else
      high = middle - 1;
  }
  if (low == infinity - 1) return sign | low;
  const double down = a - value_of(f, low), up = value_of(f, low + 1) - a;
  return sign | (up < down || (up == down && low % 2 == 1) ? low + 1 : low);
}

std::vector<float> probes() {
  std::vector<float> v = {0,   -0.0f, kInf,   -kInf, 1e-45f, -1e-45f, 3e38f, 65504,  65519.99f, 65520,
                          240, 248,   247.9f, 57344, 61440,  61439,   15.5f, 15.75f, 15.74f};
  uint32_t x = 12345;
  for (int i = 0; i < 60000; ++i) {
    x = x * 1664525u + 1013904223u;
    const float f = std::bit_cast<float>(x);
    if (f == f) v.push_back(f);
    v.push_back(std::ldexp(static_cast<float>(x % 4096),
                           static_cast<int>(x >> 27) - 28));  // near the small formats, with many ties
  }
  return v;
}

}  // namespace

TEST_CASE("every code of the narrow floats reads as its formula says") {
  for (const Format& f : kFormats) {
    INFO(name(f.dtype));
    size_t wrong = 0;
    for (uint32_t code = 0; code < 1u << (8 * size_of(f.dtype)); ++code) {
      const auto want = static_cast<float>(value_of(f, code));
      const float got = read_one(f.dtype, code);
      wrong += std::isnan(want) ? !std::isnan(got) : std::bit_cast<uint32_t>(want) != std::bit_cast<uint32_t>(got);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("narrow floats round to the nearest code, ties to even") {
  const auto values = probes();
  for (const Format& f : kFormats) {
    INFO(name(f.dtype));
    size_t wrong = 0;
    for (const float v : values) wrong += write_one(f.dtype, v) != nearest_code(f, v);
    CHECK(wrong == 0);
    CHECK(std::isnan(read_one(f.dtype, write_one(f.dtype, kNan))));
  }
}

TEST_CASE("writing what was read gives the code back") {
  for (const Format& f : kFormats) {
    INFO(name(f.dtype));
    size_t wrong = 0;
    for (uint32_t code = 0; code < 1u << (8 * size_of(f.dtype)); ++code) {
      const float v = read_one(f.dtype, code);
      if (std::isnan(v) || (std::isinf(v) && f.saturates)) continue;
      wrong += write_one(f.dtype, v) != code;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("bulk conversions of 16-bit floats are the same for every CPU, length and stride") {
  std::vector<uint16_t> codes(65536);
  for (uint32_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
  const auto* bytes = reinterpret_cast<const std::byte*>(codes.data());
  const auto values = probes();
  const int64_t widest = hwy::SupportedTargets();
  for (const Dtype d : {Dtype::bfloat16, Dtype::float16})
    for (const int64_t targets : {widest, int64_t{HWY_STATIC_TARGET}}) {
      hwy::GetChosenTarget().Update(targets);
      INFO(name(d) << " targets " << targets);
      std::vector<float> bulk(codes.size()), strided(codes.size() / 3);
      read_as_float(d, bytes, 2, bulk.data(), bulk.size());
      read_as_float(d, bytes, 6, strided.data(), strided.size());
      size_t wrong = 0;
      for (size_t i = 0; i < codes.size(); ++i) {
        const float one = read_one(d, codes[i]);
        wrong += std::bit_cast<uint32_t>(one) != std::bit_cast<uint32_t>(bulk[i]);
        if (i % 3 == 0 && i / 3 < strided.size())
          wrong += std::bit_cast<uint32_t>(one) != std::bit_cast<uint32_t>(strided[i / 3]);
      }
      std::vector<uint16_t> written(values.size()), spread(values.size() * 2);
      write_float(d, reinterpret_cast<std::byte*>(written.data()), 2, values.data(), values.size());
      write_float(d, reinterpret_cast<std::byte*>(spread.data()), 4, values.data(), values.size());
      for (size_t i = 0; i < values.size(); ++i)
        wrong += written[i] != write_one(d, values[i]) || spread[2 * i] != written[i];
      CHECK(wrong == 0);
    }
  hwy::GetChosenTarget().Update(widest);
}

TEST_CASE("tfloat32 keeps ten mantissa bits") {
  const auto round = [](float v) { return std::bit_cast<float>(write_one(Dtype::tfloat32, v)); };
  CHECK(round(1) == 1);
  CHECK(round(1 + 0x1p-11f) == 1);
  CHECK(round(1 + 0x1p-10f) == 1 + 0x1p-10f);
  CHECK(round(1 + 0x1.8p-10f) == 1 + 0x1p-9f);
  CHECK(round(kInf) == kInf);
  CHECK(std::isnan(round(kNan)));
}

TEST_CASE("floats become integers by rounding to even and saturating; NaN becomes 0") {
  const auto as = [](Dtype d, float v) {
    int64_t code = 0;
    write_float(d, reinterpret_cast<std::byte*>(&code), size_of(d), &v, 1);
    return code;
  };
  CHECK(as(Dtype::uint8, 2.5f) == 2);
  CHECK(as(Dtype::uint8, 3.5f) == 4);
  CHECK(as(Dtype::uint8, -1) == 0);
  CHECK(as(Dtype::uint8, 300) == 255);
  CHECK(static_cast<int8_t>(as(Dtype::int8, -200)) == -128);
  CHECK(static_cast<int32_t>(as(Dtype::int32, 3e9f)) == INT32_MAX);
  CHECK(static_cast<int32_t>(as(Dtype::int32, -3e9f)) == INT32_MIN);
  CHECK(static_cast<uint32_t>(as(Dtype::uint32, 4e9f)) == 4000000000u);
  CHECK(as(Dtype::int64, 3e9f) == 3000000000);
  CHECK(as(Dtype::int64, kInf) == INT64_MAX);
  CHECK(as(Dtype::int32, kNan) == 0);
  CHECK(as(Dtype::boolean, 0.25f) == 1);
  CHECK(as(Dtype::boolean, -0.0f) == 0);
  CHECK(as(Dtype::boolean, kNan) == 1);
}

TEST_CASE("OCP's float8 and its scale follow their definitions") {
  // e4m3fn: bias 7, no infinity, S.1111.111 is NaN.
  std::vector<double> finite;
  for (int code = 0; code < 256; ++code) {
    const int e = code >> 3 & 15, m = code & 7;
    const double magnitude = e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, e - 10);
    const float got = read_one(Dtype::float8_e4m3fn, static_cast<uint64_t>(code));
    if ((code & 127) == 127) {
      CHECK(got != got);
      continue;
    }
    CHECK(got == (code & 128 ? -magnitude : magnitude));
    CHECK(write_one(Dtype::float8_e4m3fn, got) == static_cast<uint64_t>(code));
    if (code < 128) finite.push_back(magnitude);
  }
  for (size_t i = 0; i + 1 < finite.size(); ++i) {  // ties to the even code, everything else to the nearest
    const double middle = (finite[i] + finite[i + 1]) / 2;
    CHECK(write_one(Dtype::float8_e4m3fn, static_cast<float>(middle)) == (i % 2 ? i + 1 : i));
    CHECK(write_one(Dtype::float8_e4m3fn, std::nextafter(static_cast<float>(middle), 0.0f)) == i);
    CHECK(write_one(Dtype::float8_e4m3fn, std::nextafter(static_cast<float>(middle), 1e9f)) == i + 1);
  }
  CHECK(write_one(Dtype::float8_e4m3fn, 1e9f) == 0x7E);
  CHECK(write_one(Dtype::float8_e4m3fn, -kInf) == 0xFE);
  CHECK(write_one(Dtype::float8_e4m3fn, kNan) == 0x7F);
  for (int code = 0; code < 255; ++code) {
    const float scale = static_cast<float>(std::ldexp(1.0, code - 127));
    CHECK(read_one(Dtype::float8_e8m0fnu, static_cast<uint64_t>(code)) == scale);
    CHECK(write_one(Dtype::float8_e8m0fnu, scale) == static_cast<uint64_t>(code));
    if (code > 0) CHECK(write_one(Dtype::float8_e8m0fnu, scale * 1.25f) == static_cast<uint64_t>(code));
  }
  CHECK(write_one(Dtype::float8_e8m0fnu, kNan) == 0xFF);
  CHECK(write_one(Dtype::float8_e8m0fnu, -1) == 0xFF);
}

TEST_CASE("bulk conversions of integers are the same for every CPU and stride") {
  auto values = probes();
  for (const float f : {0.5f, 1.5f, 2.5f, -0.5f, 127.5f, 128.5f, -128.5f, 255.5f, 32767.5f, 65535.5f, 2147483520.0f,
                        2147483648.0f, -2147483648.0f, kNan})
    values.push_back(f);
  const int64_t widest = hwy::SupportedTargets();
  for (const Dtype d : {Dtype::int8, Dtype::uint8, Dtype::int16, Dtype::uint16, Dtype::int32, Dtype::boolean})
    for (const int64_t targets : {widest, int64_t{HWY_STATIC_TARGET}}) {
      hwy::GetChosenTarget().Update(targets);
      INFO(name(d) << " targets " << targets);
      const auto size = static_cast<size_t>(size_of(d));
      std::vector<std::byte> packed(values.size() * size), spread(values.size() * 8);
      write_float(d, packed.data(), size_of(d), values.data(), values.size());
      write_float(d, spread.data(), 8, values.data(), values.size());
      std::vector<float> a(values.size()), b(values.size());
      // Every bit pattern, not only those that writing gives.
      for (size_t i = 0; i < packed.size() / 2; ++i) packed[i] = static_cast<std::byte>(i * 37 + i / 256);
      for (size_t i = 0; i < values.size() / 2; ++i) std::memcpy(&spread[8 * i], &packed[size * i], size);
      read_as_float(d, packed.data(), size_of(d), a.data(), a.size());
      read_as_float(d, spread.data(), 8, b.data(), b.size());
      size_t wrong = 0;
      for (size_t i = 0; i < values.size(); ++i)
        wrong += a[i] != b[i] || std::memcmp(&packed[size * i], &spread[8 * i], size) != 0;
      CHECK(wrong == 0);
    }
  hwy::GetChosenTarget().Update(widest);
}

TEST_CASE("integers read as floats and as 32-bit integers") {
  const auto to_int = [](Dtype d, uint64_t code) {
    int32_t r = 0;
    read_as_int(d, reinterpret_cast<const std::byte*>(&code), size_of(d), &r, 1);
    return r;
  };
  CHECK(read_one(Dtype::int8, 0xFF) == -1);
  CHECK(read_one(Dtype::uint8, 0xFF) == 255);
  CHECK(read_one(Dtype::uint32, 0xFFFFFFFF) == 4294967296.0f);
  CHECK(read_one(Dtype::int32, 16777217) == 16777216);
  CHECK(read_one(Dtype::int64, static_cast<uint64_t>(int64_t{-5000000000})) == -5e9f);
  CHECK(read_one(Dtype::uint64, ~uint64_t{0}) == 0x1p64f);
  CHECK(read_one(Dtype::float64, std::bit_cast<uint64_t>(1.0 + 0x1p-25)) == 1);
  CHECK(read_one(Dtype::boolean, 7) == 1);
  CHECK(to_int(Dtype::int8, 0x80) == -128);
  CHECK(to_int(Dtype::uint16, 0xFFFF) == 65535);
  CHECK(to_int(Dtype::int64, 0x1'0000'0005) == 5);
  CHECK(to_int(Dtype::float32, std::bit_cast<uint32_t>(-2.5f)) == -2);
  CHECK(to_int(Dtype::boolean, 2) == 1);
}

TEST_CASE("integers are written wrapped or widened") {
  const auto as = [](Dtype d, int32_t v) {
    int64_t code = 0;
    write_int(d, reinterpret_cast<std::byte*>(&code), size_of(d), &v, 1);
    return code;
  };
  CHECK(as(Dtype::uint8, 257) == 1);
  CHECK(as(Dtype::int64, -3) == -3);
  CHECK(as(Dtype::boolean, 256) == 1);
  CHECK(std::bit_cast<float>(static_cast<uint32_t>(as(Dtype::float32, 16777217))) == 16777216);
}

TEST_CASE("convert keeps bits, then integers, then goes through fp32") {
  const int64_t wide[] = {-1, int64_t{1} << 40, 300};
  int64_t copy[3] = {};
  const auto* from = reinterpret_cast<const std::byte*>(wide);
  convert(Dtype::int64, from, 8, Dtype::int64, reinterpret_cast<std::byte*>(copy), 8, 3);
  CHECK(std::memcmp(wide, copy, sizeof wide) == 0);
  uint8_t narrow[3];
  convert(Dtype::int64, from, 8, Dtype::uint8, reinterpret_cast<std::byte*>(narrow), 1, 3);
  CHECK((narrow[0] == 255 && narrow[1] == 0 && narrow[2] == 44));
  uint32_t u = 0xFFFFFFFF;
  convert(Dtype::uint32, reinterpret_cast<const std::byte*>(&u), 4, Dtype::int64, reinterpret_cast<std::byte*>(copy), 8,
          1);
  CHECK(copy[0] == 4294967295);
  const float f[] = {1.5f, -2.5f, 1e9f};
  int8_t saturated[3];
  convert(Dtype::float32, reinterpret_cast<const std::byte*>(f), 4, Dtype::int8,
          reinterpret_cast<std::byte*>(saturated), 1, 3);
  CHECK((saturated[0] == 2 && saturated[1] == -2 && saturated[2] == 127));
  std::vector<uint16_t> halves(1000);
  std::vector<uint32_t> pattern(1000), back(2000);
  for (uint32_t i = 0; i < 1000; ++i) pattern[i] = std::bit_cast<uint32_t>(static_cast<float>(i));
  convert(Dtype::float32, reinterpret_cast<const std::byte*>(pattern.data()), 4, Dtype::float16,
          reinterpret_cast<std::byte*>(halves.data()), 2, 1000);
  convert(Dtype::float16, reinterpret_cast<const std::byte*>(halves.data()), 2, Dtype::float32,
          reinterpret_cast<std::byte*>(back.data()), 8, 1000);
  size_t wrong = 0;
  for (size_t i = 0; i < 1000; ++i) wrong += back[2 * i] != pattern[i];
  CHECK(wrong == 0);
}

TEST_CASE("the dtype table leads back from names") {
  for (size_t i = 0; i < kDtypes.size(); ++i) CHECK(dtype_named(kDtypes[i].name) == static_cast<Dtype>(i));
  CHECK_FALSE(dtype_named("float7"));
}
