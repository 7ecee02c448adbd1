#pragma once
#include <cstddef>
#include <cstdint>

namespace trn {

// dst[c][r] = src[r][c] for elements of `size` bytes (1, 2, 4, 8). Rows of src and rows of dst are contiguous; steps
// are bytes between rows.
void transpose(int size, int64_t rows, int64_t columns, std::byte* dst, ptrdiff_t dst_step, const std::byte* src,
               ptrdiff_t src_step);

// pairs[i] = first[i] | second[i] << 16; every 16 of them stand `step` pairs behind the 16 before. `n` is a multiple
// of 16.
void interleave(const uint16_t* first, const uint16_t* second, int64_t n, uint32_t* pairs, ptrdiff_t step);

}  // namespace trn
