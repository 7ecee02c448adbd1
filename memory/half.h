#pragma once
#include <cstddef>
#include <cstdint>

namespace trn {

// Contiguous 16-bit floats to and from fp32, vectorised with run-time dispatch. Round to nearest even, subnormals kept,
// NaN stays a (quiet) NaN with its leading payload bits. No alignment is needed.
void bfloat16_to_float(const uint16_t* src, float* dst, size_t n);
void float_to_bfloat16(const float* src, uint16_t* dst, size_t n);
void float16_to_float(const uint16_t* src, float* dst, size_t n);
void float_to_float16(const float* src, uint16_t* dst, size_t n);

}  // namespace trn
