#pragma once
#include "isa/activation_functions.h"
#include "isa/card.h"

// Time of the elementwise instructions, from the laws of trn2.md sections 3, 10 and 11: duration = cycles per element *
// elements + a latency; interval = the same + an overhead. Every number is a field of Spec.
namespace trn::engine_cost {

// True when the innermost step of the simplified free pattern is one element.
bool is_unit_stride(const Access& a);

// One input: tensor_copy, tensor_scalar, memset on Vector, with the 2x and 4x modes.
double vector_cycles(const Access& dst, const Access& src, const Spec& s);
// Two inputs.
double vector_cycles(const Access& dst, const Access& data1, const Access& data2, const Spec& s);

Cost vector(double cycles, double latency_ns, double overhead_ns, const Spec& s);
Cost vector(double cycles, double latency_ns, double overhead_ns, double fresh_ns, const Spec& s);
Cost copy_on_vector(const Access& dst, const Access& src, const Spec& s);
Cost copy_on_scalar(const Access& dst, const Access& src, const Spec& s);
// multiply and add alone need no table. Reading the accumulators out is another short instruction (nki.isa.activation:
// "a small overhead").
Cost activation(const Access& dst, const Access& data, Activation fn, bool reads_sums, const Spec& s);
Cost gpsimd(double elements, const Spec& s);

// What a DMA between two accesses moves: chunks are contiguous on both sides.
Transfer transfer(const Access& dst, const Access& src, bool software);
Cost dma(const Transfer& t);

}  // namespace trn::engine_cost
