#pragma once
#include "isa/card.h"

// OCP microscaling formats as the engines of NeuronCore-v4 hold them (trainium3_arch): four packed elements a word, and
// one scale for a group of 8 partitions x 4 packed elements. The scales of 32 partitions stand in the first 4 of those
// partitions' quadrant: row p of the data has its scales in row 32 (p / 32) + (p mod 32) / 8.
namespace trn {

namespace rules {
// A data tile of [P, n] packed words, P a multiple of 32, and its scales.
Verdict mx_pair(std::string_view field, const Access& data, std::string_view scale_field, const Access& scale,
                const Spec& s, bool read);
}  // namespace rules

// Element `i` (0 to 3) of a packed word: the lowest bits are element 0 (assumed).
float packed_value(Dtype packed, uint32_t word, int i);

// dst (+)= stationary.T @ moving over 4 P elements, each times its scale; k rises over partitions, and in each over the
// word.
struct MxOperand {
  const Access& data;
  const Access& scale;
};
void run_matmul_mx(const Access& dst, const MxOperand& stationary, const MxOperand& moving, bool accumulate,
                   const CoreMemory& m);

// Scale of a group: 2^(floor(log2 max|v|) - (largest exponent - 1)); elements v / scale, rounded and saturated.
void run_quantize(const Access& dst, const Access& src, const Access& dst_scale, const CoreMemory& m);

}  // namespace trn
