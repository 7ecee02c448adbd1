#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trn {

// Element types of the engines and memories, named as in nki.language. fp64, int64 and uint64 are storage only: a value
// read from them is rounded to fp32 or wrapped to 32 bits, as the device does. The last five are Trainium3's: OCP
// float8, its scale, and four packed elements, which only nc_matmul_mx and quantize_mx look into. A dtype's number is
// its place; append, so that older executables load.
enum class Dtype : uint8_t {
  float8_e3m4,
  float8_e4m3,
  float8_e5m2,
  bfloat16,
  float16,
  tfloat32,
  float32,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,
  float8_e4m3fn,
  float8_e8m0fnu,
  float8_e5m2_x4,
  float8_e4m3fn_x4,
  float4_e2m1fn_x4
};

enum class Kind : uint8_t { floating, integer, boolean, packed };

struct DtypeInfo {
  std::string_view name;  // nki.language / PyTorch spelling
  uint8_t size;           // bytes
  Kind kind;
  bool is_signed;
  uint8_t nrt_code;  // NRT_DTYPE_* of nrt.h; 0 = none
};

inline constexpr std::array<DtypeInfo, 22> kDtypes = {{
    {"float8_e3m4", 1, Kind::floating, true, 0xD},
    {"float8_e4m3", 1, Kind::floating, true, 0xE},
    {"float8_e5m2", 1, Kind::floating, true, 0xF},
    {"bfloat16", 2, Kind::floating, true, 0x6},
    {"float16", 2, Kind::floating, true, 0x7},
    {"tfloat32", 4, Kind::floating, true, 0xB},
    {"float32", 4, Kind::floating, true, 0xA},
    {"float64", 8, Kind::floating, true, 0},
    {"int8", 1, Kind::integer, true, 0x2},
    {"uint8", 1, Kind::integer, false, 0x3},
    {"int16", 2, Kind::integer, true, 0x4},
    {"uint16", 2, Kind::integer, false, 0x5},
    {"int32", 4, Kind::integer, true, 0x8},
    {"uint32", 4, Kind::integer, false, 0x9},
    {"int64", 8, Kind::integer, true, 0xC},
    {"uint64", 8, Kind::integer, false, 0x1},
    {"bool", 1, Kind::boolean, false, 0},
    {"float8_e4m3fn", 1, Kind::floating, true, 0},
    {"float8_e8m0fnu", 1, Kind::floating, false, 0},
    {"float8_e5m2_x4", 4, Kind::packed, true, 0},
    {"float8_e4m3fn_x4", 4, Kind::packed, true, 0},
    {"float4_e2m1fn_x4", 2, Kind::packed, true, 0},
}};

constexpr const DtypeInfo& info(Dtype d) { return kDtypes[static_cast<size_t>(d)]; }
constexpr std::string_view name(Dtype d) { return info(d).name; }
constexpr int size_of(Dtype d) { return info(d).size; }
constexpr bool is_float(Dtype d) { return info(d).kind == Kind::floating; }
constexpr bool is_packed(Dtype d) { return info(d).kind == Kind::packed; }
constexpr bool is_integer(Dtype d) { return info(d).kind == Kind::integer; }
constexpr std::optional<Dtype> dtype_named(std::string_view text) {
  for (size_t i = 0; i < kDtypes.size(); ++i)
    if (kDtypes[i].name == text) return static_cast<Dtype>(i);
  return std::nullopt;
}

// Exact conversions of `count` elements that stand `stride` bytes apart. Reading widens to fp32 (64-bit storage rounds
// to nearest even); writing rounds to nearest even. float -> integer rounds to nearest even and saturates, NaN becomes
// 0 (NKI 0.6 rule); float8 saturates to the largest finite value except float8_e5m2, which has infinities. Integers
// widen and wrap as two's complement. Packed dtypes have no values: they must not be converted.
void read_as_float(Dtype from, const std::byte* src, ptrdiff_t stride, float* dst, size_t count);
void read_as_int(Dtype from, const std::byte* src, ptrdiff_t stride, int32_t* dst, size_t count);
void write_float(Dtype to, std::byte* dst, ptrdiff_t stride, const float* src, size_t count);
void write_int(Dtype to, std::byte* dst, ptrdiff_t stride, const int32_t* src, size_t count);

// A cast from memory to memory. Same dtype: the bits. Integers and bool among themselves: exact, wrapping to the
// target's width. All else goes through fp32. Source and destination must not overlap, unless they are the same place
// and the sizes are equal.
void convert(Dtype from, const std::byte* src, ptrdiff_t src_stride, Dtype to, std::byte* dst, ptrdiff_t dst_stride,
             size_t count);

}  // namespace trn
