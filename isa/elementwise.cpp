#include "isa/elementwise.h"

#include <array>
#include <cmath>

#include "isa/rows.h"

namespace trn {

namespace {

constexpr int64_t kChunk = Rows::kChunk;

// First-level-cache buffers between memory and arithmetic; one set per thread.
struct Buffers {
  alignas(64) float a[kChunk], b[kChunk], out[kChunk];
  alignas(64) int32_t ia[kChunk], ib[kChunk], iout[kChunk];
};
Buffers& buffers() {
  static thread_local Buffers b;
  return b;
}

bool is_whole(Dtype d) { return !is_float(d); }
bool is_unsigned(Dtype d) { return d == Dtype::uint32 || d == Dtype::uint64; }
bool is_whole_number(double v) { return v == std::floor(v) && v >= -2147483648.0 && v <= 4294967295.0; }
int32_t wrapped(double v) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(v))); }

bool operand_is_whole(const Operand& o) { return o.is_tile() ? is_whole(o.tile.dtype) : is_whole_number(o.immediate); }

bool step_is_exact(const ScalarStep& s) {
  if (s.op == AluOp::bypass) return true;
  return info(s.op).on_int && (info(s.op).arity == 1 || operand_is_whole(s.operand));
}

// The operand of one ScalarStep, row by row.
class StepOperand {
 public:
  StepOperand(const ScalarStep& s, bool bits, const CoreMemory& m)
      : step_(s), float_(static_cast<float>(s.operand.immediate)) {
    if (info(s.op).arity == 2 && !s.operand.is_tile() && is_whole_number(s.operand.immediate))
      int_ = wrapped(s.operand.immediate);
    if (!s.operand.is_tile() || s.op == AluOp::bypass) return;
    tile_.emplace(s.operand.tile, m);
    if (bits) tile_->as_bits(bit_pattern(tile_->dtype()));
  }
  bool active() const { return step_.op != AluOp::bypass; }
  const Rows* rows() const { return tile_ ? &*tile_ : nullptr; }

  void apply(int p, float* dst, const float* x, size_t n) const {
    const float v = tile_ ? tile_->scalar(p) : float_;
    step_.reverse ? apply_float(step_.op, dst, v, x, n) : apply_float(step_.op, dst, x, v, n);
  }
  void apply(int p, bool uns, int32_t* dst, const int32_t* x, size_t n) const {
    const int32_t v = tile_ ? tile_->int_scalar(p) : int_;
    step_.reverse ? apply_int(step_.op, uns, dst, v, x, n) : apply_int(step_.op, uns, dst, x, v, n);
  }

 private:
  const ScalarStep& step_;
  std::optional<Rows> tile_;
  float float_;
  int32_t int_ = 0;
};

Rows rows(const Access& a, bool bits, const CoreMemory& m) {
  Rows r(a, m);
  if (bits) r.as_bits(bit_pattern(a.dtype));
  return r;
}

}  // namespace

bool is_exact_integer(AluOp op, Dtype dst, std::initializer_list<Dtype> inputs) {
  for (Dtype d : inputs)
    if (!is_whole(d)) return false;
  return info(op).on_int && (is_whole(dst) || gives_truth(op));
}

void run_cast(const Access& dst, const Access& src, const CoreMemory& m) {
  const Rows d(dst, m), s(src, m);
  if (is_whole(src.dtype) && is_whole(dst.dtype))
    return for_chunks({{&d}, {&s}},
                      [&](int p, int64_t at, int64_t n) { d.store(p, at, n, s.ints(p, at, n, buffers().ia)); });
  for_chunks({{&d}, {&s}}, [&](int p, int64_t at, int64_t n) { d.store(p, at, n, s.floats(p, at, n, buffers().a)); });
}

void run_fill(const Access& dst, double value, const CoreMemory& m) {
  const Rows d(dst, m);
  const bool whole = is_whole(dst.dtype) && is_whole_number(value);
  for_partitions({{&d}, {}}, d.partitions() * d.elements(), [&](int64_t first, int64_t last) {
    Buffers& b = buffers();
    const int64_t most = std::min(kChunk, d.elements());
    whole ? void(std::fill_n(b.ia, most, wrapped(value))) : void(std::fill_n(b.a, most, static_cast<float>(value)));
    for (auto p = static_cast<int>(first); p < last; ++p)
      for (int64_t at = 0; at < d.elements(); at += most) {
        const int64_t n = std::min(most, d.elements() - at);
        whole ? d.store(p, at, n, b.ia) : d.store(p, at, n, b.a);
      }
  });
}

void run_tensor_tensor(const Access& dst, const Access& data1, const Access& data2, AluOp op, const CoreMemory& m) {
  const bool bits = info(op).is_bitvec;
  const Rows d = rows(dst, bits, m), x = rows(data1, bits, m), y = rows(data2, bits, m);
  if (is_exact_integer(op, dst.dtype, {data1.dtype, data2.dtype})) {
    const bool uns = is_unsigned(data1.dtype) || is_unsigned(data2.dtype);
    return for_chunks({{&d}, {&x, &y}}, [&](int p, int64_t at, int64_t n) {
      Buffers& b = buffers();
      int32_t* out = d.int_target(p, at, n, b.iout);
      apply_int(op, uns, out, x.ints(p, at, n, b.ia), y.ints(p, at, n, b.ib), n);
      d.store(p, at, n, out);
    });
  }
  for_chunks({{&d}, {&x, &y}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    float* out = d.float_target(p, at, n, b.out);
    apply_float(op, out, x.floats(p, at, n, b.a), y.floats(p, at, n, b.b), n);
    d.store(p, at, n, out);
  });
}

void run_tensor_scalar(const Access& dst, const Access& data, const ScalarStep& first, const ScalarStep& second,
                       const CoreMemory& m) {
  const bool bits = info(first.op).is_bitvec || info(second.op).is_bitvec;
  const Rows d = rows(dst, bits, m), x = rows(data, bits, m);
  const StepOperand s0(first, bits, m), s1(second, bits, m);
  const AluOp last = s1.active() ? second.op : first.op;
  if (is_exact_integer(last, dst.dtype, {data.dtype}) && step_is_exact(first) && step_is_exact(second)) {
    const bool uns = is_unsigned(data.dtype);
    return for_chunks({{&d}, {&x, s0.rows(), s1.rows()}}, [&](int p, int64_t at, int64_t n) {
      Buffers& b = buffers();
      int32_t* out = d.int_target(p, at, n, b.iout);
      s0.apply(p, uns, out, x.ints(p, at, n, b.ia), n);
      if (s1.active()) s1.apply(p, uns, out, out, n);
      d.store(p, at, n, out);
    });
  }
  for_chunks({{&d}, {&x, s0.rows(), s1.rows()}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    float* out = d.float_target(p, at, n, b.out);
    s0.apply(p, out, x.floats(p, at, n, b.a), n);
    if (s1.active()) s1.apply(p, out, out, n);
    d.store(p, at, n, out);
  });
}

void run_scalar_tensor_tensor(const Access& dst, const Access& data, const ScalarStep& first, AluOp op1,
                              const Access& operand1, bool reverse1, const CoreMemory& m) {
  const bool bits = info(first.op).is_bitvec || info(op1).is_bitvec;
  const Rows d = rows(dst, bits, m), x = rows(data, bits, m), y = rows(operand1, bits, m);
  const StepOperand s0(first, bits, m);
  if (is_exact_integer(op1, dst.dtype, {data.dtype, operand1.dtype}) && step_is_exact(first)) {
    const bool uns = is_unsigned(data.dtype);
    return for_chunks({{&d}, {&x, &y, s0.rows()}}, [&](int p, int64_t at, int64_t n) {
      Buffers& b = buffers();
      const int32_t* right = y.ints(p, at, n, b.ib);
      s0.apply(p, uns, b.iout, x.ints(p, at, n, b.ia), n);
      int32_t* out = d.int_target(p, at, n, b.iout);
      reverse1 ? apply_int(op1, uns, out, right, b.iout, n) : apply_int(op1, uns, out, b.iout, right, n);
      d.store(p, at, n, out);
    });
  }
  for_chunks({{&d}, {&x, &y, s0.rows()}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    const float* right = y.floats(p, at, n, b.b);
    s0.apply(p, b.out, x.floats(p, at, n, b.a), n);
    float* out = d.float_target(p, at, n, b.out);
    reverse1 ? apply_float(op1, out, right, b.out, n) : apply_float(op1, out, b.out, right, n);
    d.store(p, at, n, out);
  });
}

void run_activation(const Access& dst, Activation fn, const Access& data, const ScalarStep& first,
                    const ScalarStep& second, const Operand& slope, const Accumulation& sums,
                    EngineState::Registers* registers, const CoreMemory& m) {
  const Rows d(dst, m), x(data, m);
  const StepOperand s0(first, false, m), s1(second, false, m);
  std::optional<Rows> slopes;
  if (fn == Activation::prelu && slope.is_tile()) slopes.emplace(slope.tile, m);
  Accumulator sum(sums, registers, data, m);
  for_chunks({{&d, sum.result()}, {&x, s0.rows(), s1.rows(), slopes ? &*slopes : nullptr}},
             [&](int p, int64_t at, int64_t n) {
               Buffers& b = buffers();
               const float* in = x.floats(p, at, n, b.a);
               float* out = d.float_target(p, at, n, b.out);
               if (s0.active()) s0.apply(p, b.b, in, n), in = b.b;
               if (s1.active()) s1.apply(p, b.b, in, n), in = b.b;
               apply_activation(fn, out, in, n, slopes ? slopes->scalar(p) : static_cast<float>(slope.immediate));
               sum.add(p, out, n, at == 0, at + n == x.elements());
               d.store(p, at, n, out);
             });
}

void run_tensor_scalar_reduce(const Access& dst, const Access& data, const ScalarStep& step, const Accumulation& sums,
                              const CoreMemory& m) {
  const Rows d(dst, m), x(data, m);
  const StepOperand operand(step, false, m);
  Accumulator sum(sums, vector_registers(m), data, m);
  for_chunks({{&d, sum.result()}, {&x, operand.rows(), sum.initial()}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    float* out = d.float_target(p, at, n, b.out);
    const float* in = x.floats(p, at, n, b.a);
    if (operand.active())
      operand.apply(p, out, in, n);
    else
      std::copy_n(in, n, out);
    sum.add(p, out, n, at == 0, at + n == d.elements());
    d.store(p, at, n, out);
  });
}

void run_cumulative(const Access& dst, const Access& src, const ScalarStep& step, const Accumulation& sums,
                    const CoreMemory& m) {
  const Rows d(dst, m), x(src, m);
  const StepOperand operand(step, false, m);
  Accumulator state(sums, vector_registers(m), src, m);
  for_chunks({{&d}, {&x, operand.rows(), state.initial()}}, [&](int p, int64_t at, int64_t n) {
    Buffers& b = buffers();
    const float* in = x.floats(p, at, n, b.a);
    if (operand.active()) operand.apply(p, b.b, in, n), in = b.b;
    float& register_ = state.begin(p, at == 0);
    scan_float({sums.op, AluOp::bypass}, b.out, in, in, register_, n);
    register_ = b.out[n - 1];
    d.store(p, at, n, b.out);
  });
}

EngineState::Registers* vector_registers(const CoreMemory& m) { return m.engines ? &m.engines->vector_sums : nullptr; }
EngineState::Registers* scalar_registers(const CoreMemory& m) { return m.engines ? &m.engines->scalar_sums : nullptr; }

}  // namespace trn
