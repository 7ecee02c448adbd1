#pragma once
#include "isa/engine_cost.h"
#include "isa/operands.h"
#include "isa/rules.h"

// What nc_matmul and nc_transpose share.
namespace trn {

namespace rules {
// What the Tensor engine of `s` multiplies.
Verdict matmul_dtypes(Dtype stationary, Dtype moving, const Spec& s);
// A transpose's dst: the data's dtype, or for float8 16 bits whose upper half is 0 (trainium2_arch).
Verdict transposed_dtype(Dtype dst, Dtype data);
// [K, 2, n] operands of float8.
Verdict double_row(const Access& stationary, const Access& moving, const Spec& s);
// The part of the PE array that a [k, m] stationary tile may use.
Verdict array_tile(const RowColumn& position, const RowColumn& size, int64_t k, int64_t m, const Spec& s);
}  // namespace rules

// Row `i` of each pair of a [K, 2, n] operand, as [K, n].
Access row_of_pair(Access a, int i);

// A product with contraction k, m columns of weights and n streamed columns. fp32 is two pairs of LDWEIGHTS and MATMUL;
// a transpose is one pair.
Cost matmul_cost(int64_t k, int64_t m, int64_t n, bool fp32, bool transpose, bool onezero, const Spec& s);

void run_matmul(const Access& dst, const Access& stationary, const Access& moving, bool accumulate,
                const CoreMemory& m);
void run_transpose(const Access& dst, const Access& data, const CoreMemory& m);
// As run_transpose; throws trn::Error(undefined) if `identity` is none.
void run_identity_transpose(const Access& dst, const Access& data, const Access& identity, const CoreMemory& m);

}  // namespace trn
