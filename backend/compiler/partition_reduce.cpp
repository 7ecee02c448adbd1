#include "backend/compiler/partition_reduce.h"

#include <algorithm>

#include "backend/compiler/pointwise.h"

namespace trn::compiler {
namespace {

constexpr int kAll = 128;
constexpr int64_t kBank = 512;

void sum(TileBuilder& t, const Access& data, const Access& result) {
  const Tile ones = t.sbuf(data.partitions(), Dtype::float32, {kAll});
  fill_tile(t, ones, 1);
  for (int64_t at = 0; at < data.free_elements(); at += kBank) {
    const int64_t n = std::min(kBank, data.free_elements() - at);
    const Tile bank = t.psum(kAll, Dtype::float32, {n});
    NcMatmul::Args a;
    a.dst = bank;
    a.stationary = ones;
    a.moving = slice(data, 1, at, n);
    a.is_stationary_onezero = true;
    t.emit<NcMatmul>(Engine::tensor, a);
    copy_tile(t, slice(result, 1, at, n), bank);
  }
}

Tile turned(TileBuilder& t, const Access& data) {
  const Tile out = t.psum(static_cast<int>(data.free_elements()), Dtype::float32, {data.partitions()});
  NcTranspose::Args a;
  a.dst = out;
  a.data = reinterpreted(data, Dtype::float32);
  t.emit<NcTranspose>(Engine::tensor, a);
  return out;
}

}  // namespace

Access across_partitions(TileBuilder& t, AluOp op, const Access& data) {
  const Tile result = t.sbuf(kAll, data.dtype, {data.free_elements()});
  if (op == AluOp::add && data.dtype == Dtype::float32) {
    sum(t, data, result);
    return result;
  }
  for (int64_t at = 0; at < data.free_elements(); at += kAll) {
    const int64_t n = std::min<int64_t>(kAll, data.free_elements() - at);
    const Tile columns = turned(t, slice(data, 1, at, n));
    const Tile reduced = t.sbuf(static_cast<int>(n), data.dtype, {1});
    TensorReduce::Args a;
    a.dst = reduced;
    a.op = op;
    a.data = reinterpreted(columns, data.dtype);
    t.emit<TensorReduce>(Engine::vector, a);
    const Tile wide = t.sbuf(static_cast<int>(n), data.dtype, {kAll});
    Access spread = reduced;
    spread.dims[1] = {0, kAll};
    copy_tile(t, wide, spread);
    const Tile rows = turned(t, wide);
    copy_tile(t, slice(result, 1, at, n), reinterpreted(rows, data.dtype));
  }
  return result;
}

}  // namespace trn::compiler
