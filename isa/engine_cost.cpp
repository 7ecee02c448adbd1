#include "isa/engine_cost.h"

namespace trn::engine_cost {

namespace {

// Innermost free dim of more than one element; {1, 1} if there is none.
Dim innermost(const Access& a) {
  for (int i = a.ndim - 1; i >= (a.on_chip() ? 1 : 0); --i)
    if (a.dims[i].count > 1) return a.dims[i];
  return {1, 1};
}

bool has_broadcast(const Access& a) {
  for (int i = 1; i < a.ndim; ++i)
    if (a.dims[i].step == 0 && a.dims[i].count > 1) return true;
  return false;
}

// Dtypes of the faster modes: two bytes (trainium2_arch), and float8 from NeuronCore-v4 on (trainium3_arch).
bool is_half(const Access& a, const Spec& s) {
  if (a.dtype == Dtype::bfloat16 || a.dtype == Dtype::float16) return true;
  return s.generation >= Generation::trn3 && is_float(a.dtype) && size_of(a.dtype) == 1;
}
bool in_sbuf(const Access& a) { return a.space == Space::sbuf; }
bool is_subword_strided(const Access& dst) { return size_of(dst.dtype) < 4 && !is_unit_stride(dst); }

// Consecutive elements from the innermost dim outwards.
int64_t run_elements(const Access& a) {
  int64_t run = 1;
  for (int i = a.ndim - 1; i >= (a.on_chip() ? 1 : 0); --i) {
    if (a.dims[i].count == 1) continue;
    if (a.dims[i].step != run) break;
    run *= a.dims[i].count;
  }
  return run;
}

// Dims of the walk that the descriptor generator makes.
int walk_dims(const Access& a) {
  int n = 0;
  int64_t next = 0;
  for (int i = a.ndim - 1; i >= 0; --i) {
    if (a.dims[i].count == 1) continue;
    if (n == 0 || a.dims[i].step != next) ++n;
    next = static_cast<int64_t>(a.dims[i].step) * a.dims[i].count;
  }
  return std::max(n, 1);
}

}  // namespace

bool is_unit_stride(const Access& a) { return innermost(a).step == 1; }

double vector_cycles(const Access& dst, const Access& src, const Spec& s) {
  const auto n = static_cast<double>(dst.free_elements());
  if (is_subword_strided(dst)) return n * s.vector_subword_cycles_per_element;
  if (!is_unit_stride(dst) || has_broadcast(src)) return n;
  const bool sbuf = in_sbuf(dst) && in_sbuf(src);
  if (is_half(dst, s) && is_half(src, s)) {
    if (sbuf && is_unit_stride(src)) return n / s.vector_rate_16bit;
    if (sbuf || is_unit_stride(src)) return n / s.vector_rate_16bit_half;
  }
  return sbuf ? n / s.vector_rate_sbuf : n;
}

double vector_cycles(const Access& dst, const Access& data1, const Access& data2, const Spec& s) {
  const auto n = static_cast<double>(dst.free_elements());
  if (is_subword_strided(dst)) return n * s.vector_subword_cycles_per_element;
  const bool sbuf = in_sbuf(data1) && in_sbuf(data2), half = is_half(dst, s) && is_half(data1, s) && is_half(data2, s);
  const bool plain = !has_broadcast(data1) && !has_broadcast(data2);
  return sbuf && half && plain ? n / s.vector_rate_16bit_half : n * s.vector_two_input_cycles_per_element;
}

Cost vector(double cycles, double latency_ns, double overhead_ns, double fresh_ns, const Spec& s) {
  Cost c;
  c.busy = c.interval = std::max<double>(s.vector_min_cycles, cycles + overhead_ns * s.vector_ghz);
  c.latency = std::max(c.busy, cycles + latency_ns * s.vector_ghz);
  c.fresh = std::min(fresh_ns * s.vector_ghz, c.latency - c.busy);
  return c;
}

Cost vector(double cycles, double latency_ns, double overhead_ns, const Spec& s) {
  return vector(cycles, latency_ns, overhead_ns, s.vector_fresh_ns, s);
}

Cost copy_on_vector(const Access& dst, const Access& src, const Spec& s) {
  const bool psum = src.space == Space::psum, strided = !is_unit_stride(dst);
  if (psum && is_subword_strided(dst))
    return vector(static_cast<double>(dst.free_elements()) * s.vector_subword_psum_cycles_per_element,
                  s.vector_copy_latency_ns, s.vector_copy_overhead_ns, s);
  const double more = psum && strided ? s.vector_psum_strided_latency_ns : 0.0;
  const double overhead = psum ? s.vector_copy_overhead_ns : s.vector_copy_sbuf_overhead_ns;
  return vector(vector_cycles(dst, src, s), s.vector_copy_latency_ns + more, overhead + more, s);
}

namespace {
// `rate`: elements per cycle.
Cost scalar(const Access& dst, const Access& src, double latency_ns, double overhead_ns, double fresh_ns, const Spec& s,
            double rate = 1) {
  const auto n = static_cast<double>(dst.free_elements()) / rate;
  const double cycles = is_subword_strided(dst) ? n * s.scalar_subword_cycles_per_element : n;
  const double more = is_unit_stride(dst) || is_subword_strided(dst) ? 0.0 : s.scalar_strided_latency_ns;
  Cost c;
  c.busy = cycles + (overhead_ns + more) * s.scalar_ghz;
  c.latency = std::max(c.busy, cycles + (latency_ns + more) * s.scalar_ghz);
  c.fresh = std::min(fresh_ns * s.scalar_ghz, c.latency - c.busy);
  c.interval = c.busy + (src.space == Space::psum ? s.scalar_psum_interval_ns * s.scalar_ghz : 0.0);
  return c;
}
}  // namespace

// SBUF gives half its rate to steps of more than 16 bytes (trainium_inferentia2_arch).
Cost copy_on_scalar(const Access& dst, const Access& src, const Spec& s) {
  const bool half = is_half(dst, s) && is_half(src, s) && is_unit_stride(dst);
  const bool wide_steps = in_sbuf(src) && std::abs(innermost(src).step) * size_of(src.dtype) > 16;
  const double rate = wide_steps ? 1 / s.scalar_strided_read_cycles_per_element
                      : half     ? double{s.scalar_rate_16bit}
                                 : 1;
  const double more = in_sbuf(src) ? s.scalar_sbuf_latency_ns : 0.0;
  return scalar(dst, src, s.scalar_copy_latency_ns + more, s.scalar_copy_overhead_ns + more, s.scalar_copy_fresh_ns, s,
                rate);
}

Cost activation(const Access& dst, const Access& data, Activation fn, bool reads_sums, const Spec& s) {
  const bool psum = data.space == Space::psum;
  Cost c = scalar(dst, data, psum ? s.scalar_activate_psum_latency_ns : s.scalar_activate_sbuf_latency_ns,
                  psum ? s.scalar_activate_psum_overhead_ns : s.scalar_activate_sbuf_overhead_ns,
                  s.scalar_activate_fresh_ns, s);
  c.table = info(fn).table;
  c.table_load = c.table != 0;
  if (reads_sums) {
    const double more = s.scalar_copy_overhead_ns * s.scalar_ghz;
    c.busy += more;
    c.latency += more;
    c.interval += more;
  }
  return c;
}

Cost gpsimd(double elements, const Spec& s) {
  Cost c;
  c.busy = c.latency = c.interval = s.gpsimd_start_cycles + elements * s.gpsimd_cycles_per_element;
  return c;
}

Transfer transfer(const Access& dst, const Access& src, bool software) {
  Transfer t;
  const int64_t elements = dst.elements(), wide = std::max(size_of(dst.dtype), size_of(src.dtype));
  const int64_t run = std::min(run_elements(dst), run_elements(src));
  const Access& chip = dst.on_chip() ? dst : src;
  const bool from_hbm = src.space == Space::hbm, to_hbm = dst.space == Space::hbm;
  t.rows = chip.on_chip() ? chip.partitions() : std::max<int64_t>(1, elements / run);
  t.chunks = std::max<int64_t>(1, (elements / t.rows + run - 1) / run);
  t.chunk_bytes = run * wide;
  t.reads_hbm = from_hbm;
  t.writes_hbm = to_hbm;
  t.software = software;
  t.cast = dst.dtype != src.dtype;
  t.pattern_dims = walk_dims(from_hbm || !to_hbm ? src : dst);
  if (from_hbm != to_hbm)
    t.neighbours = std::max<int64_t>(1, run_elements(from_hbm ? src : dst) / std::max<int64_t>(1, run));
  return t;
}

Cost dma(const Transfer& t) {
  Cost c;
  c.transfer = t;
  return c;
}

}  // namespace trn::engine_cost
