#include "isa/alu.h"

namespace trn {

namespace {

template <bool kReverse, class F>
auto swapped(F f) {
  return [f](float a, float b) { return kReverse ? f(b, a) : f(a, b); };
}

// Calls use(f) with an inlined form of the operators that scans are made of, or with the table's function.
template <class Use>
void with_operator(AluOp op, bool reverse, Use use) {
  switch (op) {
    case AluOp::add: return use([](float a, float b) { return a + b; });
    case AluOp::multiply: return use([](float a, float b) { return a * b; });
    case AluOp::maximum:
      return reverse ? use(swapped<true>(info(AluOp::maximum).on_float))
                     : use([](float a, float b) { return a != a || a > b ? a : b; });
    case AluOp::minimum:
      return reverse ? use(swapped<true>(info(AluOp::minimum).on_float))
                     : use([](float a, float b) { return a != a || a < b ? a : b; });
    default: return reverse ? use(swapped<true>(info(op).on_float)) : use(swapped<false>(info(op).on_float));
  }
}

}  // namespace

void scan_float(const ScanOps& ops, float* dst, const float* data0, const float* data1, float initial, size_t n) {
  with_operator(ops.op0, ops.reverse0, [&](auto f0) {
    with_operator(ops.op1, ops.reverse1, [&](auto f1) {
      float r = initial;
      for (size_t i = 0; i < n; ++i) dst[i] = r = f1(f0(data0[i], r), data1[i]);
    });
  });
}

}  // namespace trn
