#pragma once
#include "isa/engine_cost.h"
#include "isa/rules.h"

// What nc_matmul and nc_transpose share.
namespace trn {

namespace rules {
Verdict matmul_dtype(std::string_view field, Dtype d);
}

// A product with contraction k, m columns of weights and n streamed columns. fp32 is two pairs of LDWEIGHTS and MATMUL;
// a transpose is one pair.
Cost matmul_cost(int64_t k, int64_t m, int64_t n, bool fp32, bool transpose, bool onezero, const Spec& s);

void run_matmul(const Access& dst, const Access& stationary, const Access& moving, bool accumulate,
                const CoreMemory& m);
void run_transpose(const Access& dst, const Access& data, const CoreMemory& m);
// As run_transpose; throws trn::Error(undefined) if `identity` is none.
void run_identity_transpose(const Access& dst, const Access& data, const Access& identity, const CoreMemory& m);

}  // namespace trn
