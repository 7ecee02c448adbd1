#pragma once
#include "isa/accumulate.h"
#include "isa/activation_functions.h"
#include "isa/operands.h"

// What the elementwise and reducing cards compute. Arithmetic is fp32, rounded once on the write. Integers take an
// exact 32-bit path when every input is an integer, the operator has an integer form, and the result is an integer or a
// truth value; the hardware does so on GpSimd (nki.isa.tensor_tensor), here every engine does.
namespace trn {

// One operator of tensor_scalar: value `op` operand, or operand `op` value when reversed.
struct ScalarStep {
  AluOp op = AluOp::bypass;
  Operand operand{};
  bool reverse = false;
};

// activation's scale and bias; a neutral one is no step.
inline ScalarStep multiply_by(const Operand& scale) {
  return {scale.is_tile() || scale.immediate != 1 ? AluOp::multiply : AluOp::bypass, scale, false};
}
inline ScalarStep add_to(const Operand& bias) {
  return {bias.is_tile() || bias.immediate != 0 ? AluOp::add : AluOp::bypass, bias, false};
}

void run_cast(const Access& dst, const Access& src, const CoreMemory& m);
void run_fill(const Access& dst, double value, const CoreMemory& m);
void run_tensor_tensor(const Access& dst, const Access& data1, const Access& data2, AluOp op, const CoreMemory& m);
void run_tensor_scalar(const Access& dst, const Access& data, const ScalarStep& first, const ScalarStep& second,
                       const CoreMemory& m);
void run_scalar_tensor_tensor(const Access& dst, const Access& data, const ScalarStep& first, AluOp op1,
                              const Access& operand1, bool reverse1, const CoreMemory& m);

// dst = fn((data first) second); fp32 results are accumulated before they are rounded to dst's dtype. `slope` is
// prelu's.
void run_activation(const Access& dst, Activation fn, const Access& data, const ScalarStep& first,
                    const ScalarStep& second, const Operand& slope, const Accumulation& sums,
                    EngineState::Registers* registers, const CoreMemory& m);

// Groups of data.free_elements() / dst.free_elements() consecutive elements, each reduced to one.
void run_reduce(const Access& dst, AluOp op, const Access& data, bool negate, const CoreMemory& m);
void run_scan(const Access& dst, const Access& data0, const Access& data1, const Operand& initial, const ScanOps& ops,
              const CoreMemory& m);

// dst = data op operand in fp32; the results are accumulated in Vector's registers.
void run_tensor_scalar_reduce(const Access& dst, const Access& data, const ScalarStep& step, const Accumulation& sums,
                              const CoreMemory& m);
// dst[i] = (src[i] op operand) sums.op dst[i-1] in fp32, dst[-1] being what sums.cmd leaves in Vector's register, which
// gets dst's last value.
void run_cumulative(const Access& dst, const Access& src, const ScalarStep& step, const Accumulation& sums,
                    const CoreMemory& m);

EngineState::Registers* vector_registers(const CoreMemory& m);
EngineState::Registers* scalar_registers(const CoreMemory& m);

// True where instructions over these dtypes take the integer path.
bool is_exact_integer(AluOp op, Dtype dst, std::initializer_list<Dtype> inputs);
constexpr bool gives_truth(AluOp op) { return op >= AluOp::equal && op <= AluOp::logical_xor; }

}  // namespace trn
