#include "traces/replay/opcodes.h"

#include <array>
#include <charconv>

#include "isa/bn_aggr.h"
#include "isa/by_engine.h"
#include "isa/control.h"
#include "isa/engine_cost.h"
#include "isa/reciprocal.h"
#include "isa/tensor_copy.h"
#include "isa/tensor_reduce.h"
#include "isa/tensor_scalar.h"
#include "isa/tensor_tensor.h"
#include "isa/tensor_tensor_scan.h"

namespace trn::replay {
namespace {

struct Decoded {
  Engine engine;
  const Operands& o;
  const Spec& s;
  Access dst, src, src1;  // not present where the profile has none
};

int64_t partitions_of(const Operands& o) {
  if (const int64_t channels = o.number("channels", 0); channels > 0) return std::min<int64_t>(channels, 128);
  for (const std::string_view word : o.words) {  // "128*64": rows and columns of the array
    int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error == std::errc{} && end != word.data() + word.size() && *end == '*' && n > 0)
      return std::min<int64_t>(n, 128);
  }
  return 128;
}

Access first_of(const Operands& o, std::initializer_list<std::string_view> keys, int64_t partitions) {
  for (const std::string_view key : keys)
    if (const std::string_view text = o.field(key); !text.empty())
      if (const auto access = parse_access(text, partitions)) return *access;
  return {};
}

Decoded decode(Engine engine, const Operands& o, const Spec& s) {
  const int64_t partitions = partitions_of(o);
  Decoded d{engine,
            o,
            s,
            first_of(o, {"dst", "out", "dst0"}, partitions),
            first_of(o, {"src", "src0", "in", "in0", "data"}, partitions),
            first_of(o, {"src1", "in1", "data1", "src2"}, partitions)};
  if (!d.dst.present()) d.dst = d.src;
  if (!d.src.present()) d.src = d.dst;
  return d;
}

double elements(const Access& a) { return static_cast<double>(a.free_elements()); }
bool wide(const Access& a) { return size_of(a.dtype) == 4; }
bool is_transpose(const Operands& o) { return o.field("transpose_mode") == "ENABLED"; }

// Weights: narrow dtypes load four columns a cycle where the columns are neighbours; fp32 takes two cycles a column,
// one in transpose mode; strided columns lose the fast path (trn2.md section 10).
Cost weights(const Decoded& d) {
  const bool neighbours = d.src.ndim < 2 || std::abs(d.src.dims[d.src.ndim - 1].step) == 1;
  double cycles = elements(d.src);
  if (!wide(d.src))
    cycles *= neighbours ? d.s.ldweights_cycles_per_column : d.s.ldweights_strided_cycles_per_column;
  else
    cycles *= (neighbours ? d.s.ldweights_fp32_cycles_per_column : d.s.ldweights_fp32_strided_cycles_per_column) /
              (is_transpose(d.o) ? 2 : 1);
  Cost c;
  c.preload = std::max(cycles, 1.0);
  return c;
}

// fp32 is a pair of MATMULs (fp32_mode), each half of the passes.
Cost matmul(const Decoded& d) {
  double passes = 1;
  if (wide(d.src) && d.src.dtype != Dtype::tfloat32)
    passes = d.o.field("fp32_mode").empty() ? d.s.pe_fp32_passes : d.s.pe_fp32_passes / 2;
  Cost c;
  c.busy = std::max<double>(elements(d.src) * passes, d.s.pe_min_cycles) + d.s.pe_fixed_cycles;
  c.latency = c.busy + d.s.pe_latency_ns * d.s.tensor_ghz;
  return c;
}

Cost table_load(const Decoded& d) {
  Cost c;
  c.busy = c.latency = c.interval = d.s.scalar_table_load_ns * d.s.scalar_ghz;
  return c;
}

// Tables are loaded by instructions of their own in a profile.
Cost activate(const Decoded& d) {
  const std::string_view accumulator = d.o.field("accumulator_cmd");
  Cost c = engine_cost::activation(d.dst, d.src, Activation::copy, !accumulator.empty() && accumulator != "IDLE", d.s);
  c.table_load = false;
  return c;
}

Cost copy(const Decoded& d) {
  TensorCopy::Args a;
  a.dst = d.dst;
  a.src = d.src;
  return TensorCopy::cost(a, d.engine, d.s);
}

// A card of one tile: dst and data.
template <class C>
Cost of_one_tile(const Decoded& d) {
  typename C::Args a;
  a.dst = d.dst;
  a.data = d.src;
  return C::cost(a, d.engine, d.s);
}

Cost reduce(const Decoded& d) {
  if (d.engine == Engine::gpsimd) return engine_cost::gpsimd(elements(d.src), d.s);
  return of_one_tile<TensorReduce>(d);
}

Cost tensor_tensor(const Decoded& d) {
  if (d.engine == Engine::scalar) return engine_cost::activation(d.dst, d.src, Activation::copy, false, d.s);
  TensorTensor::Args a;
  a.dst = d.dst;
  a.data1 = d.src;
  a.data2 = d.src1.present() ? d.src1 : d.src;
  return TensorTensor::cost(a, d.engine, d.s);
}

Cost scan(const Decoded& d) {
  TensorTensorScan::Args a;
  a.dst = d.dst;
  return TensorTensorScan::cost(a, d.engine, d.s);
}

Cost bn_aggr(const Decoded& d) {
  BnAggr::Args a;
  a.data = d.src;
  return BnAggr::cost(a, d.engine, d.s);
}

// One pass over the source at the two-input rate: selections, comparisons with an index.
Cost select(const Decoded& d) {
  if (d.engine == Engine::gpsimd) return engine_cost::gpsimd(elements(d.dst), d.s);
  if (d.engine == Engine::scalar) return activate(d);
  return engine_cost::vector(std::max(elements(d.dst), elements(d.src)), d.s.vector_tensor_latency_ns,
                             d.s.vector_tensor_overhead_ns, d.s);
}

Cost on_gpsimd(const Decoded& d) {
  return d.engine == Engine::gpsimd ? engine_cost::gpsimd(elements(d.dst), d.s) : copy(d);
}

// The sequencer is free for the next instruction of its own after a gap.
Cost event(const Decoded& d) {
  const Spec& s = d.s;
  const std::array<double, kEngines> all{s.event_semaphore_tensor_ns, s.event_semaphore_vector_ns,
                                         s.event_semaphore_scalar_ns, s.event_semaphore_gpsimd_ns,
                                         s.event_semaphore_sync_ns};
  const double ns = all[static_cast<size_t>(d.engine)];
  Cost c = control::cost(ns, d.engine, s);
  c.busy = control::cost(ns + by_engine::sequencer_gap_ns(d.engine, s), d.engine, s).busy;
  return c;
}

Cost doorbell(const Decoded& d) { return control::cost(by_engine::doorbell_ns(d.engine, d.s), d.engine, d.s); }

Cost register_load(const Decoded& d) { return control::cost(d.s.register_load_ns, d.engine, d.s); }
Cost register_store(const Decoded& d) { return control::cost(d.s.register_store_ns, d.engine, d.s); }
Cost register_op(const Decoded& d) { return control::cost(d.s.register_op_ns, d.engine, d.s); }
Cost branch(const Decoded& d) { return control::branch(d.engine, d.s); }

struct Row {
  std::string_view opcode;
  Unit unit;
  Cost (*cost)(const Decoded&);
};

// The longest name that an opcode begins with counts: TENSOR_SCALAR_PTR is a TENSOR_SCALAR.
constexpr Row kRows[] = {
    {"MATMUL", Unit::pipeline, matmul},
    {"LDWEIGHTS", Unit::pipeline, weights},
    {"ACTIVATE", Unit::pipeline, activate},
    {"ACT_TABLE_LOAD", Unit::pipeline, table_load},
    {"COPY", Unit::pipeline, copy},
    {"CAST", Unit::pipeline, copy},
    {"TENSOR_COPY", Unit::pipeline, copy},
    {"MEMSET", Unit::pipeline, copy},
    {"TRANSPOSE", Unit::pipeline, copy},
    {"SHUFFLE", Unit::pipeline, copy},
    {"STREAM_SHUFFLE", Unit::pipeline, copy},
    {"TENSOR_REDUCE", Unit::pipeline, reduce},
    {"POOL", Unit::pipeline, reduce},
    {"BN_STATS", Unit::pipeline, reduce},
    {"BN_AGGR", Unit::pipeline, bn_aggr},
    {"MAX", Unit::pipeline, reduce},
    {"FIND_INDEX", Unit::pipeline, reduce},
    {"MATCH_REPLACE", Unit::pipeline, reduce},
    {"TENSOR_SCALAR", Unit::pipeline, of_one_tile<TensorScalar>},
    {"TENSOR_TENSOR", Unit::pipeline, tensor_tensor},
    {"SCALAR_TENSOR_TENSOR", Unit::pipeline, tensor_tensor},
    {"TENSOR_SCALAR_TENSOR", Unit::pipeline, tensor_tensor},
    {"TENSOR_TENSOR_SCAN", Unit::pipeline, scan},
    {"RECIPROCAL", Unit::pipeline, of_one_tile<Reciprocal>},
    {"SELECT", Unit::pipeline, select},
    {"COPY_PREDICATED", Unit::pipeline, select},
    {"RANGE_SELECT", Unit::pipeline, select},
    {"AFFINE_SELECT", Unit::pipeline, on_gpsimd},
    {"IOTA", Unit::pipeline, on_gpsimd},
    {"GATHER", Unit::pipeline, on_gpsimd},
    {"LOCAL_GATHER", Unit::pipeline, on_gpsimd},
    {"PARTITION", Unit::pipeline, on_gpsimd},
    {"EVENT_SEMAPHORE", Unit::sequencer, event},
    {"NOP", Unit::sequencer, event},
    {"NOTIFY", Unit::sequencer, event},
    {"DRAIN", Unit::sequencer, event},
    {"SET_ORDERING_MODE", Unit::sequencer, event},
    {"MOVE", Unit::sequencer, register_op},
    {"ALU", Unit::sequencer, register_op},
    {"REGISTER", Unit::sequencer, register_op},
    {"WRITE", Unit::sequencer, doorbell},
    {"TENSOR_LOAD", Unit::sequencer, register_load},
    {"TENSOR_STORE", Unit::sequencer, register_store},
    {"COMPARE_BRANCH", Unit::sequencer, branch},
    {"BRANCH", Unit::sequencer, branch},
    {"JUMP", Unit::sequencer, branch},
};

}  // namespace

OpcodeCost cost_of(std::string_view opcode, Engine engine, const Operands& o, const Spec& s) {
  const Row* best = nullptr;
  for (const Row& row : kRows)
    if (opcode.starts_with(row.opcode) && (!best || row.opcode.size() > best->opcode.size())) best = &row;
  const Decoded d = decode(engine, o, s);
  const bool has_operands = d.dst.present();
  if (best && (best->unit == Unit::sequencer || has_operands || best->cost == &table_load))
    return {best->cost(d), best->unit, Known::card};
  if (!has_operands || engine == Engine::sync) return {event(d), Unit::sequencer, Known::unmodelled};
  if (engine == Engine::tensor) return {matmul(d), Unit::pipeline, Known::unmodelled};
  return {select(d), Unit::pipeline, Known::unmodelled};
}

}  // namespace trn::replay
