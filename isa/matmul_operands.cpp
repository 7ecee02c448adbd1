#include "isa/matmul_operands.h"

#include <vector>

#include "isa/matmul_kernel.h"
#include "isa/rows.h"
#include "isa/strided_copy.h"

namespace trn {

namespace {

// An operand as rows of regular steps; other patterns are copied to `storage` as fp32 first.
MatrixView matrix(const Access& access, const CoreMemory& m, std::vector<float>& storage) {
  const Access a = simplified(access);
  if (a.ndim <= 2) {
    const ptrdiff_t column = a.ndim == 2 ? host_step(a, 1, m) : size_of(a.dtype);
    return {address(a, m), host_step(a, 0, m), column, a.dtype};
  }
  const Rows rows(a, m);
  const int64_t n = rows.elements();
  storage.resize(rows.partitions() * n);
  for (int p = 0; p < rows.partitions(); ++p) {
    const float* values = rows.floats(p, 0, n, storage.data() + p * n);
    if (values != storage.data() + p * n) std::copy_n(values, n, storage.data() + p * n);
  }
  return {reinterpret_cast<const std::byte*>(storage.data()), static_cast<ptrdiff_t>(n * sizeof(float)), sizeof(float),
          Dtype::float32};
}

}  // namespace

Verdict rules::matmul_dtype(std::string_view field, Dtype d) {
  if (!is_float(d) || size_of(d) > 4)
    return illegal(field, " dtype ", name(d), " is none of float8, bfloat16, float16, tfloat32, float32");
  return {};
}

Cost matmul_cost(int64_t k, int64_t m, int64_t n, bool fp32, bool transpose, bool onezero, const Spec& s) {
  const double columns = static_cast<double>(m), streamed = static_cast<double>(n);
  Cost c;
  double rows;
  if (!fp32) {
    c.preload = columns * s.ldweights_cycles_per_column;
    rows = streamed;
  } else if (transpose) {
    c.preload = columns * s.ldweights_fp32_cycles_per_column / 2;
    rows = streamed * s.pe_fp32_transpose_passes;
  } else {
    const double pairs = onezero ? 1 : 2;
    c.preload = columns * s.ldweights_fp32_cycles_per_column;
    // The second pair's weights load behind the first pair's stream, which they may outlast.
    rows = pairs * std::max(streamed * s.pe_fp32_passes / 2, pairs > 1 ? c.preload : 0.0);
  }
  c.busy = std::max<double>(rows, s.pe_min_cycles) + s.pe_fixed_cycles;
  c.latency = c.busy + s.pe_latency_ns * s.tensor_ghz;
  c.flops = transpose ? 0 : 2.0 * static_cast<double>(k) * columns * streamed;
  return c;
}

void run_matmul(const Access& dst, const Access& stationary, const Access& moving, bool accumulate,
                const CoreMemory& m) {
  static thread_local std::vector<float> a_storage, b_storage, result;
  const MatrixView a = matrix(stationary, m, a_storage), b = matrix(moving, m, b_storage);
  const int64_t k = stationary.partitions(), rows = dst.partitions(), columns = dst.free_elements();
  const Access d = simplified(dst);
  if (d.ndim == 1 || (d.ndim == 2 && d.dims[1].step == 1))
    return matmul(k, rows, columns, a, b, reinterpret_cast<float*>(address(d, m)), host_step(d, 0, m), accumulate);

  result.resize(rows * columns);
  const ptrdiff_t row_bytes = columns * static_cast<ptrdiff_t>(sizeof(float));
  matmul(k, rows, columns, a, b, result.data(), row_bytes, false);
  static thread_local std::vector<float> row;
  row.resize(columns);
  const Rows out(d, m);
  for (int p = 0; p < rows; ++p) {
    float* sum = result.data() + p * columns;
    if (accumulate) apply_float(AluOp::add, sum, out.floats(p, 0, columns, row.data()), sum, columns);
    out.store(p, 0, columns, sum);
  }
}

void run_transpose(const Access& dst, const Access& data, const CoreMemory& m) {
  CopyNest n;
  // data's free dims walk dst's first dim, dst's free dims walk data's first dim.
  int64_t walked = 1;
  for (int i = data.ndim - 1; i >= 1; walked *= data.dims[i--].count)
    if (data.dims[i].count > 1) n.append(data.dims[i].count, walked * host_step(dst, 0, m), host_step(data, i, m));
  walked = 1;
  for (int i = dst.ndim - 1; i >= 1; walked *= dst.dims[i--].count)
    if (dst.dims[i].count > 1) n.append(dst.dims[i].count, host_step(dst, i, m), walked * host_step(data, 0, m));
  copy_nest(n, size_of(data.dtype), address(dst, m), address(data, m));
}

void run_identity_transpose(const Access& dst, const Access& data, const Access& identity, const CoreMemory& m) {
  const Rows rows(identity, m);
  std::vector<float> buffer(rows.elements());
  for (int p = 0; p < rows.partitions(); ++p) {
    const float* row = rows.floats(p, 0, rows.elements(), buffer.data());
    for (int64_t j = 0; j < rows.elements(); ++j)
      if (row[j] != (j == p ? 1.f : 0.f))
        throw Error(Fault::undefined, "nc_matmul in transpose mode: moving is not an identity", to_string(identity));
  }
  run_transpose(dst, data, m);
}

}  // namespace trn
