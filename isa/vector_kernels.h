#pragma once
#include <cstddef>
#include <cstdint>

// Small loops of the selecting and searching cards, vectorised with run-time dispatch.
namespace trn {

// dst[i] = (predicate[i] != 0) != reverse ? src[i * src_step] : dst[i], for elements of `size` bytes (1, 2, 4);
// src_step is 0 or 1.
void choose_elements(int size, std::byte* dst, const std::byte* src, int src_step, const int32_t* predicate,
                     bool reverse, size_t n);

// dst[i] = (predicate[i] != 0) != reverse ? on_true[i] : on_false.
void select_floats(float* dst, const float* on_true, float on_false, const int32_t* predicate, bool reverse, size_t n);

// First index >= from with values[i] > limit (or values[i] NaN), or n.
size_t find_greater(const float* values, size_t from, size_t n, float limit);
// First index >= from with values[i] == wanted (NaN finds NaN), or n.
size_t find_equal(const float* values, size_t from, size_t n, float wanted);

}  // namespace trn
