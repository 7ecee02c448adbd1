#pragma once
#include "isa/card.h"
#include "isa/operands.h"

// Operands for the cards' examples.
namespace trn::example {

inline Access on_chip(Space space, int partitions, int columns, Dtype d, int64_t offset) {
  Access a;
  a.space = space;
  a.dtype = d;
  a.ndim = 2;
  a.offset = offset;
  a.dims[0] = {1, partitions};
  a.dims[1] = {1, columns};
  return a;
}
inline Access sbuf(int partitions, int columns, Dtype d = Dtype::float32, int64_t offset = 0) {
  return on_chip(Space::sbuf, partitions, columns, d, offset);
}
inline Access psum(int partitions, int columns, Dtype d = Dtype::float32, int64_t offset = 0) {
  return on_chip(Space::psum, partitions, columns, d, offset);
}
// Contiguous [rows, columns] of HBM slot `slot`.
inline Access hbm(int rows, int columns, Dtype d = Dtype::float32, uint32_t slot = 0) {
  Access a = on_chip(Space::hbm, rows, columns, d, 0);
  a.buffer = slot;
  a.dims[0].step = columns;
  return a;
}
inline Access at_partition(Access a, int partition) {
  a.partition = static_cast<uint8_t>(partition);
  return a;
}
// The first partition of `a`, read by `partitions`.
inline Access broadcast(Access a, int partitions) {
  a.dims[0] = {0, partitions};
  return a;
}
// Every row `times` over.
inline Access repeated(Access a, int times) {
  for (int i = a.ndim; i > 1; --i) a.dims[i] = a.dims[i - 1];
  a.dims[1] = {0, times};
  ++a.ndim;
  return a;
}
inline Pattern pattern(std::initializer_list<Dim> dims) {
  Pattern p{};
  std::copy(dims.begin(), dims.end(), p.end() - dims.size());
  return p;
}
inline Operand number(double v) { return {{}, v}; }

}  // namespace trn::example
