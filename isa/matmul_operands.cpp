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

Verdict rules::matmul_dtypes(Dtype stationary, Dtype moving, const Spec& s) {
  const auto ocp = Dtype::float8_e4m3fn;
  for (const auto& [field, d] : {std::pair{"stationary", stationary}, {"moving", moving}}) {
    if (!is_float(d) || size_of(d) > 4 || d == Dtype::float8_e8m0fnu)
      return breaks(RuleKind::dtype, field, " dtype ", name(d),
                    " is none of float8, bfloat16, float16, tfloat32, float32");
    if (d == ocp && s.generation < Generation::trn3)
      return breaks(RuleKind::dtype, field, " dtype float8_e4m3fn needs trn3 (NeuronCore-v4); this machine is ",
                    s.name);
  }
  const auto legacy = Dtype::float8_e4m3;
  if ((stationary == ocp && moving == legacy) || (stationary == legacy && moving == ocp))
    return breaks(RuleKind::dtype, "float8_e4m3 and float8_e4m3fn cannot be mixed in one matmul");
  return {};
}

Verdict rules::transposed_dtype(Dtype dst, Dtype data) {
  const bool in_slots = size_of(data) == 1 && is_float(data) && dst == Dtype::uint16;
  if (dst == data || in_slots) return {};
  return breaks(RuleKind::dtype, "dst must be ", name(data), " in transpose mode, as the data is, not ", name(dst));
}

Verdict rules::double_row(const Access& stationary, const Access& moving, const Spec& s) {
  if (s.generation < Generation::trn2)
    return illegal("double_row needs trn2 (NeuronCore-v3); this machine is ", s.name);
  for (const auto& [field, a] : {std::pair{"stationary", &stationary}, {"moving", &moving}}) {
    const Dtype d = a->dtype;
    if (d != Dtype::float8_e4m3 && d != Dtype::float8_e5m2 && d != Dtype::float8_e4m3fn)
      return breaks(RuleKind::dtype, "double_row takes float8_e4m3 or float8_e5m2 (trn3: float8_e4m3fn), but ", field,
                    " is ", name(d));
    if (a->ndim < 2 || a->dims[1].count != 2)
      return breaks(RuleKind::shape, field, "'s first free dim must be 2 with double_row, not ",
                    a->ndim < 2 ? 1 : a->dims[1].count);
  }
  return {};
}

Verdict rules::array_tile(const RowColumn& position, const RowColumn& size, int64_t k, int64_t m, const Spec& s) {
  const int array[] = {static_cast<int>(s.pe_rows), static_cast<int>(s.pe_columns)};
  const int least = s.generation < Generation::trn2 ? 64 : 32;
  for (size_t i : {0, 1}) {
    if (size[i] < least || size[i] > array[i] || (size[i] & (size[i] - 1)) != 0)
      return breaks(RuleKind::shape, "tile_size (", size[0], ", ", size[1], ") must hold powers of two from ", least,
                    " to ", array[i]);
    if (position[i] < 0 || position[i] % size[i] != 0)
      return breaks(RuleKind::shape, "tile_position (", position[0], ", ", position[1],
                    ") is not a multiple of tile_size (", size[0], ", ", size[1], ")");
    if (position[i] > array[i] - size[i])
      return breaks(RuleKind::shape, "tile_position (", position[0], ", ", position[1], ") leaves the array of ",
                    array[0], " x ", array[1]);
  }
  if (k > size[0])
    return breaks(RuleKind::shape, "stationary has ", k, " partitions, more than ", size[0], " rows of the array");
  if (m > size[1])
    return breaks(RuleKind::shape, "stationary has ", m, " columns, more than ", size[1], " of the array");
  return {};
}

Access row_of_pair(Access a, int i) {
  a.offset += int64_t{i} * a.dims[1].step * size_of(a.dtype);
  for (int d = 2; d < a.ndim; ++d) a.dims[static_cast<size_t>(d) - 1] = a.dims[static_cast<size_t>(d)];
  --a.ndim;
  return a;
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
  const bool in_place = d.dtype == Dtype::float32 && (d.ndim == 1 || (d.ndim == 2 && d.dims[1].step == 1));
  if (in_place)
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
  if (size_of(dst.dtype) == size_of(data.dtype))
    return copy_nest(n, size_of(data.dtype), address(dst, m), address(data, m));
  convert_nest(n, dst.dtype, address(dst, m), Dtype::uint8, address(data, m));  // float8's bits into 16-bit slots
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
