#pragma once
#include <cstddef>
#include <cstdint>

namespace trn {

// Contiguous integers to and from fp32, vectorised with run-time dispatch; the same results as codec.h's element by
// element. No alignment is needed.
void int8_to_float(const std::byte* src, float* dst, size_t n);
void uint8_to_float(const std::byte* src, float* dst, size_t n);
void int16_to_float(const std::byte* src, float* dst, size_t n);
void uint16_to_float(const std::byte* src, float* dst, size_t n);
void int32_to_float(const std::byte* src, float* dst, size_t n);
void boolean_to_float(const std::byte* src, float* dst, size_t n);
void float_to_int8(const float* src, std::byte* dst, size_t n);
void float_to_uint8(const float* src, std::byte* dst, size_t n);
void float_to_int16(const float* src, std::byte* dst, size_t n);
void float_to_uint16(const float* src, std::byte* dst, size_t n);
void float_to_int32(const float* src, std::byte* dst, size_t n);
void float_to_boolean(const float* src, std::byte* dst, size_t n);

}  // namespace trn
