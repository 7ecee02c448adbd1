#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

Operand operand(const Term& x) { return {.tile = x.access, .immediate = x.immediate}; }

// Room for one intermediate result of an instruction that writes `dst`.
Tile like(TileBuilder& t, const Access& dst, Dtype dtype) {
  std::vector<int64_t> free;
  for (int i = 1; i < dst.ndim; ++i) free.push_back(dst.dims[i].count);
  return t.sbuf(static_cast<int>(dst.partitions()), dtype, free);
}

Engine engine_for(AluOp op) { return info(op).engines.has(Engine::vector) ? Engine::vector : Engine::gpsimd; }

}  // namespace

void scalar_steps(TileBuilder& t, const Access& dst, const Access& data, const ScalarTerm& first,
                  const ScalarTerm& second) {
  TensorScalar::Args a;
  a.dst = dst;
  a.data = data;
  a.op0 = first.op;
  a.operand0 = operand(first.operand);
  a.reverse0 = first.reverse;
  a.op1 = second.op;
  a.operand1 = operand(second.operand);
  a.reverse1 = second.reverse;
  t.emit<TensorScalar>(engine_for(first.op), a);
}

void tensor_step(TileBuilder& t, const Access& dst, const Access& data, const ScalarTerm& first, AluOp op,
                 const Access& other, bool reverse) {
  if (!first.present()) {
    TensorTensor::Args a;
    a.dst = dst;
    a.data1 = reverse ? other : data;
    a.data2 = reverse ? data : other;
    a.op = op;
    t.emit<TensorTensor>(engine_for(op), a);
    return;
  }
  if (info(first.op).is_bitvec || info(op).is_bitvec) {  // scalar_tensor_tensor is arithmetic
    const Tile between = like(t, dst, data.dtype);
    scalar_steps(t, between, data, first);
    tensor_step(t, dst, between, {}, op, other, reverse);
    return;
  }
  ScalarTensorTensor::Args a;
  a.dst = dst;
  a.data = data;
  a.op0 = first.op;
  a.operand0 = operand(first.operand);
  a.reverse0 = first.reverse;
  a.op1 = op;
  a.operand1 = other;
  a.reverse1 = reverse;
  t.emit<ScalarTensorTensor>(Engine::vector, a);
}

void copy_tile(TileBuilder& t, const Access& dst, const Access& src) {
  TensorCopy::Args a;
  a.dst = dst;
  a.src = src;
  const bool psum = dst.space == Space::psum || src.space == Space::psum;
  const bool on_scalar = t.spec().generation >= Generation::trn2;
  EngineSet able{Engine::vector};
  if (on_scalar) able = EngineSet(Engine::vector, Engine::scalar);
  if (!psum) able.bits |= EngineSet(Engine::gpsimd).bits;
  t.emit<TensorCopy>(t.least_loaded(able), a);
}

void fill_tile(TileBuilder& t, const Access& dst, double value) {
  Memset::Args a;
  a.dst = dst;
  a.value = value;
  t.emit<Memset>(t.least_loaded(EngineSet(Engine::vector, Engine::gpsimd)), a);
}

void cast_tile(TileBuilder& t, const Access& dst, const Access& src) {
  if (dst.dtype == Dtype::boolean && src.dtype != Dtype::boolean) {
    scalar_steps(t, dst, src, {AluOp::not_equal, {}, false});
    return;
  }
  if (is_float(src.dtype) && !is_float(dst.dtype)) {
    Access whole = dst;
    if (size_of(dst.dtype) < 4) {  // a conversion saturates; wrapping takes 32 bits between
      const int64_t free[] = {dst.free_elements()};
      whole = t.sbuf(dst.partitions(), Dtype::int32, free);
    }
    Activate::Args a;
    a.dst = whole;
    a.op = Activation::trunc;
    a.data = src;
    t.emit<Activate>(Engine::scalar, a);
    if (whole.buffer == dst.buffer) return;
    copy_tile(t, dst, whole);
    return;
  }
  copy_tile(t, dst, src);
}

}  // namespace trn::compiler
