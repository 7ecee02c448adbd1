#include "backend/compiler/dma_pieces.h"

#include <algorithm>

namespace trn::compiler {
namespace {

constexpr int64_t kMostRuns = 64;

// Takes `rows` rows off the front of `dims`; their regular stride in elements, or -1.
int64_t take_rows(std::vector<Dim>& dims, int64_t rows) {
  std::vector<Dim> taken;
  size_t i = 0;
  while (rows > 1 && i < dims.size()) {
    Dim& d = dims[i];
    if (d.count <= rows) {
      if (rows % d.count) return -1;
      taken.push_back(d);
      rows /= d.count;
      ++i;
    } else {
      if (d.count % rows) return -1;
      const auto inner = static_cast<int32_t>(d.count / rows);
      taken.push_back({d.step * inner, static_cast<int32_t>(rows)});
      d.count = inner;
      rows = 1;
    }
  }
  if (rows > 1) return -1;
  dims.erase(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(i));
  for (size_t k = 1; k < taken.size(); ++k)
    if (taken[k - 1].step != taken[k].step * taken[k].count) return -1;
  return taken.empty() ? 0 : taken.back().step;
}

// Takes the contiguous elements off the end of `dims`.
int64_t take_run(std::vector<Dim>& dims) {
  int64_t run = 1;
  while (!dims.empty() && dims.back().step == run) {
    run *= dims.back().count;
    dims.pop_back();
  }
  return run;
}

}  // namespace

std::vector<DmaPiece> pieces_of(uint32_t instruction, const Access& tile, const Access& hbm) {
  if (tile.space != Space::sbuf || hbm.space != Space::hbm || tile.dtype != hbm.dtype || !is_contiguous(tile) ||
      tile.elements() != hbm.elements() || (tile.dims[0].step != 1 && tile.partitions() > 1))
    return {};
  std::vector<Dim> dims;
  for (int i = 0; i < hbm.ndim; ++i)
    if (hbm.dims[i].is_dynamic() || hbm.dims[i].step < 0)
      return {};
    else if (hbm.dims[i].count > 1)
      dims.push_back(hbm.dims[i]);
  const int64_t size = size_of(tile.dtype), stride = take_rows(dims, tile.partitions());
  if (stride < 0 || (stride == 0 && tile.partitions() > 1)) return {};
  const int64_t run = take_run(dims);
  int64_t runs = 1;
  for (const Dim& d : dims) runs *= d.count;
  if (runs > kMostRuns || runs * run != tile.free_elements()) return {};
  std::vector<DmaPiece> pieces;
  for (int64_t r = 0; r < runs; ++r) {
    int64_t offset = 0, rest = r;
    for (size_t i = dims.size(); i-- > 0; rest /= dims[i].count) offset += rest % dims[i].count * dims[i].step;
    pieces.push_back({instruction, tile.buffer, tile.partition, tile.partitions(), tile.offset + r * run * size,
                      run * size, hbm.offset + offset * size, stride * size});
  }
  return pieces;
}

bool may_meet(const DmaPiece& a, const DmaPiece& b) {
  const int64_t a_end = a.base + (a.rows - 1) * a.stride + a.bytes, b_end = b.base + (b.rows - 1) * b.stride + b.bytes;
  if (a_end <= b.base || b_end <= a.base) return false;
  const bool alike = a.stride == b.stride && a.stride >= std::max(a.bytes, b.bytes);
  if (!alike) return true;
  // Row j of b begins `shift` bytes behind row j + rows of a.
  const int64_t distance = b.base - a.base;
  const int64_t shift = ((distance % a.stride) + a.stride) % a.stride;
  return shift < a.bytes || shift + b.bytes > a.stride;
}

}  // namespace trn::compiler
